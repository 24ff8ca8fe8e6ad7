//! One Newton step of a generalised linear model, from one more sum: the model that predicts, and estimates with intervals.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | z | (1, x): the constant, the features of every model and the kept ones, each in units of the feature scale |
//! | k | how many variables these are |
//! | C² | 1.5 k: the squared norm to which z is clipped |
//! | θ | the start |
//! | g, H | noisy sums of the score and of its curvature at θ |
//! | σ, τ | the standard deviations of the noise on g and on the diagonal of H |
//!
//! # Why
//! docs/proofs/score_step.md. The plain step θ + H⁻¹g is what intervals are about. The model that predicts takes a shrunk
//! step: where the noise outweighs what is known, a plain one would predict noise.

use sprifed_query::{
    Answer, Constant, Expectation, FeatureList, Limit, LinearModel, Link, Question, ScoreStep,
};

use super::newton::{Most, Step, at_most_long, clip_norm};
use crate::conclusion::two_sided;
use crate::fit::{Fit, FitStatus};
use crate::inference::{
    Inference, Inferred, Interval, NoInterval, ReportedIntercept, ReportedTerm, Role, ScoreNoise,
};
use crate::outcome::binary;
use crate::selection::wald;
use crate::square_matrix::SquareMatrix;

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// The longest step of a model that predicts.
const LONGEST_STEP: f64 = 4.0;

/// A model whose start explains so much of the variance of the response almost separates its values. The score is then far
/// from linear, and intervals from one step are too short.
const ALMOST_SEPARATED: f64 = 0.5;

/// A model at which a score is asked, in units of scaled features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Start {
    pub(crate) intercept: f64,
    pub(crate) coefficients: Vec<f64>,
    /// The share of the response's variance that it explains; not within zero and one where noise decides.
    pub(crate) explained: f64,
}

/// What follows from the last second moments.
#[derive(Clone, Debug)]
pub(crate) enum Ended {
    /// The fit.
    Fit(Box<Fit>),
    /// One more question.
    Refit(Box<Refit>),
}

impl Start {
    /// The start for this link; `slopes` say what one unit of each feature adds to the expected response.
    pub(crate) fn of(
        link: Link,
        mean: f64,
        slopes: &[f64],
        means: &[f64],
        covariance: &SquareMatrix,
    ) -> Self {
        match link {
            Link::Logit => binary::start(mean, slopes, means, covariance),
        }
    }
}

/// A refit that is waiting for its answer.
#[derive(Clone, Debug)]
pub(crate) struct Refit {
    pub(crate) link: Link,
    /// The private share of ones, or mean of another outcome.
    pub(crate) mean: f64,
    /// The features of every model, then the kept ones.
    pub(crate) features: Vec<u32>,
    pub(crate) start: Start,
    pub(crate) feature_scale: f64,
    /// Whether there are enough records for intervals of what was not selected.
    pub(crate) has_records: bool,
    /// What the second moments say: p-values, levels and the status. Its estimates are those of a linear model.
    pub(crate) linear: Fit,
}

impl Refit {
    /// The questions, in the order of [`blocks`].
    pub(crate) fn questions(&self) -> Vec<Question> {
        let step = ScoreStep {
            expects: Expectation::Response(self.link),
            support: FeatureList::of(&self.features),
            constant: Constant::One,
            model: self
                .model(self.start.intercept, &self.start.coefficients)
                .into(),
            feature: Limit::nearest(self.feature_scale),
            norm: Limit::nearest(clip_norm(self.features.len())),
        };
        vec![
            Question::ScoreGradient(step.clone()),
            Question::ScoreCurvature(step),
        ]
    }

    /// A model of these coefficients of scaled features, in bounded units.
    fn model(&self, intercept: f64, coefficients: &[f64]) -> LinearModel {
        let terms = self.features.iter().zip(coefficients);
        LinearModel {
            intercept,
            terms: terms
                .map(|(feature, value)| (*feature, value / self.feature_scale))
                .collect(),
        }
    }

