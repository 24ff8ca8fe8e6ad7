//! What the response of a generated record is, and what decides how well it can be explained.

use serde::{Deserialize, Serialize};

/// What the response of a generated record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorldOutcome {
    /// The linear predictor and an error.
    #[default]
    Linear,
    /// Zero or one; the linear predictor is the logarithm of the odds of a one. What the model leaves unexplained follows
    /// from these two.
    Binary {
        /// The standard deviation of the linear predictor.
        spread: f64,
        /// The share of ones.
        prevalence: f64,
    },
    /// A time; the linear predictor is the logarithm of its hazard. What the model leaves unexplained follows from these
    /// two.
    Survival {
        /// The standard deviation of the linear predictor.
        spread: f64,
        /// The share of records with an event before they are censored.
        events: f64,
    },
}

impl WorldOutcome {
    /// Whether it is [`Self::Linear`].
    #[must_use]
    pub const fn is_linear(&self) -> bool {
        matches!(self, Self::Linear)
    }
}
