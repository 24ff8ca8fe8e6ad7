//! Below how many records no feature can be found at a budget, whatever the procedure.
//!
//! One feature whose correlation with the response is c must stand out among p − 1 false ones. The answer is the number of
//! records at which it does so in about half of all studies that look for this feature only. It is the least that a study
//! needs: further features share the budget.

use libm::log;
use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{NoiseOrigin, RecordPart, Rho};
use sprifed_query::PlanError;

use crate::catalogue::Needs;
use crate::clipping::{best_clip, clipped_variance, kept_signal};
use crate::portable::{smaller, square};
use crate::selection::normal::{cumulative, upper_quantile};
use crate::setting::{InferenceMethod, Setting};

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

/// The shares of ρ that argmax OMP gives to its choices, and of μ² that the pooled procedures give to gradients.
pub const CHOICES_SHARE: f64 = 0.57;
/// See [`CHOICES_SHARE`].
pub const GRADIENTS_SHARE: f64 = 0.91;

impl Floor {
    /// The floor of a study by the best procedure with these needs.
    ///
    /// # Errors
    /// When the budget is too small to be spent.
    pub fn of(setting: &Setting, needs: Needs, correlation: f64) -> Result<Self, PlanError> {
        let noise = BudgetNoise::of(setting)?;
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
        let part = match setting.inference {
            InferenceMethod::Selective => RecordPart::All,
            InferenceMethod::Split => RecordPart::Selection,
        };
        Ok(Self {
            correlation,
            records: part.least_records(records),
        })
    }
}

/// Whether one private choice finds a feature of this correlation in half of all studies.
///
/// # Why
/// The exponential mechanism weighs the feature by exp(n·κ·c/β), where κ is what clipping leaves, and all false ones
/// together by p times the mean of exp(|u|/β). The two are equal where n = β·ln p/(κ·c), and later
/// where the sampling error of false scores u counts.
fn choice_finds(records: f64, features: f64, noise: &BudgetNoise, correlation: f64) -> bool {
    let choice = PrivateChoice::among(records, features, noise.rho * CHOICES_SHARE, noise.moves);
    choice.signal * records * correlation >= choice.largest_null
}

/// Whether a noisy sum over all features shows a feature of this correlation in half of all studies.
///
/// # Why
/// A row of p standardised features is clipped to the norm √p, so the noise on each entry is √p times that of a single
/// one. The largest of p normal numbers lies near the quantile 1 − 1/(2p).
fn sum_finds(records: f64, features: f64, noise: &BudgetNoise, correlation: f64) -> bool {
    let entry_noise = features * square(noise.moves / noise.mu) / GRADIENTS_SHARE;
    let clip = best_clip(entry_noise, records);
    let spread = (records * clipped_variance(clip) + entry_noise).sqrt();
    let signal = records * correlation * kept_signal(clip) / clip;
    signal >= upper_quantile(0.5 / features) * spread
}

/// The noise that a budget buys, as numbers of a curator who adds as much.
#[derive(Clone, Copy, Debug)]
pub struct BudgetNoise {
    /// ρ of all questions but that for robust intervals.
    pub rho: f64,
    /// μ of all sums but that.
    pub mu: f64,
    /// How far one unit moves a sum of contributions within [−1, 1].
    pub moves: f64,
}

impl BudgetNoise {
    /// The noise that the budget of `setting` buys.
    ///
    /// # Errors
    /// When the budget is too small to be spent.
    pub fn of(setting: &Setting) -> Result<Self, PlanError> {
        // Noise is made for the shares that are certain, but every client that stays adds one.
        let surplus = match setting.origin {
            NoiseOrigin::Curator => 1.0,
            NoiseOrigin::Shares(clients) => {
                f64::from(clients.clients()) / f64::from(clients.honest())
            }
            // Three shares are added, two are certain.
            NoiseOrigin::Trustees => 1.5,
        };
        let rest = (1.0 - setting.robust_share()) * (1.0 - setting.outcome.reserved_share());
        Ok(Self {
            rho: rest * Rho::largest_within(setting.noise_budget()?)?.get() / surplus,
            mu: rest.sqrt() * setting.total_mu()?.get() / surplus.sqrt(),
            moves: f64::from(setting.relation.sum_moves_by()),
        })
    }
}

/// A private choice, in units of the scale β of its Gumbel noise.
#[derive(Clone, Copy, Debug)]
pub struct PrivateChoice {
    /// What a record of correlation one adds to a score.
    pub signal: f64,
    /// The sampling error of a score.
    pub spread: f64,
    /// The noisy maximum of all false scores, without its own Gumbel noise.
    pub largest_null: f64,
    /// How much of the largest false correlation the choice can see.
    pub luck: f64,
}

/// Clips of features and residuals that are tried for a score, in units of their scale.
pub(crate) const SCORE_CLIPS: [f64; 7] = [0.7, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0];

/// The clips of features and residuals that separate the largest score most clearly from its noise, for a choice of cost
/// `rho` among so many features.
///
/// # Why
/// A score's signal per record is k(b)/b · k(q)/q of the covariance; its variance is that of the
/// clipped products, and the largest of p Gumbel variables of scale β adds about β ln p, which
/// for a choice of cost ρ has the square ln p / (4ρ) up to a constant.
pub(crate) fn best_score_clips(records: f64, features: f64, rho: f64) -> (f64, f64) {
    let noise = log(features) / (4.0 * rho);
    let quality = |(feature, residual): (f64, f64)| {
        let signal = score_signal(feature, residual);
        let spread = noise + records * clipped_variance(feature) * clipped_variance(residual);
        spread / (signal * signal)
    };
    let pairs = SCORE_CLIPS
        .iter()
        .flat_map(|b| SCORE_CLIPS.iter().map(move |q| (*b, *q)));
    let best = pairs.min_by(|left, right| quality(*left).total_cmp(&quality(*right)));
    best.unwrap_or((1.0, 1.0))
}

fn score_signal(feature: f64, residual: f64) -> f64 {
    kept_signal(feature) / feature * kept_signal(residual) / residual
}

impl PrivateChoice {
    /// A choice that costs `rho` among so many features.
    ///
    /// # Why
    /// A choice of cost ρ has β = Δ/√(2ρ) (docs/proofs/selection.md, 5). The exponential mechanism picks one of p false
    /// features with weight Σ exp(|u_j|/β). For normal scores u_j of standard deviation τ that sum is
    /// p·2Φ(t)·exp(t²/2) with t = τ/β, until it is ruled by its largest term alone, at t = √(2 ln p).
    #[must_use]
    pub fn among(records: f64, features: f64, rho: f64, moves: f64) -> Self {
        let beta = moves / (2.0 * rho).sqrt();
        let (feature, residual) = best_score_clips(records, features, rho);
        let variance = records * clipped_variance(feature) * clipped_variance(residual);
        let spread = variance.sqrt() / beta;
        let frozen = (2.0 * log(features)).sqrt();
        let largest_null = if spread <= frozen {
            log(features) + spread * spread / 2.0 + log(2.0 * cumulative(spread))
        } else {
            spread * (2.0 * log(2.0 * features)).sqrt()
        };
        Self {
            signal: score_signal(feature, residual) / beta,
            spread,
            largest_null,
            luck: smaller(spread / frozen, 1.0),
        }
    }
}
