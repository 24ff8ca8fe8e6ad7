//! Questions about the privacy budget, answered without any data.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{
    ApproxDp, ClipNorm, Delta, Epsilon, IllegalQuantity, Mu, RangeBound, Relation, Rho,
    compose_selections,
};

/// How a number that has no end was cut off; always towards the weaker claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounded {
    /// A cost.
    Up,
    /// What a budget buys.
    Down,
}

/// A cost in one of the two currencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Currency {
    /// μ of Gaussian differential privacy.
    Gaussian(Mu),
    /// ρ of zero-concentrated differential privacy.
    Concentrated(Rho),
}

impl Currency {
    const fn mu(self) -> Option<Mu> {
        match self {
            Self::Gaussian(mu) => Some(mu),
            Self::Concentrated(_) => None,
        }
    }

    const fn rho(self) -> Option<Rho> {
        match self {
            Self::Gaussian(_) => None,
            Self::Concentrated(rho) => Some(rho),
        }
    }

    /// The δ that this cost gives at `epsilon`.
    #[must_use]
    pub fn delta_at(self, epsilon: Epsilon) -> DeltaAnswer {
        let log_delta = match self {
            Self::Gaussian(mu) => mu.log_delta(epsilon),
            Self::Concentrated(rho) => rho.log_delta(epsilon),
        };
        DeltaAnswer {
            mu: self.mu(),
            rho: self.rho(),
            epsilon,
            // Towards the weaker claim, also where a double cannot hold so small a number.
            delta: (log_delta.exp() * (1.0 + 1e-12)).clamp(f64::MIN_POSITIVE, 1.0),
            log_delta,
            rounded: Rounded::Up,
        }
    }

    /// The ε that this cost gives at `delta`.
    #[must_use]
    pub fn epsilon_at(self, delta: Delta) -> EpsilonAnswer {
        let guarantee = match self {
            Self::Gaussian(mu) => mu.to_approx_dp(delta),
            Self::Concentrated(rho) => rho.to_approx_dp(delta),
        };
        EpsilonAnswer {
            mu: self.mu(),
            rho: self.rho(),
            delta,
            epsilon: guarantee.epsilon(),
            rounded: Rounded::Up,
        }
    }
}

/// The δ of a cost at an ε.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeltaAnswer {
    /// μ, if that was given.
    pub mu: Option<Mu>,
    /// ρ, if that was given.
    pub rho: Option<Rho>,
    /// ε.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: f64,
    /// The natural logarithm of δ; null if δ is smaller than any power that a double can state.
    #[schemars(with = "Option<f64>")]
    pub log_delta: f64,
    /// How δ was rounded.
    pub rounded: Rounded,
}

/// The ε of a cost at a δ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EpsilonAnswer {
    /// μ, if that was given.
    pub mu: Option<Mu>,
    /// ρ, if that was given.
    pub rho: Option<Rho>,
    /// δ.
    pub delta: Delta,
    /// ε.
    pub epsilon: Epsilon,
    /// How ε was rounded.
    pub rounded: Rounded,
}

/// What an (ε, δ) budget buys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MuAnswer {
    /// ε.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
    /// The largest μ within both.
    pub mu: Mu,
    /// The largest ρ within both; absent at ε = 0.
    pub rho: Option<Rho>,
    /// How μ and ρ were rounded.
    pub rounded: Rounded,
    /// The noise that a sum of clipped contributions needs, if the clip was given.
    pub noise_std_dev: Option<NoiseAnswer>,
}

/// The standard deviation of the noise, by relation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NoiseAnswer {
    /// One record becomes zero.
    #[serde(rename = "zero-out")]
    pub zero_out: f64,
    /// One record is replaced.
    #[serde(rename = "replace-one")]
    pub replace_one: f64,
}

