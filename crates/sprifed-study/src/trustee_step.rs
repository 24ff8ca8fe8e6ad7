//! From a step of the plan to what three trustees compute: candidates, widths, modulus.
//!
//! Everything here is public and depends on the plan and on how many units each client may hold, so
//! trustees, clients and a forecast of costs come to the same circuit.

use num_rational::Ratio;
use sprifed_privacy::{
    Gates, IllegalModulus, IntegerBounds, LOG_WRAP_PROBABILITY, NoiseOrigin, SumSize,
};
use sprifed_query::{Plan, PlannedChoice, PlannedStep, PlannedSum};
use sprifed_trustees::{ChoiceStep, IllegalStep, Link, NormBlock, Step, SumStep};

/// A step that trustees cannot compute.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalTrusteeStep {
    /// The plan's noise is not theirs.
    #[error("the noise of the plan does not come from trustees; plan for the backend `trustees`")]
    OtherOrigin,
    /// The noise of a choice has a rate that they do not deal.
    #[error(
        "the choice {purpose:?} has noise that trustees do not deal; plan for the backend `trustees`"
    )]
    OtherLaw {
        /// Which choice.
        purpose: String,
    },
    /// Too many candidates or bits.
    #[error(transparent)]
    Step(#[from] IllegalStep),
    /// No modulus is large enough.
    #[error(transparent)]
    Modulus(#[from] IllegalModulus),
}

/// What trustees compute in a step of `plan`, where each client holds at most so many `units`.
///
/// # Errors
/// When the noise of the plan is not theirs, or numbers would be too wide.
pub fn trustee_step(
    plan: &Plan,
    planned: &PlannedStep,
    units: &[u32],
) -> Result<Step, IllegalTrusteeStep> {
    if plan.origin != NoiseOrigin::Trustees {
        return Err(IllegalTrusteeStep::OtherOrigin);
    }
    match planned {
        PlannedStep::Choice(choice) => choice_step(choice, units),
        PlannedStep::Sum(sum) => sum_step(sum, plan.coordinates(), units),
    }
}

/// As [`trustee_step`], with all gates proved before anything is opened, and the norms of a sum's blocks verified.
///
/// # Errors
/// As [`trustee_step`].
pub fn proved_trustee_step(
    plan: &Plan,
    planned: &PlannedStep,
    units: &[u32],
) -> Result<Step, IllegalTrusteeStep> {
    let step = match (trustee_step(plan, planned, units)?, planned) {
        (Step::Sum(step), PlannedStep::Sum(sum)) => {
            Step::Sum(step.with_norms(norm_blocks(sum, units))?)
        }
        (step, _) => step,
    };
    Ok(step.proved())
}

/// [`proved_trustee_step`] or [`trustee_step`], as the trustees of a study have agreed.
///
/// # Errors
/// As [`trustee_step`].
pub fn step_with(
    gates: Gates,
    plan: &Plan,
    planned: &PlannedStep,
    units: &[u32],
) -> Result<Step, IllegalTrusteeStep> {
    match gates {
        Gates::Proved => proved_trustee_step(plan, planned, units),
        Gates::Unproved => trustee_step(plan, planned, units),
    }
}

/// The blocks with a bound of the norm. A client's numbers are sums over its units, so their norm is at most so many
/// times that of one unit.
fn norm_blocks(sum: &PlannedSum, units: &[u32]) -> Vec<NormBlock> {
    let mut start = 0;
    let mut norms = Vec::new();
    for planned in &sum.blocks {
        let end = start + planned.block.coordinates;
        if let IntegerBounds::Ball { squared_norm, .. } = planned.block.bounds {
            let square = |units: &u32| u128::from(*units).pow(2) * u128::from(squared_norm);
            norms.push(NormBlock {
                coordinates: start..end,
                squares: units.iter().map(square).collect(),
            });
        }
        start = end;
    }
    norms
}

fn choice_step(choice: &PlannedChoice, units: &[u32]) -> Result<Step, IllegalTrusteeStep> {
    let (numerator, denominator) = choice.purchase.noise_rate;
    let rate = Ratio::new_raw(numerator, denominator);
    let noise_bits = choice.purchase.law.share_bits(rate);
    let noise_bits = noise_bits.ok_or_else(|| IllegalTrusteeStep::OtherLaw {
        purpose: choice.purpose.clone(),
    })?;
    let bits = client_bits(units, u64::from(choice.score_steps()));
    let candidates = choice.purchase.candidates;
    let step = ChoiceStep::new(candidates, bits, noise_bits, Link::default())?;
    Ok(Step::Choice(step))
}

fn sum_step(
    sum: &PlannedSum,
    study_coordinates: u64,
    units: &[u32],
) -> Result<Step, IllegalTrusteeStep> {
    let (mut bits, mut widest) = (1, 1);
    let all: u128 = units.iter().map(|units| u128::from(*units)).sum();
    for planned in &sum.blocks {
        let bound = planned.block.bounds.coordinate_bound();
        let size = SumSize {
            largest_sum: all * u128::from(bound),
            shares: NoiseOrigin::Trustees.most_shares(),
            share_variance: planned.block.share_variance.to_f64(),
            coordinates: study_coordinates,
            log_wrap_probability: LOG_WRAP_PROBABILITY,
        };
        bits = bits.max(size.plan()?.bits);
        widest = widest.max(bound);
    }
    let coordinates = sum.to_sum_plan().coordinates();
    let coordinates = u32::try_from(coordinates).unwrap_or(u32::MAX);
    let step = SumStep::new(coordinates, client_bits(units, widest), bits)?;
    Ok(Step::Sum(step))
}

/// The smallest widths w with 2^(w−1) ≥ units · bound + 1.
fn client_bits(units: &[u32], bound: u64) -> Vec<u32> {
    let bits = |units: &u32| {
        let least = u128::from(*units) * u128::from(bound) + 1;
        1 + least.next_power_of_two().trailing_zeros()
    };
    units.iter().map(bits).collect()
}
