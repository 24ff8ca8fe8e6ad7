//! What a whole run of the paper's algorithms costs, by every reading of them.
//!
//! The paper's theorem counts s high-noise releases and 2s low-noise ones. The pseudocode makes
//! s + 1 (or, with its loop taken literally, s + 2) of the first, and the low-noise rows cost
//! (s + 3)/2 rather than 2s. [`Reading::Needed`] is what this project runs: the last column is
//! skipped and only the coordinates that are used are queried.
//!
//! All totals assume noise that is scaled by the public bounds, which the paper's is not.

use serde::{Deserialize, Serialize};

use crate::neighbours::Relation;
use crate::quantity::{IllegalQuantity, Mu};

#[cfg(test)]
mod tests;

/// One of the paper's two algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// SPriFed-OMP, [SPRIFED, Algorithm 3].
    Omp,
    /// SPriFed-OMP-GRAD, [SPRIFED, Algorithm 4].
    Grad,
}

/// A way to count the releases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The paper's theorem: s μ_p² + 2s μ_s². Nominal; no reading of the pseudocode attains it.
    Theorem,
    /// Only the coordinates that are used, the last column skipped.
    Needed,
    /// All p coordinates, s iterations, the last column released although no step reads it.
    AllCoordinates,
    /// The loop `while |S| <= s` taken literally: s + 1 iterations.
    LiteralLoop,
}

/// The numbers that decide what a run costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunShape {
    /// Which algorithm.
    pub algorithm: Algorithm,
    /// p: how many features.
    pub features: u32,
    /// s: how many are to be chosen.
    pub sparsity: u32,
    /// μ_p: the cost of one p-dimensional release.
    pub per_vector: Mu,
    /// μ_s: the cost of s low-noise entries.
    pub per_support: Mu,
}

impl RunShape {
    /// The total μ of a run under `relation` when its noise was made for zero-out.
    ///
    /// # Guarantee
    /// For every reading but [`Reading::Theorem`], a run whose noise is the sensitivity under
    /// zero-out divided by μ_p or μ_s is GDP with the returned μ under `relation`.
    ///
    /// # Why
    /// μ² adds over adaptive rounds [DRS19, Cor. 3.3]. Replace-one at most doubles every round's
    /// sensitivity; see [`Self::exact_replace_one`] for the attained value.
    ///
    /// # Errors
    /// When the total leaves the range of doubles.
    pub fn total(&self, reading: Reading, relation: Relation) -> Result<Mu, IllegalQuantity> {
        let (vectors, rows) = self.release_counts(reading);
        let squared = self.squared(vectors, rows);
        Mu::from_square(f64::from(relation.sum_moves_by()).powi(2) * squared)
    }

    /// The total μ under replace-one, every round at its own maximum, when the noise was made for
    /// zero-out and only needed coordinates are released.
    ///
    /// # Why
    /// As [`Self::total`], but the square in each support row cannot change sign, which makes
    /// the row of the l-th feature cost 4l/s μ_s² instead of 4(l+1)/s μ_s².
    ///
    /// # Errors
    /// When the total leaves the range of doubles.
    pub fn exact_replace_one(&self) -> Result<Mu, IllegalQuantity> {
        let (vectors, _) = self.release_counts(Reading::Needed);
        let rows = (f64::from(self.sparsity) + 1.0) / 2.0;
        Mu::from_square(4.0 * self.squared(vectors, rows))
    }

    fn squared(&self, vectors: f64, rows: f64) -> f64 {
        self.per_vector.get().powi(2) * vectors + self.per_support.get().powi(2) * rows
    }

    /// How many times μ_p² and μ_s² are spent.
    fn release_counts(&self, reading: Reading) -> (f64, f64) {
        let (s, p) = (f64::from(self.sparsity), f64::from(self.features));
        let first_vector = match self.algorithm {
            Algorithm::Omp => 1.0,
            Algorithm::Grad => 0.0,
        };
        match reading {
            Reading::Theorem => (s, 2.0 * s),
            Reading::Needed => (s - s * (s - 1.0) / (2.0 * p), (s + 3.0) / 2.0),
            Reading::AllCoordinates => (s + first_vector, (s + 3.0) / 2.0),
            Reading::LiteralLoop => (s + 1.0 + first_vector, (s + 1.0) * (s + 4.0) / (2.0 * s)),
        }
    }
}
