//! The parameters of enhanced DP-GCD.

use core::fmt;

use sprifed_query::PlanError;

use super::{check_positive, check_steps};

/// The parameters of enhanced DP-GCD [SPRIFED, Algorithm 5]: j is the feature of largest noisy
/// gradient, α_j ← α_j + η·g′_j with g′_j queried again.
///
/// # Notation
/// | code | meaning |
/// |---|---|
/// | `steps` | T |
/// | `step_size` | n·γ; with one and independent features of unit variance, a step without noise or clipping finds its coefficient |
/// | `clip` | C: limit on a residual in the gradient of all features, in units of the response's scale |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DpGcdParameters {
    /// How many steps.
    pub steps: u32,
    /// The size of each step.
    pub step_size: f64,
    /// Where residuals are clipped. Without meaning under the paper's noise, which does not clip.
    pub clip: f64,
}

impl DpGcdParameters {
    /// Good parameters for certified noise and a model of `sparsity` features: a fifth more steps
    /// than features, rounded up.
    ///
    /// # Why
    /// Chosen as [`super::DpSgdParameters::certified`], from 16 variants. Only the largest gradient
    /// matters here, and a tight clip keeps its place while it saves noise; the coefficient itself
    /// is queried with a wide one.
    #[must_use]
    pub const fn certified(sparsity: u32) -> Self {
        Self {
            steps: sparsity.saturating_add(sparsity.div_ceil(5)),
            step_size: 1.0,
            clip: 0.15,
        }
    }

    /// Good parameters for the paper's noise: γ = 1/n and one step more than there are features.
    #[must_use]
    pub const fn published(sparsity: u32) -> Self {
        Self {
            steps: sparsity.saturating_add(1),
            step_size: 1.0,
            clip: 1.0,
        }
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        check_steps(self.steps)?;
        check_positive("step size", self.step_size)?;
        check_positive("clip", self.clip)
    }
}

impl fmt::Display for DpGcdParameters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "dp-gcd, {} steps of {:.3}, clip {:.3}",
            self.steps, self.step_size, self.clip
        )
    }
}
