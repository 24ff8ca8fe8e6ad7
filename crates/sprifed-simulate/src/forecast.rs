//! How many records a study needs, found by simulation, since its noise is known in advance.

use core::ops::ControlFlow;

use serde::Serialize;
use sprifed_privacy::{ApproxDp, Relation};
use sprifed_recovery::CertifiedProcedure;

use crate::summary::Summary;
use crate::trial::{Certified, Method, TrialError};
use crate::world::WorldRequest;

#[cfg(test)]
mod tests;

/// What simulation says of a planned study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// At the planned number of records.
    pub planned: Summary,
    /// The records at which 90 % of the features are found on average, within a tenth; none below
    /// the limit of the search.
    pub records_for_90_percent: Option<usize>,
    /// Every number of records that was tried, with the share that was found.
    pub tried: Vec<(usize, f64)>,
    /// Trials behind each.
    pub trials: u64,
}

/// The largest number of records that is tried, as a multiple of the planned one.
const LARGEST_FACTOR: usize = 32;

/// Fewer records than this are not worth a study.
const FEWEST: usize = 20;

/// Forecasts `procedure` on worlds like `world`; `watch` is called after every trial and may stop
/// the forecast.
///
/// The search doubles or halves until 90 % lies between two numbers of records, and then closes in
/// to a tenth. Trials with the same seed share their randomness, so that the search is not led by
/// noise alone.
///
/// # Errors
/// When a trial fails, or `watch` ended it.
pub fn forecast_records(
    procedure: CertifiedProcedure,
    world: WorldRequest,
    budget: ApproxDp,
    relation: Relation,
    trials: u64,
    mut watch: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Forecast, TrialError> {
    let mut tried: Vec<(usize, f64)> = Vec::new();
    let mut evaluate = |records: usize, tried: &mut Vec<(usize, f64)>| {
        let request = WorldRequest { records, ..world };
        let method = Certified::on_curator(procedure, &request, budget, relation)?;
        let mut outcomes = Vec::new();
        for seed in 0..trials {
            outcomes.push(method.run(request, 7_000 + seed)?);
            if watch(records).is_break() {
                return Err(TrialError::Interrupted);
            }
        }
        let summary = Summary::of(&outcomes, world.sparsity);
        tried.push((records, summary.recovered_share.mean));
        Ok::<Summary, TrialError>(summary)
    };
    let planned = evaluate(world.records, &mut tried)?;
    let enough = |share: f64| share >= 0.9;
    let (mut low, mut high) = (None, None);
    let mut records = world.records;
    let mut share = planned.recovered_share.mean;
    while low.is_none() || high.is_none() {
        if enough(share) {
            high = Some(records);
            records = records.div_ceil(2);
        } else {
            low = Some(records);
            records *= 2;
        }
        let bracketed = low.is_some() && high.is_some();
        let is_too_few = high.is_some() && records < FEWEST;
        if bracketed || is_too_few || records > LARGEST_FACTOR * world.records {
            break;
        }
        share = evaluate(records, &mut tried)?.recovered_share.mean;
    }
    let mut found = high;
    if let (Some(mut fails), Some(mut works)) = (low, high) {
        while works * 10 > fails * 11 && works > fails + 1 {
            let middle = usize::midpoint(fails, works);
            if enough(evaluate(middle, &mut tried)?.recovered_share.mean) {
                works = middle;
            } else {
                fails = middle;
            }
        }
        found = Some(works);
    }
    tried.sort_unstable_by_key(|(records, _)| *records);
    Ok(Forecast {
        planned,
        records_for_90_percent: found,
        tried,
        trials,
    })
}
