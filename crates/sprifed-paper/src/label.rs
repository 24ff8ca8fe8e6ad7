//! The privacy label of a run: claimed and delivered.

use sprifed_privacy::paper::{Claim, NominalCounts, claims};
use sprifed_privacy::{ApproxDp, Delta, Mu};

use crate::cell::{Cell, DELTA, Noise};
use crate::contender::Contender;
use crate::method::{AnyMethod, MethodError, PaperAlgorithm};

/// Claimed and delivered ε, with the text shown for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Label {
    pub(crate) claimed: Option<f64>,
    pub(crate) zero_out: Option<f64>,
    pub(crate) replace_one: Option<f64>,
    pub(crate) delta: Option<f64>,
    pub(crate) text: String,
}

/// The text for runs without noise.
pub(crate) const NO_NOISE: &str = "NOT PRIVATE: no noise";

impl Label {
    /// The label of a run without noise.
    pub(crate) fn no_noise() -> Self {
        Self {
            text: NO_NOISE.to_owned(),
            ..Self::default()
        }
    }

    /// The label of a cell that `method` runs.
    pub(crate) fn of(cell: &Cell, method: &AnyMethod) -> Result<Self, MethodError> {
        match (cell.noise, cell.contender, method) {
            (Noise::Paper { claimed, .. }, contender, _) if is_gradient(contender) => {
                Ok(Self::unbounded(claimed, DELTA))
            }
            (
                Noise::Paper {
                    per_vector,
                    per_support,
                    claimed,
                },
                _,
                _,
            ) => Self::of_paper(
                cell.world.sparsity,
                per_vector,
                per_support,
                (claimed, DELTA),
                None,
            ),
            (Noise::Certified { budget, .. }, _, AnyMethod::Certified(certified)) => {
                let spending = certified
                    .plan
                    .spending()
                    .map_err(|error| MethodError::from(sprifed_query::PlanError::from(error)))?;
                let delta = budget.delta();
                let sums = spending.sums().and_then(|sums| sums.mu().ok());
                let doubled = sums
                    .filter(|_| spending.selections().is_empty())
                    .and_then(|mu| Mu::try_from(2.0 * mu.get()).ok());
                Ok(Self {
                    claimed: Some(budget.epsilon().get()),
                    zero_out: spending
                        .to_approx_dp(delta)
                        .map(|total| total.epsilon().get()),
                    replace_one: doubled.map(|mu| mu.to_approx_dp(delta).epsilon().get()),
                    delta: Some(delta.get()),
                    text: "certified under zero-out, if the noise were secret".to_owned(),
                })
            }
            _ => Ok(Self::no_noise()),
        }
    }

    /// SPriFed-OMP as published, on data within `bounds` (the paper's rescaling if absent).
    pub(crate) fn of_paper(
        sparsity: usize,
        per_vector: Mu,
        per_support: Mu,
        (claimed, delta): (f64, f64),
        bounds: Option<(f64, f64)>,
    ) -> Result<Self, MethodError> {
        let first = claims()[0];
        let claim = Claim {
            sparsity: u32::try_from(sparsity).ok(),
            shares: (per_vector.get(), per_support.get()),
            bounds: bounds.or(first.bounds),
            ..first
        };
        let wrong = |error| MethodError::from(sprifed_query::PlanError::Quantity(error));
        let mu = claim.delivered_zero_out().map_err(wrong)?;
        let twice = mu.and_then(|mu| Mu::try_from(2.0 * mu.get()).ok());
        let at = Delta::try_from(delta).map_err(wrong)?;
        let priced = |mu: Option<Mu>| mu.map(|mu| mu.to_approx_dp(at).epsilon().get());
        let (zero_out, replace_one) = (priced(mu), priced(twice));
        Ok(Self {
            claimed: Some(claimed),
            zero_out,
            replace_one,
            delta: Some(delta),
            text: "NOT PRIVATE as claimed".to_owned(),
        })
    }

    /// Gradients of residuals without clipping, as published: no ε is delivered.
    pub(crate) fn unbounded(claimed: f64, delta: f64) -> Self {
        Self {
            claimed: Some(claimed),
            delta: Some(delta),
            text: "NOT PRIVATE: the residual is not clipped, so no epsilon is delivered".to_owned(),
            ..Self::default()
        }
    }

    /// The ε that the paper's OMP delivers under zero-out for this sparsity: the budget at which
    /// ours are compared with it.
    pub(crate) fn delivered(sparsity: usize) -> Result<f64, MethodError> {
        let wrong = |error| MethodError::from(sprifed_query::PlanError::Quantity(error));
        let noise = Noise::paper(sparsity, 0.0).map_err(wrong)?;
        let Noise::Paper {
            per_vector,
            per_support,
            ..
        } = noise
        else {
            return Ok(f64::NAN);
        };
        let label = Self::of_paper(sparsity, per_vector, per_support, (0.0, DELTA), None)?;
        Ok(label.zero_out.unwrap_or(f64::NAN))
    }
}

/// Whether residuals enter, which the paper does not clip on generated data.
pub(crate) const fn is_gradient(contender: Contender) -> bool {
    matches!(
        contender,
        Contender::Paper(PaperAlgorithm::Grad) | Contender::PaperDpGcd | Contender::PaperDpSgd
    )
}

/// ε of the theorem's formula, recomputed. Nominal.
pub(crate) fn theorem(claim: &Claim) -> Option<ApproxDp> {
    let counts = NominalCounts {
        sparsity: claim.sparsity?,
        per_vector: Mu::try_from(claim.shares.0).ok()?,
        per_support: Mu::try_from(claim.shares.1).ok()?,
    };
    let delta = Delta::try_from(claim.claimed.1).ok()?;
    Some(counts.theorem().ok()?.to_approx_dp(delta))
}
