//! One Newton step of a generalised linear model: the score of the records and its curvature at a released model.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | z | (constant, x_S), each feature in its unit |
//! | η | the linear predictor of the released model |
//! | e | what is expected at η: a probability, or a share of the cumulative hazard |
//! | ω | min(1, C²/\|z\|²): it depends on z alone, so it does not bias the score |
//!
//! # Why
//! \|ω z\| = min(\|z\|, C²/\|z\|) ≤ C and ω \|z\|² ≤ C², so both blocks are bounded for every model
//! (docs/proofs/score_step.md, docs/proofs/event_times.md#3-the-score).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::constant::Constant;
use crate::event_times::{FollowUp, ReleasedHazard};
use crate::feature_list::FeatureList;
use crate::limit::Limit;
use crate::model::ReleasedModel;
use crate::question::{add, clip, length, response, upper_triangle, value};
use crate::records::Record;

#[cfg(test)]
mod tests;

/// How the expected response follows from the linear predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// The response is zero or one; the predictor is the logarithm of the odds of a one.
    Logit,
}

/// What a model says is expected of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// A response, by its linear predictor.
    Response(Link),
    /// Of a response that is a [`FollowUp`]: its number of events, Λ(t)·exp(η), at most [`MOST_EXPECTED`].
    Events(ReleasedHazard),
}

/// The largest number of events that is expected of a record.
pub const MOST_EXPECTED: f64 = 2.0;

/// A Newton step at a released model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreStep {
    /// What is expected of a record.
    pub expects: Expectation,
    /// S.
    pub support: FeatureList,
    /// What z starts with.
    pub constant: Constant,
    /// The model of the linear predictor.
    pub model: ReleasedModel,
    /// One unit of a feature.
    pub feature: Limit,
    /// C: the norm to which z is clipped.
    pub norm: Limit,
}

/// Linear predictors are cut here: beyond it a probability is zero or one in single precision.
const WIDEST_PREDICTOR: f64 = 30.0;

impl Link {
    /// What is expected at a linear predictor.
    #[must_use]
    pub fn expected(self, predictor: f64) -> f64 {
        match self {
            Self::Logit => 1.0 / (1.0 + (-limited(predictor)).exp()),
        }
    }

    /// The largest size of a residual of a record.
    #[must_use]
    pub const fn most_residual(self) -> f64 {
        match self {
            Self::Logit => 1.0,
        }
    }

    /// The largest weight of a record in the curvature.
    #[must_use]
    pub const fn most_weight(self) -> f64 {
        match self {
            Self::Logit => 0.25,
        }
    }

    /// The response as far as it is legal, less what is expected.
    fn residual(self, response: f64, expected: f64) -> f64 {
        match self {
            Self::Logit => clip(response, Limit::ONE).max(0.0) - expected,
        }
    }

    fn weight(self, expected: f64) -> f64 {
        match self {
            Self::Logit => expected * (1.0 - expected),
        }
    }
}

/// Zero if it is not a number.
const fn limited(predictor: f64) -> f64 {
    let predictor = if predictor.is_nan() { 0.0 } else { predictor };
    predictor.max(-WIDEST_PREDICTOR).min(WIDEST_PREDICTOR)
}

/// A record against what is expected of it.
struct Compared {
    residual: f64,
    /// The weight of the record in the curvature.
    weight: f64,
}

impl Expectation {
    /// The largest size of a residual of a record.
    #[must_use]
    pub const fn most_residual(&self) -> f64 {
        match self {
            Self::Response(link) => link.most_residual(),
            Self::Events(_) => MOST_EXPECTED,
        }
    }

    /// The largest weight of a record in the curvature.
    #[must_use]
    pub const fn most_weight(&self) -> f64 {
        match self {
            Self::Response(link) => link.most_weight(),
            Self::Events(_) => MOST_EXPECTED,
        }
    }

    fn compared(&self, record: Record<'_>, predictor: f64) -> Compared {
        match self {
            Self::Response(link) => {
                let expected = link.expected(predictor);
                Compared {
                    residual: link.residual(response(record), expected),
                    weight: link.weight(expected),
                }
            }
            Self::Events(hazard) => {
                let follow_up = FollowUp::of(record.response);
                let expected = hazard.at(follow_up.time) * limited(predictor).exp();
                let expected = expected.min(MOST_EXPECTED);
                Compared {
                    residual: follow_up.events() - expected,
                    weight: expected,
                }
            }
        }
    }
}

impl ScoreStep {
    /// How many variables z has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.support.len() + self.constant.entries()
    }

    /// ω·z·(y − e), divided by C times the largest residual.
    pub(crate) fn add_gradient(&self, record: Record<'_>, counted: f32, out: &mut [f32]) {
        let (z, longest) = self.variables(record);
        let residual = self.compared(record).residual / self.expects.most_residual();
        // z / longest has a norm of at most C / longest, and ω is C² / longest².
        let weight = residual * (self.norm.get() / longest);
        add(out, counted, z.into_iter().map(|entry| weight * entry));
    }

    /// The weighted upper triangle of ω·w·z·zᵀ, divided by C² times the largest weight w.
    pub(crate) fn add_curvature(&self, record: Record<'_>, counted: f32, out: &mut [f32]) {
        let (z, _) = self.variables(record);
        let weight = self.compared(record).weight / self.expects.most_weight();
        let root = weight.max(0.0).sqrt();
        let z: Vec<f64> = z.into_iter().map(|entry| root * entry).collect();
        add(out, counted, upper_triangle(&z));
    }

    /// z divided by the larger of its length and C, and that divisor.
    fn variables(&self, record: Record<'_>) -> (Vec<f64>, f64) {
        let scaled = |feature: u32| value(record, feature) / self.feature.get();
        let features = self.support.iter().map(scaled);
        let z: Vec<f64> = self.constant.values(record).chain(features).collect();
        let longest = length(&z).max(self.norm.get());
        let z = z.into_iter().map(|entry| entry / longest).collect();
        (z, longest)
    }

    fn compared(&self, record: Record<'_>) -> Compared {
        let model = self.model.as_model();
        self.expects
            .compared(record, model.intercept + model.slopes(record))
    }
}
