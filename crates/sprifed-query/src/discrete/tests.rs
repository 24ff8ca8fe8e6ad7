//! Requests that differ in a discrete field have different bytes; floats do not matter.

use std::collections::BTreeSet;

use super::*;
use crate::columns::{ColumnUnit, ReleasedColumns};
use crate::event_times::ReleasedHazard;
use crate::feature_list::FeatureList;
use crate::limit::Limit;
use crate::model::LinearModel;
use crate::question::Scales;

fn model(features: &[u32], value: f64) -> ReleasedModel {
    let terms = features.iter().map(|feature| (*feature, value));
    let terms = terms.collect();
    LinearModel {
        intercept: value,
        terms,
    }
    .into()
}

const fn scales(value: f64) -> Scales {
    Scales {
        feature: Limit::nearest(value),
        residual: Limit::nearest(value),
    }
}

fn only(features: &[u32]) -> FeatureSet {
    FeatureSet::only(features)
}

/// Every kind of question, each with every discrete field changed once; all floats are `value`.
fn questions(value: f64) -> Vec<Question> {
    let mut questions = vec![
        Question::ResponseMean {
            response_limit: Limit::nearest(value),
        },
        Question::RowScale {
            features: 3,
            largest: Limit::nearest(value),
        },
    ];
    let sets = [only(&[0, 1, 2]), only(&[0, 1]), only(&[0, 2]), only(&[])];
    let models: Vec<ReleasedModel> = [&[][..], &[0], &[1], &[0, 1], &[1, 0]]
        .iter()
        .map(|features| model(features, value))
        .collect();
    for features in &sets {
        questions.push(Question::ResponseCorrelation {
            features: features.clone(),
            feature_limit: Limit::nearest(value),
            response_limit: Limit::nearest(value),
        });
        for feature in [0, 7] {
            questions.push(Question::FeatureCorrelation {
                feature,
                features: features.clone(),
                feature_limit: Limit::nearest(value),
            });
        }
        for model in &models {
            questions.push(Question::BoxedGradient {
                model: model.clone(),
                features: features.clone(),
                feature_limit: Limit::nearest(value),
                residual_limit: Limit::nearest(value),
            });
            questions.push(Question::RowClippedGradient {
                model: model.clone(),
                features: features.clone(),
                row_norm: Limit::nearest(value),
                residual_limit: Limit::nearest(value),
            });
        }
    }
    let sites = |first, count| Constant::Sites { first, count };
    let constants = [
        Constant::Absent,
        Constant::One,
        sites(5, 2),
        sites(5, 3),
        sites(6, 2),
    ];
    questions.push(Question::EventsInBins);
    questions.push(Question::LeftInBins { risk: None });
    for model in &models {
        questions.push(Question::LeftInBins {
            risk: Some(model.clone()),
        });
        questions.push(Question::ResidualScale {
            model: model.clone(),
            largest: Limit::nearest(value),
        });
        questions.push(Question::ResidualSquare {
            model: model.clone(),
            residual_limit: Limit::nearest(value),
        });
        for support in [&[][..], &[3], &[3, 4], &[4, 3]] {
            for constant in constants {
                for newest in [0, 1, 2] {
                    questions.push(Question::SupportUpdate {
                        support: FeatureList::of(support),
                        newest: Newest::of(newest),
                        constant,
                        model: model.clone(),
                        scales: scales(value),
                        residual_limit: Limit::nearest(value),
                        norm: Limit::nearest(value),
                    });
                }
                let hazard = ReleasedHazard::new(|_| value);
                for expects in [
                    Expectation::Response(Link::Logit),
                    Expectation::Events(hazard),
                ] {
                    let step = ScoreStep {
                        expects,
                        support: FeatureList::of(support),
                        constant,
                        model: model.clone(),
                        feature: Limit::nearest(value),
                        norm: Limit::nearest(value),
                    };
                    questions.push(Question::ScoreGradient(step.clone()));
                    questions.push(Question::ScoreCurvature(step));
                }
                questions.push(Question::SecondMoment {
                    support: FeatureList::of(support),
                    constant,
                    model: model.clone(),
                    scales: scales(value),
                    norm: Limit::nearest(value),
                });
                questions.push(Question::ResidualMoment {
                    support: FeatureList::of(support),
                    constant,
                    model: model.clone(),
                    scales: scales(value),
                    norm: Limit::nearest(value),
                });
            }
        }
    }
    for feature in [0, 7] {
        questions.push(Question::SupportResponse {
            feature,
            feature_limit: Limit::nearest(value),
            response_limit: Limit::nearest(value),
        });
        for earlier in [vec![], vec![1], vec![1, 2], vec![2, 1]] {
            let support: Vec<u32> = earlier.into_iter().chain([feature]).collect();
            questions.push(Question::SupportRow {
                support: FeatureList::of(&support),
                feature_limit: Limit::nearest(value),
            });
        }
    }
    for features in sets {
        let row_norm = Limit::nearest(value);
        questions.push(Question::ColumnMeans {
            features: features.clone(),
            row_norm,
        });
        questions.push(Question::ColumnSquares {
            features: features.clone(),
            row_norm,
        });
        let unit = |_| ColumnUnit {
            centre: value,
            scale: Limit::nearest(value),
        };
        let columns = ReleasedColumns::new(features, unit);
        for question in [&questions[0], &questions[7]].map(Clone::clone) {
            questions.push(Question::Standardised {
                columns: columns.clone(),
                question: Box::new(question),
            });
        }
    }
    for question in [&questions[0], &questions[7]].map(Clone::clone) {
        questions.push(Question::Martingale {
            hazard: ReleasedHazard::new(|_| value),
            question: Box::new(question),
        });
    }
    questions
}

