//! p-values of features that a private choice picked.
//!
//! Only the index of a pick is released, not its score U. What is known about U is the law of the
//! choice: the noise tilts it by at most a factor e^(|u|/β), and it is below the largest of all
//! candidates. Both bound how far the pick pulls the estimate T of the last solve away from zero
//! (docs/proofs/selective_inference.md).

use libm::exp;

use super::Estimate;
use super::normal::cumulative;
use super::score_law::ScoreLaw;
use crate::clipping::{clipped_variance, kept_signal};
use crate::portable::{larger, smaller, square};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// Scores and estimates are never taken as more than this correlated.
pub(super) const MOST_CORRELATED: f64 = 0.999;

/// One pick of a feature, as the plan and the questions before it describe it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    /// n.
    pub n_records: f64,
    /// σ_l: the residual scale that the question of this choice was asked with.
    pub residual_scale: f64,
    /// b: the clip of features, in units of the feature scale.
    pub feature_clip: f64,
    /// q: the clip of residuals, in units of σ_l.
    pub residual_clip: f64,
    /// v_j: the variance of this feature in units of f²; see [`feature_variance`].
    pub feature_variance: f64,
    /// Integer steps of a score for one unit: 512 with a curator, fewer with trustees.
    pub score_steps: f64,
    /// λ: the planned rate of the noise, for one step.
    pub noise_rate: f64,
    /// P: how many features this choice was made among.
    pub candidates: f64,
}

/// v_j: the variance of a feature in units of f², from the last question.
///
/// # Notation
/// | code | paper |
/// |---|---|
/// | `gram_entry` | G_jj |
/// | `weights` | Σω, the first entry of the last answer |
#[must_use]
pub fn feature_variance(gram_entry: f64, weights: f64, n_records: f64) -> f64 {
    let weights = smaller(larger(weights, n_records / 10.0), n_records);
    smaller(larger(gram_entry / weights, 0.02), 50.0)
}

impl Pick {
    /// β = 1/(steps·λ): the scale of the noise on a score, in units of one contribution.
    #[must_use]
    pub fn noise_scale(&self) -> f64 {
        1.0 / (self.score_steps * self.noise_rate)
    }

    /// κ_j = v_j·[k(b/√v_j)/b]·[k(q)/q]: what a record adds to the mean of a score for each unit of the
    /// coefficient, in units of 1/σ_l.
    #[must_use]
    pub fn transfer(&self) -> f64 {
        let relative = self.feature_clip / self.feature_variance.sqrt();
        let feature = kept_signal(relative) / self.feature_clip;
        let residual = kept_signal(self.residual_clip) / self.residual_clip;
        self.feature_variance * feature * residual
    }

    /// τ_u: the standard deviation of the score of a feature without effect.
    #[must_use]
    pub fn score_std_dev(&self) -> f64 {
        let relative = self.feature_clip / self.feature_variance.sqrt();
        (self.n_records * clipped_variance(relative) * clipped_variance(self.residual_clip)).sqrt()
    }

    /// n κ_j/σ_l: how far the mean of the score moves for each unit of the coefficient.
    #[must_use]
    pub fn score_slope(&self) -> f64 {
        self.n_records * self.transfer() / self.residual_scale
    }

    /// c = cov(U, T) of a feature without effect, given V_s.
    ///
    /// This is the covariance times the variance inflation of the feature among the picks, on
    /// purpose: a larger c makes a larger p-value.
    #[must_use]
    pub fn covariance(&self, sampling_variance: f64) -> f64 {
        let most = MOST_CORRELATED * self.score_std_dev() * sampling_variance.sqrt();
        smaller(self.score_slope() * sampling_variance, most)
    }

    /// e^(2λ): what rounding the noise to integers may add to a probability given the pick.
    #[must_use]
    pub fn rounding_factor(&self) -> f64 {
        exp(2.0 * self.noise_rate)
    }

    /// The p-value of a feature that this choice picked and the last solve estimated so.
    ///
    /// 1 where the numbers are not those of a pick and an estimate.
    ///
    /// # Guarantee
    /// P(the picked feature has no effect, and p ≤ level) ≤ level
    /// (docs/proofs/selective_inference.md#3-the-p-value).
    ///
    /// # Why
    /// p = e^(2λ) ∫ [Φ((wu − |T|)/d) + Φ((−wu − |T|)/d)] d(−S(u)) with w = c/τ_u² and
    /// d² = V − c²/τ_u². Beyond the grid the bracket counts as 1, so a p-value is never below about
    /// 1e-12 where the largest candidate is what bounds the score.
    #[must_use]
    pub fn p_value(&self, estimate: &Estimate) -> f64 {
        self.prepared().p_value(estimate)
    }

    /// The same, prepared for several estimates.
    #[must_use]
    pub fn prepared(&self) -> PreparedPick {
        let legal = self.is_legal();
        let tilt = self.score_std_dev() / self.noise_scale();
        PreparedPick {
            pick: *self,
            law: legal.then(|| ScoreLaw::of_pick(tilt, self.candidates)),
        }
    }

    fn is_legal(&self) -> bool {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let values = [
            self.n_records,
            self.residual_scale,
            self.feature_clip,
            self.residual_clip,
            self.feature_variance,
            self.score_steps,
            self.noise_rate,
        ];
        values.into_iter().all(positive) && self.candidates >= 1.0 && self.candidates.is_finite()
    }
}

/// A pick with the law of its score, which does not depend on the estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedPick {
    pick: Pick,
    law: Option<ScoreLaw>,
}

impl PreparedPick {
    /// As [`Pick::p_value`].
    #[must_use]
    pub fn p_value(&self, estimate: &Estimate) -> f64 {
        let Some(law) = self.law.as_ref().filter(|_| estimate.is_legal()) else {
            return 1.0;
        };
        let score = self.pick.score_std_dev();
        let pull = self.pick.covariance(estimate.sampling_variance) / score;
        let rest = (estimate.variance - square(pull)).sqrt();
        let value = estimate.value.abs();
        let exceeds = |u: f64| below((pull * u - value) / rest) + below((-pull * u - value) / rest);
        smaller(self.pick.rounding_factor() * law.mean_of(exceeds), 1.0)
    }
}

/// Φ(x), and 0 where that is below 1e-21.
fn below(x: f64) -> f64 {
    if x < -9.5 { 0.0 } else { cumulative(x) }
}
