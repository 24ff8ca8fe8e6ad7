//! The paper's two algorithms as procedures: SPriFed-OMP and SPriFed-OMP-GRAD.
//!
//! Both run in two ways that must not be mixed up. *Honest*: limits are enforced on every record,
//! the noise is what a budget buys for them, and a certified plan says so ([`plan_honest_omp`],
//! [`plan_honest_gradient`]). *As published*: noise as the pseudocode says, from a backend for
//! simulation ([`crate::PaperBackend`]); it reproduces the paper's tables and protects no record.
//!
//! Two slips of the pseudocode are repaired in both. Its loop `while |S| <= s` picks s + 1
//! features; here s are picked. It asks for the correlations of the last pick with all features,
//! which no step reads; here they are not queried. See [`sprifed_privacy::Reading::Needed`].
//!
//! Its two baselines, DP-SGD and DP-GCD, are here as published only ([`PaperDescent`]); with certified
//! noise they are [`crate::Baseline`].
//!
//! No algorithm here has an intercept, and none is what users should run: they are here for
//! comparison.

mod descent;
mod gradient;
mod honest;
mod omp;
mod private_ols;

pub use descent::PaperDescent;
pub use gradient::PaperGradient;
pub use honest::{plan_honest_gradient, plan_honest_omp, plan_honest_reusing};
pub use omp::PaperOmp;

use sprifed_recovery::Setting;

#[cfg(test)]
mod tests;

/// The residual of GRAD is clipped at this fraction of the response's limit.
///
/// # Why
/// Clipping the residual tightly costs little signal and saves noise in proportion. With y limited
/// to one standard deviation, fractions 1, 0.5 and 0.3 recovered 0.83, 0.93 and 0.93 of the
/// support (p = 2500, s = 5, n = 3125) and 0.90, 0.96 and 0.98 (s = 10, n = 8076).
const RESIDUAL_FRACTION: f64 = 0.5;

/// What every record's factors are clipped at: X_M, y_M and the clip that replaces B_C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// X_M: limit on |x_j|.
    pub feature: f64,
    /// y_M: limit on |y|.
    pub response: f64,
    /// C: limit on the absolute residual of GRAD.
    pub residual: f64,
}

impl Limits {
    /// The public bounds of `setting`.
    ///
    /// # Why
    /// Noise grows with the limits, so they should be tight: one standard deviation of a feature
    /// and of the response is best for recovery in simulations. A caller that knows such scales
    /// publicly passes them as bounds, or as limits of their own.
    #[must_use]
    pub fn of(setting: &Setting) -> Self {
        Self {
            feature: setting.feature_bound,
            response: setting.response_bound,
            residual: RESIDUAL_FRACTION * setting.response_bound,
        }
    }

    /// X_M = y_M = 1 and B_C = 1, which the paper's noise is written for.
    ///
    /// With these, answers of a backend that does not clip are in the units of the data.
    #[must_use]
    pub const fn of_paper() -> Self {
        Self {
            feature: 1.0,
            response: 1.0,
            residual: 1.0,
        }
    }
}

/// Where the least squares of SPriFed-OMP take their second moments from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupportNoise {
    /// From fresh sums of lower noise: Enhancement 1, the algorithm as it is meant.
    Fresh,
    /// From the noisy correlations that were queried anyway: Enhancement 1 off, the ablation of
    /// the paper's first table.
    Reused,
}

/// How noisy normal equations are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Eigenvalues below the noise are raised to it first.
    Repaired,
    /// As they are, as the paper does: an eigenvalue near zero becomes an enormous coefficient.
    Plain,
}
