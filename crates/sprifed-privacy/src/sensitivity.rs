//! How far one privacy unit can move a sum: exact L2 sensitivities of the questions asked.
//!
//! A sensitivity cannot be written down; it is derived from public bounds and a neighbouring
//! relation. It has no other constructor:
//!
//! ```
//! # use sprifed_privacy::*;
//! fn calibrate(_: L2Sensitivity) {}
//! let clip = ClipNorm::try_from(3.0)?;
//! calibrate(clip.sum_sensitivity(Relation::ZeroOut));
//! # Ok::<(), IllegalQuantity>(())
//! ```
//!
//! ```compile_fail,E0308
//! # use sprifed_privacy::*;
//! fn calibrate(_: L2Sensitivity) {}
//! calibrate(3.0);
//! # Ok::<(), IllegalQuantity>(())
//! ```
//!
//! These are the real-valued sensitivities of the theory. What certified mode relies on is their
//! integer form, [`crate::IntegerBounds`], which rounding cannot exceed. There a relation is not quoted by
//! the caller: the [`crate::Ledger`] computes every cost under its own relation, and refuses a purchase that
//! was bounded for another unit.

use serde::{Deserialize, Serialize};

use crate::neighbours::Relation;
use crate::quantity::{IllegalQuantity, Mu, quantity};

#[cfg(test)]
mod tests;

quantity!(
    /// The norm to which every contribution is clipped. Not a sensitivity until a relation is chosen.
    ClipNorm,
    "clip norm"
);

quantity!(
    /// The public bound on the absolute value of every feature.
    FeatureBound,
    "feature bound"
);

quantity!(
    /// The public bound on the absolute value of the response.
    ResponseBound,
    "response bound"
);

quantity!(
    /// The public bound to which a residual is clipped.
    ResidualClip,
    "residual clip"
);

quantity!(
    /// The standard deviation of the noise added to one coordinate of a sum.
    NoiseStdDev,
    "noise standard deviation"
);

/// How far a vector of sums can move, in Euclidean norm, between neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L2Sensitivity(f64);

impl L2Sensitivity {
    /// The number inside.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The Gaussian noise that makes one release of this sum μ-GDP.
    ///
    /// # Guarantee
    /// The sum plus independent Gaussian noise of this standard deviation on each coordinate is
    /// `target`-GDP under the relation of the sensitivity.
    ///
    /// # Why
    /// [DRS19, Thm 2.7]: standard deviation = sensitivity / μ.
    ///
    /// # Errors
    /// When the quotient leaves the range of doubles.
    pub fn noise_for(self, target: Mu) -> Result<NoiseStdDev, IllegalQuantity> {
        NoiseStdDev::try_from(self.0 / target.get())
    }
}

impl ClipNorm {
    /// How far a sum of contributions, each clipped to this norm, can move between neighbours.
    #[must_use]
    pub fn sum_sensitivity(self, relation: Relation) -> L2Sensitivity {
        L2Sensitivity(f64::from(relation.sum_moves_by()) * self.get())
    }
}

/// Public bounds on a record, from which sensitivities follow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordBounds {
    /// X_M: |x_j| ≤ `feature` for every feature j.
    pub feature: FeatureBound,
    /// y_M: |y| ≤ `response`.
    pub response: ResponseBound,
}

/// A vector of sums that the paper's algorithms ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Release {
    /// Xᵀy over this many features.
    ResponseCorrelation {
        /// How many features.
        features: u32,
    },
    /// XᵀX_j over all features, j included.
    FeatureCorrelation {
        /// How many features, counting j.
        features: u32,
    },
    /// X_kᵀX_j for the features k outside the support, j inside it.
    UnselectedFeatureCorrelation {
        /// How many features are outside the support.
        unselected: u32,
    },
    /// X_jᵀy and X_jᵀX_k for every k of the support, j included.
    SupportRow {
        /// Size of the support, counting j.
        support: u32,
    },
    /// X_kᵀ clip(y − X_S α) for the features k outside the support.
    ClippedGradient {
        /// How many features are outside the support.
        unselected: u32,
        /// Bound on the absolute residual.
        clip: ResidualClip,
    },
}

