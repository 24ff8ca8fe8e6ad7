//! What a result is worth after it was selected: p-values, intervals, and how many features to keep.
//!
//! # Why
//! A feature that was picked because its score was large has, in the last solve, an estimate that is
//! too large on average. The functions of this module say how large it would be without any effect
//! (docs/proofs/selective_inference.md). They are post-processing of released answers and cost nothing.
//!
//! | file | holds |
//! |---|---|
//! | `normal` | the normal distribution, accurate in both tails |
//! | `argmax_pick` | p-values of features that a private choice picked |
//! | `conditioned` | the law of an estimate given that it was selected; p-values of sums |
//! | `interval` | the interval that is reported |
//! | `benjamini_hochberg` | which of several p-values are kept |
//! | `group` | p-values of groups of columns that are picked together |
//!
//! All arithmetic has the same bits on every platform (`crate::portable`). What this module does
//! not do: it does not know procedures, plans or answers. Callers convert units (see [`Estimate`]).

pub mod argmax_pick;
pub mod benjamini_hochberg;
pub mod conditioned;
pub mod group;
pub mod interval;
pub mod normal;
mod quadrature;
mod score_law;
mod weight_table;

pub use argmax_pick::{Pick, feature_variance};
pub use benjamini_hochberg::kept_by_benjamini_hochberg;
pub use conditioned::{ConditionalLaw, PooledSelection, Selection, Shares};
pub use group::{GroupEstimate, GroupPick, GroupScore, IndicatorScore};
pub use interval::{
    ArgmaxSelection, Interval, ReportedSelection, Rival, false_coverage_level, hull, log_rivals,
    wald,
};

/// The estimate of one coefficient by the last solve, with its variances.
///
/// Units: the coefficient of the feature divided by the feature scale f, that is
/// T = θ0·f + ŝ·δ, and variances are ŝ² times those of the solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// T.
    pub value: f64,
    /// V_s: the part of the variance that is due to the records.
    pub sampling_variance: f64,
    /// V = V_s + V_p: the whole variance, with the noise of the last answer.
    pub variance: f64,
}

impl Estimate {
    /// √V.
    #[must_use]
    pub fn std_error(&self) -> f64 {
        self.variance.sqrt()
    }

    /// |T|/√V.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.value.abs() / self.std_error()
    }

    /// The share of the variance that is due to the noise.
    #[must_use]
    pub fn privacy_share(&self) -> Option<f64> {
        let share = 1.0 - self.sampling_variance / self.variance;
        (0.0..=1.0).contains(&share).then_some(share)
    }

    /// Whether the numbers are those of an estimate: finite, and 0 ≤ V_s ≤ V with V > 0.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        self.value.is_finite()
            && self.variance.is_finite()
            && self.variance > 0.0
            && self.sampling_variance >= 0.0
            && self.sampling_variance <= self.variance
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;
