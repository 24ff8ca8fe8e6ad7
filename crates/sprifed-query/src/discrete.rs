//! The discrete part of a request, as bytes that two parties can compare.
//!
//! Parties derive each question themselves. Before a sum is charged they compare which step it is,
//! which kinds of questions it has and which features they are about. Limits, scales and
//! coefficients are left out: they are derived floats, and no digest is ever over those.
//!
//! | part | bytes |
//! |---|---|
//! | a number | 8, least significant first |
//! | a kind | 1 |
//! | what is expected | 1 |
//! | a constant | 1: zero if absent, one if it is a one; two for sites, then the first and their number as features |
//! | a list | its length as a number, then its items |
//! | a set of features | the list of its longest runs, each its start and end as numbers |
//! | a model | the list of its features |
//!
//! Every part has a length of its own or a fixed one, so different requests have different bytes.

use core::ops::Range;

use crate::constant::Constant;
use crate::feature_set::FeatureSet;
use crate::model::ReleasedModel;
use crate::procedure::{ChoiceQuery, SumQuery};
use crate::question::{Newest, Question};
use crate::score_step::{Expectation, Link, ScoreStep};

#[cfg(test)]
mod tests;

const SUM: u8 = 1;
const CHOICE: u8 = 2;

impl SumQuery {
    /// Returns the step, the kind of each question and the features it is about, without floats.
    #[must_use]
    pub fn discrete_part(&self) -> Vec<u8> {
        let mut bytes = vec![SUM];
        write_number(&mut bytes, self.step);
        write_number(&mut bytes, self.questions.len());
        for question in &self.questions {
            write_question(&mut bytes, question);
        }
        bytes
    }
}

impl ChoiceQuery {
    /// Returns the step, the kind of the scores and the candidates, without floats.
    #[must_use]
    pub fn discrete_part(&self) -> Vec<u8> {
        let mut bytes = vec![CHOICE];
        write_number(&mut bytes, self.step);
        write_question(&mut bytes, &self.scores);
        bytes
    }
}

fn write_question(bytes: &mut Vec<u8>, question: &Question) {
    match question {
        Question::ResponseCorrelation { features, .. } => {
            bytes.push(1);
            write_set(bytes, features);
        }
        Question::FeatureCorrelation {
            feature, features, ..
        } => {
            bytes.push(2);
            write_feature(bytes, *feature);
            write_set(bytes, features);
        }
        Question::BoxedGradient {
            model, features, ..
        } => {
            bytes.push(3);
            write_model(bytes, model);
            write_set(bytes, features);
        }
        Question::RowClippedGradient {
            model, features, ..
        } => {
            bytes.push(4);
            write_model(bytes, model);
            write_set(bytes, features);
        }
        Question::ResidualScale { model, .. } => {
            bytes.push(5);
            write_model(bytes, model);
        }
        Question::ResponseMean { .. } => bytes.push(6),
        Question::SupportResponse { feature, .. } => {
            bytes.push(7);
            write_feature(bytes, *feature);
        }
        Question::SupportRow { support, .. } => {
            bytes.push(8);
            write_features(bytes, support.as_slice());
        }
        // About all features of the study, sites not counted: the agreement says how many.
        Question::RowScale { .. } => bytes.push(9),
        Question::SupportUpdate {
            support,
            newest,
            constant,
            model,
            ..
        } => {
            match newest {
                Newest::One => bytes.push(10),
                Newest::Group(count) => {
                    bytes.push(16);
                    write_feature(bytes, *count);
                }
            }
            write_features(bytes, support.as_slice());
            write_constant(bytes, *constant);
            write_model(bytes, model);
        }
        Question::SecondMoment {
            support,
            constant,
            model,
            ..
        } => {
            bytes.push(11);
            write_features(bytes, support.as_slice());
            write_constant(bytes, *constant);
            write_model(bytes, model);
        }
        Question::ResidualMoment {
            support,
            constant,
            model,
            ..
        } => {
            bytes.push(12);
            write_features(bytes, support.as_slice());
            write_constant(bytes, *constant);
            write_model(bytes, model);
        }
        Question::ColumnMeans { features, .. } => {
            bytes.push(13);
            write_set(bytes, features);
        }
        Question::ColumnSquares { features, .. } => {
            bytes.push(14);
            write_set(bytes, features);
        }
        Question::ResidualSquare { model, .. } => {
            bytes.push(16);
            write_model(bytes, model);
        }
        Question::ScoreGradient(step) => {
            bytes.push(17);
            write_score_step(bytes, step);
        }
        Question::ScoreCurvature(step) => {
            bytes.push(18);
            write_score_step(bytes, step);
        }
        Question::EventsInBins => bytes.push(19),
        Question::LeftInBins { risk } => {
            bytes.push(20);
            bytes.push(u8::from(risk.is_some()));
            if let Some(model) = risk {
                write_model(bytes, model);
            }
        }
        Question::Martingale { question, .. } => {
            bytes.push(21);
            write_question(bytes, question);
        }
        Question::Standardised { columns, question } => {
            bytes.push(15);
            write_set(bytes, columns.features());
            write_question(bytes, question);
        }
    }
}

fn write_score_step(bytes: &mut Vec<u8>, step: &ScoreStep) {
    bytes.push(match step.expects {
        Expectation::Response(Link::Logit) => 1,
        Expectation::Events(_) => 2,
    });
    write_features(bytes, step.support.as_slice());
    write_constant(bytes, step.constant);
    write_model(bytes, &step.model);
}

fn write_constant(bytes: &mut Vec<u8>, constant: Constant) {
    match constant {
        Constant::Absent => bytes.push(0),
        Constant::One => bytes.push(1),
        Constant::Sites { first, count } => {
            bytes.push(2);
            write_feature(bytes, first);
            write_feature(bytes, count);
        }
    }
}

fn write_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u64).to_le_bytes());
}

fn write_feature(bytes: &mut Vec<u8>, feature: u32) {
    bytes.extend(u64::from(feature).to_le_bytes());
}

fn write_features(bytes: &mut Vec<u8>, features: &[u32]) {
    write_number(bytes, features.len());
    for feature in features {
        write_feature(bytes, *feature);
    }
}

/// Writes the longest runs, so that equal sets have equal bytes.
fn write_set(bytes: &mut Vec<u8>, features: &FeatureSet) {
    let pieces: Vec<Range<u32>> = features.clone().into();
    let mut runs: Vec<Range<u32>> = Vec::with_capacity(pieces.len());
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        match runs.last_mut() {
            Some(last) if last.end == piece.start => last.end = piece.end,
            _ => runs.push(piece),
        }
    }
    write_number(bytes, runs.len());
    for run in runs {
        write_feature(bytes, run.start);
        write_feature(bytes, run.end);
    }
}

fn write_model(bytes: &mut Vec<u8>, model: &ReleasedModel) {
    write_features(bytes, &model.as_model().support());
}
