//! Below how many records no feature can be found at a budget, whatever the procedure.
//!
//! One feature whose correlation with the response is c must stand out among p − 1 false ones. The answer is the number of
//! records at which it does so in about half of all studies that look for this feature only. It is the least that a study
//! needs: further features share the budget.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_query::PlanError;
use sprifed_recovery::{Needs, Setting, best_clip, clipped_variance, kept_signal};

use crate::expectation::{ARGMAX_PICKS, Choice, Noise, SUMS_GRADIENTS, quantile};

#[cfg(test)]
mod tests;

/// The records that one feature needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Floor {
    /// The correlation of the feature with the response.
    pub correlation: f64,
    /// About how many records it needs.
    pub records: u64,
}

/// The correlations that a plan shows.
pub const FLOOR_CORRELATIONS: [f64; 3] = [0.3, 0.5, 0.7];

/// No more records than this are considered.
const MOST: f64 = 1e15;

impl Floor {
    /// The floor of a study by the best procedure with these needs.
    ///
    /// # Errors
    /// When the budget is too small to be spent.
    pub fn of(setting: &Setting, needs: Needs, correlation: f64) -> Result<Self, PlanError> {
        let noise = Noise::of(setting)?;
        let features = f64::from(setting.n_features);
        let is_enough = |records: f64| match needs {
            Needs::Choices => choice_finds(records, features, &noise, correlation),
            Needs::Sums => sum_finds(records, features, &noise, correlation),
        };
        let (mut low, mut high) = (1.0, MOST);
        while high > low * 1.001 + 0.5 {
            let middle = (low * high).sqrt();
            if is_enough(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 1 to 1e15"
        )]
        let records = high.ceil() as u64;
        Ok(Self {
            correlation,
            records,
        })
    }
}

/// Whether one private choice finds a feature of this correlation in half of all studies.
///
/// # Why
/// The exponential mechanism weighs the feature by exp(n·κ·c/β), where κ is what clipping leaves, and all false ones
/// together by p times the mean of exp(|u|/β). The two are equal where n = β·ln p/(κ·c), and later
/// where the sampling error of false scores u counts.
fn choice_finds(records: f64, features: f64, noise: &Noise, correlation: f64) -> bool {
    let choice = Choice::among(records, features, noise.rho * ARGMAX_PICKS, noise.moves);
    choice.signal * records * correlation >= choice.largest_null
}

/// Whether a noisy sum over all features shows a feature of this correlation in half of all studies.
///
/// # Why
/// A row of p standardised features is clipped to the norm √p, so the noise on each entry is √p times that of a single
/// one. The largest of p normal numbers lies near the quantile 1 − 1/(2p).
fn sum_finds(records: f64, features: f64, noise: &Noise, correlation: f64) -> bool {
    let entry_noise = features * (noise.moves / noise.mu).powi(2) / SUMS_GRADIENTS;
    let clip = best_clip(entry_noise, records);
    let spread = (records * clipped_variance(clip) + entry_noise).sqrt();
    let signal = records * correlation * kept_signal(clip) / clip;
    signal >= quantile(1.0 - 0.5 / features) * spread
}
