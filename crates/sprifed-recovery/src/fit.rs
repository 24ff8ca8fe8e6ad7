//! What a procedure ends with, disappointing endings included.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_noise::Provenance;
use sprifed_query::LinearModel;

use crate::inference::Inferred;
use crate::outcome::survival::baseline::Baseline;

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", from = "StatedStatus")]
pub enum FitStatus {
    /// Features were kept and the solve was sound.
    Complete,
    /// No feature was kept: those that were chosen are no better than random.
    NoFeatureAboveNoise {
        /// The largest estimate, in its standard errors.
        largest_ratio: f64,
    },
    /// There are too few records to seek a feature: the model is the mean and the features of every model.
    TooFewRecords {
        /// How many records would do.
        needed: u64,
    },
    /// The features almost separate the values of the response: coefficients are large and one step finds them badly.
    AlmostSeparated {
        /// The share of the response's variance that the model was found to explain before the last step.
        explained: f64,
    },
    /// The noisy normal equations had to be repaired so much that coefficients are unreliable.
    IllConditioned {
        /// Largest over smallest eigenvalue before the repair; negative if one was not positive, infinite, in JSON
        /// null, if one was zero.
        #[schemars(with = "Option<f64>")]
        condition: f64,
        /// How many eigenvalues were raised to the noise level.
        repaired: usize,
    },
}

/// A status as it was written down. A tagged variant without braces would skip fields that it does not know.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
enum StatedStatus {
    Complete {},
    NoFeatureAboveNoise { largest_ratio: f64 },
    TooFewRecords { needed: u64 },
    AlmostSeparated { explained: f64 },
    IllConditioned { condition: f64, repaired: usize },
}

impl From<StatedStatus> for FitStatus {
    fn from(stated: StatedStatus) -> Self {
        match stated {
            StatedStatus::Complete {} => Self::Complete,
            StatedStatus::NoFeatureAboveNoise { largest_ratio } => {
                Self::NoFeatureAboveNoise { largest_ratio }
            }
            StatedStatus::TooFewRecords { needed } => Self::TooFewRecords { needed },
            StatedStatus::AlmostSeparated { explained } => Self::AlmostSeparated { explained },
            StatedStatus::IllConditioned {
                condition,
                repaired,
            } => Self::IllConditioned {
                condition,
                repaired,
            },
        }
    }
}

/// A sparse model from private sums.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// The model that predicts, in bounded units; where the outcome has a link, its linear predictor. Of all features that were chosen, shrunk where
    /// noise outweighs what is known; the mean and the features of every model if none was kept.
    /// Which of its features were kept, [`Self::inference`] says.
    pub model: LinearModel,
    /// What the intercept of each site is above that of the model, in bounded units; empty without site effects. The
    /// intercept of the model is their mean, each counted by its records: it predicts a record of none of the sites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<f64>,
    /// What is known of the coefficients, or why nothing is.
    pub inference: Inferred,
    /// How the fit ended.
    pub status: FitStatus,
    /// The last private estimate of the residual's scale, in bounded units.
    pub residual_scale: Option<f64>,
    /// The hazard of a record whose linear predictor is zero, where the response is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// Where columns were cut that had private scales, for the features that predict or are reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Cut>,
    /// Where the noise came from.
    pub provenance: Option<Provenance>,
}

/// Where a column was cut, in bounded units: values outside count as the nearest of the two.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Which feature.
    pub feature: u32,
    /// The least value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
}