    /// The fit that the answer gives.
    pub(crate) fn finish(self, answer: &Answer) -> Fit {
        let Some(step) = self.step(answer) else {
            let model = self.model(self.start.intercept, &self.start.coefficients);
            return Fit {
                model,
                ..self.linear
            };
        };
        let predicting = at_most_long(step.shrunk.clone(), LONGEST_STEP);
        let moved = |index: usize, value: &f64| value + predicting[index];
        let start = &self.start;
        let coefficients = start.coefficients.iter().enumerate();
        let coefficients: Vec<f64> = coefficients
            .map(|(index, value)| moved(index + 1, value))
            .collect();
        let model = self.model(moved(0, &start.intercept), &coefficients);
        let inference = match self.linear.inference.clone() {
            Inferred::Available(inference) => Inferred::Available(self.report(inference, &step)),
            none @ Inferred::NotAvailable { .. } => none,
        };
        Fit {
            status: self.status(&step),
            model,
            inference,
            residual_scale: None,
            provenance: Some(answer.provenance),
            ..self.linear
        }
    }

    /// Whether the values of the response are almost separated.
    fn is_almost_separated(&self) -> bool {
        self.start.explained >= ALMOST_SEPARATED
    }

    fn status(&self, step: &Step) -> FitStatus {
        let explained = self.start.explained;
        match self.linear.status {
            FitStatus::Complete if self.is_almost_separated() => {
                FitStatus::AlmostSeparated { explained }
            }
            FitStatus::Complete if step.repaired > 0 => FitStatus::IllConditioned {
                condition: step.condition,
                repaired: step.repaired,
            },
            status => status,
        }
    }

    /// The step that the two blocks of an answer give.
    fn step(&self, answer: &Answer) -> Option<Step> {
        let most = Most {
            residual: self.link.most_residual(),
            weight: self.link.most_weight(),
        };
        Step::of(answer, self.features.len(), most)
    }

    /// The report of the second moments with the estimates and intervals of the step.
    fn report(&self, linear: Inference, step: &Step) -> Inference {
        let no_intervals = match linear.no_intervals {
            None if self.is_almost_separated() => Some(NoInterval::AlmostSeparated),
            other => other,
        };
        let has_intervals = no_intervals.is_none();
        let is_known = no_intervals.is_none_or(|reason| reason == NoInterval::FewRecords);
        let term = |(index, term): (usize, ReportedTerm)| {
            let found = step.estimate(index + 1, self.start.coefficients[index]);
            let (is_shown, p_value) = match term.role {
                Role::Selected => (has_intervals, term.p_value),
                Role::Always => (
                    has_intervals && self.has_records,
                    (is_known && self.has_records).then(|| two_sided(&found)),
                ),
            };
            let interval = is_shown.then(|| wald(&found, 1.0 - term.level));
            ReportedTerm {
                estimate: found.value / self.feature_scale,
                interval: interval.and_then(|found| Interval::in_units(found, self.feature_scale)),
                p_value: p_value.filter(|p_value| (0.0..=1.0).contains(p_value)),
                privacy_share: found.privacy_share(),
                ..term
            }
        };
        let intercept = linear.intercept.map(|intercept| {
            let found = step.estimate(0, self.start.intercept);
            let is_shown = has_intervals && self.has_records;
            let interval = is_shown.then(|| wald(&found, 1.0 - intercept.level));
            ReportedIntercept {
                estimate: found.value,
                interval: interval.and_then(|found| Interval::in_units(found, 1.0)),
                privacy_share: found.privacy_share(),
                ..intercept
            }
        });
        Inference {
            no_intervals,
            intercept,
            terms: linear.terms.into_iter().enumerate().map(term).collect(),
            covariance: self.covariance(step, is_known),
            score: Some(ScoreNoise {
                link: self.link,
                mean: self.mean,
                explained: self.start.explained,
                score_noise: step.noise.0,
                curvature_noise: step.noise.1,
            }),
            ..linear
        }
    }

    /// The covariance of intercept and coefficients in bounded units; empty if it does not hold or is not finite.
    fn covariance(&self, step: &Step, is_known: bool) -> Vec<f64> {
        let size = step.plain.len();
        let unit = |place: usize| {
            if place == 0 {
                1.0
            } else {
                1.0 / self.feature_scale
            }
        };
        let mut entries = Vec::with_capacity(size * (size + 1) / 2);
        for row in 0..size {
            for column in row..size {
                let sum = step.sampling[(row, column)] + step.privacy[(row, column)];
                entries.push(unit(row) * unit(column) * sum);
            }
        }
        if is_known && entries.iter().all(|entry| entry.is_finite()) {
            entries
        } else {
            Vec::new()
        }
    }
}
