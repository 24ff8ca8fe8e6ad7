//! The baselines that the paper compares with, in the same accounting: DP-SGD with an L1 penalty and
//! the enhanced DP-GCD. A third one, DP-IHT, is not in the paper: the closest rival of argmax OMP in the literature.
//!
//! The first two descend along private gradients of all features. DP-SGD moves every coefficient and shrinks
//! it (a noisy proximal gradient step); DP-GCD moves the one of largest gradient, queried again
//! with less noise. All three end alike: the strongest s features are refitted by one question for their
//! second moments, and the clip follows one private scale of the response.
//!
//! Here the noise is what a budget buys. The same two with the paper's noise, which protects no
//! record, are [`crate::PaperDescent`].
//!
//! There are no mini-batches ([`Batch`] says why), and no parameter is looked for in the data unless
//! that is paid for ([`Tuned`]).

mod descent;
mod dp_gcd;
mod dp_iht;
mod dp_sgd;
mod iterate;
mod refit;
mod schedule;
mod tuned;

use core::fmt;

use sprifed_query::{Plan, PlanError};

pub use descent::Descent;
pub use dp_gcd::DpGcdParameters;
pub use dp_iht::{DpIht, plan_dp_iht};
pub use dp_sgd::{Batch, DpSgdParameters};
pub(crate) use iterate::Iterate;
use schedule::DescentCosts;
pub use tuned::{Chosen, Tuned};

use sprifed_recovery::Setting;

#[cfg(test)]
mod tests;

/// A baseline and its parameters, all of them public before any record is touched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Baseline {
    /// Noisy proximal gradient steps with an L1 penalty.
    DpSgd(DpSgdParameters),
    /// Greedy coordinate descent [SPRIFED, Algorithm 5].
    DpGcd(DpGcdParameters),
}

impl Baseline {
    /// The public plan for `setting`.
    ///
    /// # Guarantee
    /// The plan costs at most the budget, under the setting's relation.
    ///
    /// # Errors
    /// When a parameter is illegal, mini-batches are requested or no grid exists.
    pub fn plan(&self, setting: &Setting) -> Result<Plan, PlanError> {
        let costs = DescentCosts::of(setting, self, setting.total_mu()?)?;
        Ok(setting.plan(self.title(), costs.steps(setting, self)?))
    }

    /// How many gradients of all features are queried.
    #[must_use]
    pub const fn steps(&self) -> u32 {
        match self {
            Self::DpSgd(parameters) => parameters.steps,
            Self::DpGcd(parameters) => parameters.steps,
        }
    }

    /// The limit on a residual in gradients, in units of the response's scale.
    const fn clip(&self) -> f64 {
        match self {
            Self::DpSgd(parameters) => parameters.clip,
            Self::DpGcd(parameters) => parameters.clip,
        }
    }

    /// Refuses parameters that make no sense.
    ///
    /// # Errors
    /// When a number is out of range or mini-batches are requested.
    pub fn check(&self) -> Result<(), PlanError> {
        match self {
            Self::DpSgd(parameters) => parameters.check(),
            Self::DpGcd(parameters) => parameters.check(),
        }
    }

    const fn title(&self) -> &'static str {
        match self {
            Self::DpSgd(_) => "DP-SGD with L1",
            Self::DpGcd(_) => "enhanced DP-GCD",
        }
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DpSgd(parameters) => write!(formatter, "{parameters}"),
            Self::DpGcd(parameters) => write!(formatter, "{parameters}"),
        }
    }
}

/// Refuses a number of steps that is not from 1 to 10,000.
fn check_steps(steps: u32) -> Result<(), PlanError> {
    if (1..=10_000).contains(&steps) {
        return Ok(());
    }
    Err(PlanError::Request {
        found: format!("{steps} steps"),
        required: "from 1 to 10000 are possible".to_owned(),
    })
}

/// Refuses what is not finite and above zero.
fn check_positive(name: &str, value: f64) -> Result<(), PlanError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(PlanError::Request {
        found: format!("a {name} of {value}"),
        required: "it must be finite and above zero".to_owned(),
    })
}
