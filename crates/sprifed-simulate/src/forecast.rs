//! What a study may find and how many records it needs, by simulation, since its noise is known in advance.
//!
//! A forecast is about generated records, and says nothing of records that are unlike them. How much the best model
//! explains decides most, and no simulation knows it: it is stated by the user.

use core::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_query::PlanError;
use sprifed_recovery::{CertifiedProcedure, Setting};

use crate::absence::Absence;
use crate::summary::{Mean, Summary};
use crate::trial::{Certified, Method, Reference, TrialError, TrialOutcome};
use crate::world::{World, WorldRequest};

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

/// How one method did on generated records.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// The name of a procedure, or of a reference without noise.
    pub method: &'static str,
    /// The share of the true features that was kept.
    pub recovered_share: Mean,
    /// The share of the kept features that is not true.
    pub false_share: Mean,
    /// The width of the intervals of kept features; absent if none was reported.
    pub width: Option<Mean>,
    /// One minus the squared error on new records, relative to predicting the mean.
    pub test_r2: Mean,
}

impl Compared {
    fn of(method: &'static str, outcomes: &[TrialOutcome], support: usize) -> Self {
        let summary = Summary::of(outcomes, support);
        Self {
            method,
            recovered_share: summary.recovered_share,
            false_share: summary.false_share,
            width: summary.width,
            test_r2: summary.test_r2,
        }
    }
}

/// The seed of the first trial of a forecast.
const FIRST_SEED: u64 = 7_000;

/// Runs `methods` and, beside them, orthogonal matching pursuit without noise, on the same worlds; `watch` is called after
/// every trial and may stop the comparison.
///
/// # Errors
/// When a trial fails, or `watch` ended it.
pub fn compare(
    methods: &[Certified],
    world: WorldRequest,
    trials: u64,
    mut watch: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<Compared>, TrialError> {
    let mut outcomes: Vec<Vec<TrialOutcome>> = vec![Vec::new(); methods.len() + 1];
    for seed in FIRST_SEED..FIRST_SEED + trials {
        let generated = World::generate(world, seed);
        for (method, outcomes) in methods.iter().zip(&mut outcomes) {
            outcomes.push(method.run_on(&generated, seed)?);
            if watch(world.records).is_break() {
                return Err(TrialError::Interrupted);
            }
        }
        if let Some(outcomes) = outcomes.last_mut() {
            outcomes.push(Reference::Omp.run_on(&generated, seed)?);
        }
    }
    let names = methods.iter().map(|method| method.procedure.name());
    let compared = names.chain([Reference::Omp.name()]).zip(&outcomes);
    Ok(compared
        .map(|(name, outcomes)| Compared::of(name, outcomes, world.support))
        .collect())
}

/// Forecasts `procedure` on worlds like `world`, planned as `setting` says but for the number of records; `watch` is called
/// after every trial and may stop the forecast.
///
/// The search doubles or halves until 90 % lies between two numbers of records, and then closes in
/// to a tenth. Trials with the same seed share their randomness, so that the search is not led by
/// noise alone.
///
/// # Errors
/// When a trial fails, or `watch` ended it.
pub fn forecast_records(
    procedure: CertifiedProcedure,
    setting: Setting,
    world: WorldRequest,
    trials: u64,
    mut watch: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Forecast, TrialError> {
    let mut tried: Vec<(usize, f64)> = Vec::new();
    let mut evaluate = |records: usize, tried: &mut Vec<(usize, f64)>| {
        let request = WorldRequest { records, ..world };
        let n_records = u32::try_from(records).map_err(|_| too_many(records))?;
        let setting = Setting {
            n_records,
            ..setting
        };
        let method = Certified::planned(procedure, setting, Absence::NONE)?;
        let mut outcomes = Vec::new();
        for seed in FIRST_SEED..FIRST_SEED + trials {
            outcomes.push(method.run(request, seed)?);
            if watch(records).is_break() {
                return Err(TrialError::Interrupted);
            }
        }
        let summary = Summary::of(&outcomes, world.support);
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

fn too_many(records: usize) -> PlanError {
    PlanError::Request {
        found: format!("{records} records"),
        required: "at most 2^32 are possible".to_owned(),
    }
}
