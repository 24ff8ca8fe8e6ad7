//! Plans with choices, scaled up to fill their budget: composing privacy losses shows that they cost less than zCDP says.

use sprifed_privacy::Rho;
use sprifed_query::{Plan, PlanError};

use crate::setting::Setting;

/// How much more than by zCDP a plan may spend at most, in ρ, and how closely that is searched.
const LARGEST_GAIN: f64 = 1.5;
const SEARCH_STEPS: u32 = 7;

impl Setting {
    /// The ρ that is within the budget by zCDP alone.
    ///
    /// # Errors
    /// When δ is not above the probability that the protocol of the sums fails.
    pub fn least_rho(&self) -> Result<f64, PlanError> {
        Ok(Rho::largest_within(self.noise_budget()?)?.get() * (1.0 - 1e-9))
    }

    /// The plan of the largest ρ that is within the budget, among those of [`Self::least_rho`] and above; `plan_of` makes
    /// the plan that costs a given ρ by zCDP.
    ///
    /// # Guarantee
    /// The plan costs at most the budget, if that of [`Self::least_rho`] does: a larger one is taken only if its own cost is
    /// within the budget.
    ///
    /// # Errors
    /// When the setting makes no sense or there is no such plan.
    pub fn fill_budget(
        &self,
        plan_of: impl Fn(f64) -> Result<Plan, PlanError>,
    ) -> Result<Plan, PlanError> {
        self.check()?;
        let start = self.least_rho()?;
        let mut best = plan_of(start)?;
        let (mut fits, mut exceeds) = (1.0, LARGEST_GAIN);
        for _ in 0..SEARCH_STEPS {
            let middle = f64::midpoint(fits, exceeds);
            let candidate = plan_of(start * middle)?;
            let cost = candidate.spending()?.to_approx_dp(self.budget.delta());
            if cost.is_some_and(|cost| cost.epsilon() <= self.budget.epsilon()) {
                (best, fits) = (candidate, middle);
            } else {
                exceeds = middle;
            }
        }
        Ok(best)
    }
}
