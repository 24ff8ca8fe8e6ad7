//! One block of a secure sum: its integers, their bounds, and the noise on each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::neighbours::Relation;
use crate::rational::NoiseVariance;

#[cfg(test)]
mod tests;

/// The set of integer vectors to which every contribution is clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum IntegerBounds {
    /// Every coordinate lies in [−bound, bound]; those that are squares, the last ones of the
    /// block, in [0, bound].
    Box {
        /// B: the largest absolute value of a coordinate.
        bound: u64,
        /// How many coordinates are squares and cannot be negative.
        squares: u32,
    },
    /// As the box, and the squared Euclidean norm is bounded too.
    Ball {
        /// B: the largest absolute value of a coordinate.
        bound: u64,
        /// The largest squared norm.
        squared_norm: u64,
    },
}

impl IntegerBounds {
    /// The largest absolute value of a coordinate.
    #[must_use]
    pub const fn coordinate_bound(self) -> u64 {
        match self {
            Self::Box { bound, .. } | Self::Ball { bound, .. } => bound,
        }
    }
}

/// Some coordinates of a sum that share a grid and a noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The question of the block, as the plan words it.
    pub name: String,
    /// How many coordinates.
    pub coordinates: u32,
    /// The set to which one privacy unit's contribution is clamped.
    pub bounds: IntegerBounds,
    /// The discrete Gaussian that every noise share draws on every coordinate.
    pub share_variance: NoiseVariance,
}

impl Block {
    /// Δ²: the squared Euclidean distance that one privacy unit can move the integer sum.
    ///
    /// # Guarantee
    /// Never below the largest distance within the set of [`IntegerBounds`], and equal to it for a
    /// box, whatever the data and however they were rounded; `None` when it does not fit 128 bits
    /// or there are more squares than coordinates.
    ///
    /// # Why
    /// docs/proofs/sensitivity.md. Under zero-out the sum moves by one contribution. Under replace-one it moves by a
    /// difference of two: a signed coordinate by at most 2B, a square by at most B, a ball of
    /// radius r by at most 2r.
    #[must_use]
    pub fn squared_sensitivity(&self, relation: Relation) -> Option<u128> {
        let doubled = u128::from(relation.sum_moves_by()).pow(2);
        match self.bounds {
            IntegerBounds::Box { bound, squares } => {
                let signed = u128::from(self.coordinates.checked_sub(squares)?);
                let range = u128::from(bound).checked_pow(2)?;
                let weight = signed
                    .checked_mul(doubled)?
                    .checked_add(u128::from(squares))?;
                range.checked_mul(weight)
            }
            IntegerBounds::Ball { squared_norm, .. } => {
                u128::from(squared_norm).checked_mul(doubled)
            }
        }
    }
}
