//! The search for a baseline's parameters, twice: for free as in the paper, and paid for.
//!
//! The search is plain: the documented default, then the points of a Halton sequence over log-spaced
//! ranges. It is the same for every world, so no result depends on a random search.
//!
//! *Free* runs every candidate with the whole budget and keeps the one of smallest test error, which
//! a private run must not use: the row is an upper bound on what tuning can give, and NOT PRIVATE at the
//! stated budget. *Charged* runs and scores all candidates within the budget ([`Tuned`]).

use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, Relation};
use sprifed_query::{Curator, PlanError, Records, run};
use sprifed_simulate::{Method as _, TrialOutcome, World};

use crate::baseline::{Baseline, DpGcdParameters, DpSgdParameters, Tuned};
use crate::method::{AnyMethod, MethodError};

#[cfg(test)]
mod tests;

/// A baseline's parameters and what they came to.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedRow {
    /// The parameters that were kept.
    pub baseline: Baseline,
    /// How they did.
    pub outcome: TrialOutcome,
}

/// Both rows for one world.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedRows {
    /// The best of all candidates by test error, each with the whole budget: NOT PRIVATE.
    pub free: TunedRow,
    /// The best of all candidates by a private score, all of it within the budget.
    pub charged: TunedRow,
}

/// Ranges of a search, log-spaced.
///
/// | parameter | DP-SGD | DP-GCD |
/// |---|---|---|
/// | steps | 2 to 16 | 0.8 to 2.5 for each feature |
/// | step size | 0.25 to 2 | 0.5 to 1.5 |
/// | clip | 0.2 to 2 | 0.15 to 1.5 |
/// | penalty | 0.25 to 3 | |
const SGD_RANGES: [(f64, f64); 4] = [(2.0, 16.0), (0.25, 2.0), (0.2, 2.0), (0.25, 3.0)];
const GCD_RANGES: [(f64, f64); 3] = [(0.8, 2.5), (0.5, 1.5), (0.15, 1.5)];

/// The first `count` candidates around `usual`, which is the first of them.
#[must_use]
pub fn candidates(usual: Baseline, sparsity: usize, count: u32) -> Vec<Baseline> {
    let others = (1..count).map(|index| match usual {
        Baseline::DpSgd(usual) => {
            let [steps, step_size, clip, penalty] = halton_point(index, SGD_RANGES);
            Baseline::DpSgd(DpSgdParameters {
                steps: rounded(steps),
                step_size,
                clip,
                penalty,
                batch: usual.batch,
            })
        }
        Baseline::DpGcd(_) => {
            let [steps, step_size, clip] = halton_point(index, GCD_RANGES);
            #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
            let features = sparsity as f64;
            Baseline::DpGcd(DpGcdParameters {
                steps: rounded(steps * features),
                step_size,
                clip,
            })
        }
    });
    core::iter::once(usual)
        .chain(others)
        .take(count as usize)
        .collect()
}

/// The candidate of smallest test error when all are run with noise of their own.
///
/// # Errors
/// When there are no candidates or a backend refuses.
pub fn tune_for_free<M>(
    candidates: &[Baseline],
    method: M,
    world: &World,
    seed: u64,
) -> Result<TunedRow, MethodError>
where
    M: Fn(Baseline) -> Result<AnyMethod, PlanError>,
{
    let mut best: Option<TunedRow> = None;
    for (index, baseline) in (0..).zip(candidates) {
        let own: u64 = seed ^ (index << 32);
        let outcome = method(*baseline)?.run_on(world, own)?;
        if best
            .as_ref()
            .is_none_or(|best| outcome.test_mse < best.outcome.test_mse)
        {
            let baseline = *baseline;
            best = Some(TunedRow { baseline, outcome });
        }
    }
    best.ok_or_else(|| {
        MethodError::from(PlanError::Request {
            found: "a search among no candidates".to_owned(),
            required: "at least one is required".to_owned(),
        })
    })
}

/// The candidate of best private score when all are run and scored within one budget.
///
/// # Guarantee
/// The plan of the search costs at most `budget`.
///
/// # Errors
/// When there are no candidates or the curator refuses.
pub fn tune_charged(
    candidates: &[Baseline],
    world: &World,
    budget: ApproxDp,
    relation: Relation,
    seed: u64,
) -> Result<TunedRow, MethodError> {
    let request = world.request();
    let setting = AnyMethod::baseline_setting(&request, budget, relation)?;
    let plan = Tuned::plan(&setting, candidates)?;
    let records = Records::each_a_unit(world.features(), world.responses(), request.features)?;
    let mut curator = Curator::open(records, plan, NoiseGenerator::simulated(seed))?;
    let chosen = run(Tuned::new(setting, candidates)?, &mut curator, |_| ())?;
    Ok(TunedRow {
        baseline: chosen.baseline,
        outcome: TrialOutcome::of(world, chosen.fit),
    })
}

/// Both rows of certified noise for one world, among `count` candidates.
///
/// # Errors
/// When there are no candidates or the curator refuses.
pub fn tune(
    usual: Baseline,
    world: &World,
    budget: ApproxDp,
    relation: Relation,
    count: u32,
    seed: u64,
) -> Result<TunedRows, MethodError> {
    let request = world.request();
    let tried = candidates(usual, request.sparsity, count);
    let method = |baseline| AnyMethod::baseline(baseline, &request, budget, relation);
    Ok(TunedRows {
        free: tune_for_free(&tried, method, world, seed)?,
        charged: tune_charged(&tried, world, budget, relation, seed)?,
    })
}

/// The point of this index of a Halton sequence over log-spaced ranges.
fn halton_point<const N: usize>(index: u32, ranges: [(f64, f64); N]) -> [f64; N] {
    const PRIMES: [u32; 4] = [2, 3, 5, 7];
    core::array::from_fn(|axis| {
        let (least, most) = ranges[axis];
        least * (most / least).powf(radical_inverse(index, PRIMES[axis % PRIMES.len()]))
    })
}

/// The digits of `index` in `base`, mirrored at the point: a number from 0 to below 1.
fn radical_inverse(mut index: u32, base: u32) -> f64 {
    let (mut value, mut place) = (0.0, 1.0);
    while index > 0 {
        place /= f64::from(base);
        value += f64::from(index % base) * place;
        index /= base;
    }
    value
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few steps for each feature"
)]
fn rounded(steps: f64) -> u32 {
    steps.round().max(1.0) as u32
}