impl RecordBounds {
    /// How far one record of these bounds can move `release`: the exact supremum.
    ///
    /// # Why
    /// A coordinate x_j·z with |z| ≤ Z moves by at most X_M·Z under zero-out and twice that under
    /// replace-one, and all coordinates reach it together at |x_j| = X_M. The square x_j² lives in
    /// [0, X_M²] and cannot change sign, which the factor F takes into account.
    #[must_use]
    pub fn sensitivity(self, release: Release, relation: Relation) -> L2Sensitivity {
        let (feature, response) = (self.feature.get(), self.response.get());
        let moves = f64::from(relation.sum_moves_by());
        let plain = |coordinates: u32, bound: f64| moves * f64::from(coordinates).sqrt() * bound;
        let with_square = |others: f64| match relation {
            Relation::ZeroOut => feature * feature * (others + 1.0).sqrt(),
            Relation::ReplaceOne => feature * feature * square_aware_factor(others).sqrt(),
        };
        L2Sensitivity(match release {
            Release::ResponseCorrelation { features } => plain(features, feature * response),
            Release::FeatureCorrelation { features } => with_square(f64::from(features) - 1.0),
            Release::UnselectedFeatureCorrelation { unselected } => {
                plain(unselected, feature * feature)
            }
            Release::SupportRow { support } => {
                let ratio = response / feature;
                with_square(ratio * ratio + f64::from(support) - 1.0)
            }
            Release::ClippedGradient { unselected, clip } => {
                plain(unselected, feature * clip.get())
            }
        })
    }

    /// The exact cost of one message that holds a high-noise feature correlation of j beside the
    /// low-noise support row of j.
    ///
    /// # Guarantee
    /// The message is GDP with the returned μ under `relation` for each record.
    ///
    /// # Why
    /// Dividing each coordinate by its noise is a bijection, so the message is one Gaussian
    /// mechanism whose sensitivity is the largest whitened change [DRS19, Thm 2.7].
    ///
    /// # Errors
    /// When the result leaves the range of doubles.
    pub fn batched_cost(
        self,
        message: BatchedMessage,
        relation: Relation,
    ) -> Result<Mu, IllegalQuantity> {
        let (feature, response) = (self.feature.get(), self.response.get());
        let square_noise = message.support_noise.get();
        let unit = feature * feature / square_noise;
        let weight = |noise: NoiseStdDev| (square_noise / noise.get()).powi(2);
        let others = f64::from(message.unselected) * weight(message.unselected_noise)
            + (response / feature).powi(2) * weight(message.response_noise)
            + f64::from(message.support)
            - 1.0;
        let factor = match relation {
            Relation::ZeroOut => others + 1.0,
            Relation::ReplaceOne => square_aware_factor(others),
        };
        Mu::try_from(unit * factor.sqrt())
    }
}

/// One message of SPriFed-OMP: the correlation of the feature just chosen with the unselected
/// features, and its support row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchedMessage {
    /// How many features are outside the support.
    pub unselected: u32,
    /// Size of the support, counting the feature just chosen.
    pub support: u32,
    /// Noise on the correlations with unselected features.
    pub unselected_noise: NoiseStdDev,
    /// Noise on the correlation with the response.
    pub response_noise: NoiseStdDev,
    /// Noise on the correlations within the support.
    pub support_noise: NoiseStdDev,
}

/// F(A): the largest squared change under replace-one of (x_j·z, x_j²) when the other factors z
/// have squared norm A in units of X_M.
///
/// # Notation
/// | code | paper |
/// |---|---|
/// | `others` | A |
///
/// # Why
/// docs/proofs/sensitivity.md#4-real-valued-sensitivities:
/// sup over u, v in [0, 1] of (u+v)²(A + (u−v)²). For A ≥ ½ both records at the bound with
/// opposite signs are worst; below, an unequal pair can be worse because only the square differs.
pub(crate) fn square_aware_factor(others: f64) -> f64 {
    let opposite = 4.0 * others;
    if others >= 0.5 {
        return opposite;
    }
    let smaller = (1.0 - (1.0 - 2.0 * others).sqrt()) / 2.0;
    let unequal = (1.0 + smaller).powi(2) * (others + (1.0 - smaller).powi(2));
    opposite.max(unequal)
}
