//! What one run promises: certified, nominal by the paper's formula, or nothing.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed::{NoGuarantee, TrialGuarantee};
use sprifed_privacy::paper::{Claim, NominalCounts, claims};
use sprifed_privacy::{Delta, Epsilon, IllegalQuantity, Mu};

use super::TrialsRequest;
use crate::baseline::Baseline;
use crate::method::PaperAlgorithm;

/// What one run promises.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnyGuarantee {
    /// With certified noise.
    Certified(TrialGuarantee),
    /// With the paper's noise.
    Nominal(NominalGuarantee),
    /// Without noise.
    None(NoGuarantee),
}

impl From<TrialGuarantee> for AnyGuarantee {
    fn from(guarantee: TrialGuarantee) -> Self {
        Self::Certified(guarantee)
    }
}

impl From<NominalGuarantee> for AnyGuarantee {
    fn from(guarantee: NominalGuarantee) -> Self {
        Self::Nominal(guarantee)
    }
}

impl From<NoGuarantee> for AnyGuarantee {
    fn from(guarantee: NoGuarantee) -> Self {
        Self::None(guarantee)
    }
}

/// What the paper's formula gives, beside what its noise delivers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NominalGuarantee {
    /// Always `paper-compatible`.
    pub mode: &'static str,
    /// That it is no guarantee.
    pub label: &'static str,
    /// What the formula gives.
    pub claimed: Claimed,
    /// What the noise delivers; absent if the formula has no counterpart.
    pub delivered: Option<Delivered>,
}

/// What the paper's formula gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Claimed {
    /// μ.
    pub mu: Mu,
    /// ε at δ.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
}

/// A cost in both currencies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Priced {
    /// μ.
    pub mu: Mu,
    /// ε at the δ of the comparison.
    pub epsilon: Epsilon,
}

impl Priced {
    /// `mu` and what it converts to at `delta`.
    #[must_use]
    pub fn of(mu: Mu, delta: Delta) -> Self {
        let epsilon = mu.to_approx_dp(delta).epsilon();
        Self { mu, epsilon }
    }
}

/// What the paper's noise delivers, by relation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Delivered {
    /// One record becomes zero.
    #[serde(rename = "zero-out")]
    pub zero_out: Option<Priced>,
    /// One record is replaced.
    #[serde(rename = "replace-one")]
    pub replace_one: Option<Priced>,
    /// Why nothing is delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

impl Delivered {
    /// What is delivered where nothing bounds a record.
    const UNBOUNDED: Self = Self {
        zero_out: None,
        replace_one: None,
        reason: Some("the residual is not clipped, so one record can move a sum without bound"),
    };
}

impl TrialsRequest {
    /// What the paper's theorem gives for one of its algorithms.
    pub(super) fn nominal(
        &self,
        algorithm: PaperAlgorithm,
    ) -> Result<NominalGuarantee, IllegalQuantity> {
        let (per_vector, delta) = (self.per_vector()?, self.budget.delta());
        let nominal = NominalCounts {
            sparsity: u32::try_from(self.world.sparsity).unwrap_or(u32::MAX),
            per_vector,
            per_support: self.per_support,
        }
        .theorem()?;
        Ok(NominalGuarantee {
            mode: "paper-compatible",
            label: "NOMINAL (paper formula, not a DP guarantee)",
            claimed: Claimed {
                mu: nominal,
                epsilon: nominal.to_approx_dp(delta).epsilon(),
                delta,
            },
            delivered: match algorithm {
                PaperAlgorithm::Grad => Some(Delivered::UNBOUNDED),
                PaperAlgorithm::Omp | PaperAlgorithm::OmpReusing => self.delivered(per_vector)?,
            },
        })
    }

    /// What the paper's formula gives for a baseline: T·μ_p² for DP-SGD, scaled to s·μ_p², beside
    /// 2s·μ_s² for its refit; 2T·μ_p² for DP-GCD.
    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    pub(super) fn nominal_baseline(
        &self,
        baseline: &Baseline,
    ) -> Result<NominalGuarantee, IllegalQuantity> {
        let (per_vector, delta) = (self.per_vector()?.get(), self.budget.delta());
        let (sparsity, per_support) = (self.world.sparsity as f64, self.per_support.get());
        let square = match baseline {
            Baseline::DpSgd(_) => sparsity * (per_vector.powi(2) + 2.0 * per_support.powi(2)),
            Baseline::DpGcd(parameters) => 2.0 * f64::from(parameters.steps) * per_vector.powi(2),
        };
        let nominal = Mu::try_from(square.sqrt())?;
        Ok(NominalGuarantee {
            mode: "paper-compatible",
            label: "NOMINAL (paper formula, not a DP guarantee): NOT PRIVATE",
            claimed: Claimed {
                mu: nominal,
                epsilon: nominal.to_approx_dp(delta).epsilon(),
                delta,
            },
            delivered: Some(Delivered::UNBOUNDED),
        })
    }

    fn delivered(&self, per_vector: Mu) -> Result<Option<Delivered>, IllegalQuantity> {
        let claim = Claim {
            sparsity: u32::try_from(self.world.sparsity).ok(),
            shares: (per_vector.get(), self.per_support.get()),
            ..claims()[0]
        };
        let Some(mu) = claim.delivered_zero_out()? else {
            return Ok(None);
        };
        let (twice, delta) = (Mu::try_from(2.0 * mu.get())?, self.budget.delta());
        Ok(Some(Delivered {
            zero_out: Some(Priced::of(mu, delta)),
            replace_one: Some(Priced::of(twice, delta)),
            reason: None,
        }))
    }
}
