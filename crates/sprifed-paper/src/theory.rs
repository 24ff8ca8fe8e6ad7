//! The paper's theorems as calculators.
//!
//! They say what the theorems demand and promise for given numbers, so that a forecast can print
//! the theorem's answer beside a simulated one. They are very conservative, they need quantities
//! that are unknown before a study (the model, the isometry constant), and several of their
//! constants are stated twice and differently. Nothing here is read by a plan, a ledger or a
//! certificate.
//!
//! Theorems and lemmas share one counter in the paper: Lemma 5 is B_C, Theorems 7 and 8 are the
//! recovery of SPriFed-OMP and SPriFed-OMP-GRAD, 9 the estimation error, 10 the risk.

mod error;
mod gradient_bound;
mod isometry;
mod recovery;

pub use error::{ErrorBound, estimation_error, risk};
pub use gradient_bound::{GradientBound, gradient_bound};
pub use isometry::{IsometryEstimate, estimate_isometry};
pub use recovery::{Demand, Recovery, Requirement, gradient_recovery, omp_recovery};

use sprifed_privacy::Mu;

/// The numbers that the theorems are about.
///
/// # Notation
/// | code | paper |
/// |---|---|
/// | `isometry_constant` | ζ_{s+1} |
/// | `residual_std_dev` | σ_ε |
/// | `model_norm`, `smallest_coefficient`, `largest_coefficient` | ‖α_*‖₂, min\|α_j\| and max\|α_j\| over S_* |
/// | `feature_bound`, `response_bound` | X_M, y_M |
/// | `per_vector`, `per_support` | μ_p, μ_s |
/// | `failure_probability` | p_b |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation {
    /// n: how many records.
    pub n_records: u32,
    /// p: how many features.
    pub n_features: u32,
    /// s: how many of them are active.
    pub sparsity: u32,
    /// How far s + 1 columns of X/√n are from orthonormal.
    pub isometry_constant: f64,
    /// The standard deviation of the response's error.
    pub residual_std_dev: f64,
    /// The Euclidean norm of the true coefficients.
    pub model_norm: f64,
    /// The smallest absolute true coefficient.
    pub smallest_coefficient: f64,
    /// The largest absolute true coefficient.
    pub largest_coefficient: f64,
    /// Bound on |x_j|.
    pub feature_bound: f64,
    /// Bound on |y|.
    pub response_bound: f64,
    /// The cost of one p-dimensional release.
    pub per_vector: Mu,
    /// The cost of s low-noise entries.
    pub per_support: Mu,
    /// The base probability of failure, a small positive number.
    pub failure_probability: f64,
}

/// Which of two versions of a constant is meant where the paper gives two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// As stated with the theorem, in section 5.
    Stated,
    /// As derived in the appendix.
    Derived,
}

impl Situation {
    fn size(&self) -> f64 {
        f64::from(self.sparsity)
    }

    fn records(&self) -> f64 {
        f64::from(self.n_records)
    }

    /// κ_ε = σ_ε·√(2 ln(2n/p_b)): the largest of n errors.
    fn largest_error(&self) -> f64 {
        self.residual_std_dev * self.largest_of(self.records())
    }

    /// √(2 ln(2k/p_b)): the largest of k standard normal numbers [SPRIFED, Lemma 36].
    fn largest_of(&self, count: f64) -> f64 {
        (2.0 * (2.0 * count / self.failure_probability).ln()).sqrt()
    }

    /// 1 + νζ with the least ν that the paper allows, 1/(1 − ζ): it is then equal to 1/(1 − ζ).
    fn inverse(&self) -> f64 {
        1.0 / (1.0 - self.isometry_constant)
    }

    /// C₁: an s×s matrix of standard normal numbers has norm at most C₁√s but with probability p_b.
    ///
    /// # Why
    /// The paper asks for such a constant and gives none. By Davidson and Szarek the norm exceeds
    /// 2√s + t with probability at most exp(−t²/2). (The paper's noise matrix is symmetric, not
    /// independent in all entries; its norm concentrates at the same 2√s.)
    fn matrix_constant(&self) -> f64 {
        2.0 + (-2.0 * self.failure_probability.ln() / self.size()).sqrt()
    }
}
