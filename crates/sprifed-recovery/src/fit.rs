//! What a procedure ends with, disappointing endings included.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_noise::Provenance;
use sprifed_query::LinearModel;

/// How a fit ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", from = "StatedStatus")]
pub enum FitStatus {
    /// All planned features were chosen and the solve was sound.
    Complete,
    /// No estimate exceeds its noise: the features are no better than random.
    NoFeatureAboveNoise {
        /// The largest estimate, in standard deviations of its noise.
        largest_ratio: f64,
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
    IllConditioned { condition: f64, repaired: usize },
}

impl From<StatedStatus> for FitStatus {
    fn from(stated: StatedStatus) -> Self {
        match stated {
            StatedStatus::Complete {} => Self::Complete,
            StatedStatus::NoFeatureAboveNoise { largest_ratio } => {
                Self::NoFeatureAboveNoise { largest_ratio }
            }
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
    /// The model in bounded units.
    pub model: LinearModel,
    /// The standard deviation that the added noise alone gives each coefficient, in order.
    pub noise_std_devs: Vec<f64>,
    /// How the fit ended.
    pub status: FitStatus,
    /// The last private estimate of the residual's scale, in bounded units.
    pub residual_scale: Option<f64>,
    /// Where the noise came from.
    pub provenance: Option<Provenance>,
}