/// Requests of no, one and two questions at two steps.
fn requests(value: f64) -> Vec<Vec<u8>> {
    let questions = questions(value);
    let mut requests = Vec::new();
    for step in [0, 1] {
        let sum = |questions: &[Question]| {
            let questions = questions.to_vec();
            SumQuery { step, questions }.discrete_part()
        };
        requests.push(sum(&[]));
        requests.extend(questions.iter().map(|one| sum(core::slice::from_ref(one))));
        requests.extend(questions.windows(2).map(&sum));
        requests.extend(questions.windows(2).map(|pair| {
            let reversed: Vec<Question> = pair.iter().rev().cloned().collect();
            sum(&reversed)
        }));
        requests.extend(questions.iter().map(|scores| {
            let scores = scores.clone();
            ChoiceQuery { step, scores }.discrete_part()
        }));
    }
    requests
}

#[test]
fn every_discrete_field_matters() {
    let requests = requests(1.0);
    let different: BTreeSet<&Vec<u8>> = requests.iter().collect();
    assert_eq!(different.len(), requests.len());
    assert!(requests.len() > 1000, "{}", requests.len());
}

#[test]
fn floats_do_not_matter() {
    assert_eq!(requests(1.0), requests(2.5));
}

#[test]
fn no_request_is_the_beginning_of_another() {
    let mut requests = requests(1.0);
    requests.sort();
    for pair in requests.windows(2) {
        assert!(!pair[1].starts_with(&pair[0]));
    }
}

#[test]
fn a_set_is_written_alike_however_it_was_made() {
    let query = |features| {
        let question = Question::ResponseCorrelation {
            features,
            feature_limit: Limit::nearest(1.0),
            response_limit: Limit::nearest(1.0),
        };
        let questions = vec![question];
        SumQuery { step: 0, questions }.discrete_part()
    };
    assert_eq!(query(FeatureSet::all(4)), query(only(&[3, 2, 1, 0])));
    assert_eq!(query(FeatureSet::except(4, &[1])), query(only(&[0, 2, 3])));
    assert_eq!(query(FeatureSet::all(0)), query(only(&[])));
    let pieces = FeatureSet::try_from(vec![0..1, 1..4]).unwrap();
    assert_eq!(query(pieces), query(FeatureSet::all(4)));
}

#[test]
fn the_bytes_are_the_documented_ones() {
    let question = Question::SecondMoment {
        support: FeatureList::of(&[258]),
        constant: Constant::One,
        model: model(&[], 1.0),
        scales: scales(1.0),
        norm: Limit::nearest(1.0),
    };
    let query = SumQuery {
        step: 3,
        questions: vec![question],
    };
    let mut expected = vec![SUM, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 11];
    expected.extend([1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 1]);
    expected.extend([0; 8]);
    assert_eq!(query.discrete_part(), expected);
}