impl MuAnswer {
    /// The largest μ and ρ within `target`, and the noise for contributions clipped to `clip`.
    ///
    /// # Errors
    /// When the budget is too small to be a cost.
    pub fn within(target: ApproxDp, clip: Option<ClipNorm>) -> Result<Self, IllegalQuantity> {
        let mu = Mu::largest_within(target)?;
        let has_rho = target.epsilon().get() > 0.0;
        let noise = |clip: ClipNorm| -> Result<NoiseAnswer, IllegalQuantity> {
            let zero_out = clip.sum_sensitivity(Relation::ZeroOut);
            let replace_one = clip.sum_sensitivity(Relation::ReplaceOne);
            Ok(NoiseAnswer {
                zero_out: zero_out.noise_for(mu)?.get(),
                replace_one: replace_one.noise_for(mu)?.get(),
            })
        };
        Ok(Self {
            epsilon: target.epsilon(),
            delta: target.delta(),
            mu,
            rho: has_rho.then(|| Rho::largest_within(target)).transpose()?,
            rounded: Rounded::Down,
            noise_std_dev: clip.map(noise).transpose()?,
        })
    }
}

/// What several releases cost together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComposeAnswer {
    /// μ of the Gaussian releases together.
    pub mu: Option<Mu>,
    /// ρ of everything, by zCDP alone.
    pub rho: Rho,
    /// δ.
    pub delta: Delta,
    /// ε by the smallest of the sound routes.
    pub epsilon: Epsilon,
    /// ε by zCDP alone.
    pub epsilon_by_zcdp: Epsilon,
    /// How ε was rounded.
    pub rounded: Rounded,
}

impl ComposeAnswer {
    /// The cost of Gaussian releases and selections, each as often as it says; none if there are none.
    ///
    /// # Errors
    /// When the cost is not a number that can be written down.
    pub fn of(
        gaussian: &[(Mu, NonZeroU32)],
        selections: &[(RangeBound, NonZeroU32)],
        delta: Delta,
    ) -> Result<Option<Self>, IllegalQuantity> {
        if gaussian.is_empty() && selections.is_empty() {
            return Ok(None);
        }
        let repeated = gaussian.iter().map(|(mu, count)| mu.repeated(*count));
        let mu = repeated.reduce(Mu::compose);
        let mut rho = mu.map_or(0.0, |mu| mu.to_rho().get());
        for (range, count) in selections {
            rho += f64::from(count.get()) * range.to_rho()?.get();
        }
        let rho = Rho::try_from(rho)?;
        let ranges: Vec<_> = selections
            .iter()
            .map(|(range, count)| (*range, count.get()))
            .collect();
        let guarantee = match mu {
            Some(mu) if ranges.is_empty() => mu.to_approx_dp(delta),
            _ => compose_selections(&ranges, mu, delta),
        };
        Ok(Some(Self {
            mu,
            rho,
            delta,
            epsilon: guarantee.epsilon(),
            epsilon_by_zcdp: rho.to_approx_dp(delta).epsilon(),
            rounded: Rounded::Up,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_budget_buys_costs_no_more_than_the_budget() {
        let target = ApproxDp::new(
            Epsilon::try_from(1.0).unwrap(),
            Delta::try_from(1e-6).unwrap(),
        );
        let bought = MuAnswer::within(target, None).unwrap();
        let cost = Currency::Gaussian(bought.mu).epsilon_at(target.delta());
        // Both are rounded towards the weaker claim.
        assert!(cost.epsilon.get() <= 1.0 + 1e-9, "{cost:?}");
        let delta = Currency::Gaussian(bought.mu).delta_at(target.epsilon());
        assert!(delta.delta <= 1e-6 * (1.0 + 1e-9), "{delta:?}");
    }

    #[test]
    fn nothing_composes_to_nothing() {
        let delta = Delta::try_from(1e-6).unwrap();
        assert_eq!(ComposeAnswer::of(&[], &[], delta), Ok(None));
        let mu = Mu::try_from(0.4).unwrap();
        let ten = NonZeroU32::new(10).unwrap();
        let together = ComposeAnswer::of(&[(mu, ten)], &[], delta);
        let together = together.unwrap().unwrap();
        assert_eq!(together.mu, Some(mu.repeated(ten)));
    }
}
