//! All roles of a study in one process, with noise that protects no record: what an engine is compared with.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sprifed::RehearsalAnswer;
use sprifed_party::Invitation;
use sprifed_secure_sum::{ClientId, Phase};

use super::coordinator::phase_name;
use super::failure::Failure;

/// A party that is gone from a phase of a sum on: the party, the sum and the phase.
type Departure = (u32, u32, String);

/// Runs a study of simulated noise in this process and returns its fit as JSON. NOT PRIVATE.
///
/// `data` has the table of each party, by place in the roster; the parties of `departures` are gone from
/// the given phase (`upload`, `confirm`, `unmask`; `upload` alone with trustees) of the given sum on.
#[pyfunction]
#[pyo3(signature = (invitation, data, seed, departures=Vec::new()))]
pub(super) fn rehearse(
    py: Python<'_>,
    invitation: PathBuf,
    data: Vec<PathBuf>,
    seed: u64,
    departures: Vec<Departure>,
) -> PyResult<String> {
    Ok(py.detach(|| run(&invitation, &data, seed, &departures))?)
}

fn run(
    invitation: &std::path::Path,
    data: &[PathBuf],
    seed: u64,
    departures: &[Departure],
) -> Result<String, Failure> {
    let (_, agreed) = Invitation::read(invitation)?;
    let attends = |phase: Phase, sum: u32, id: ClientId| {
        let is_gone = |(party, from_sum, from): &Departure| {
            let from = (*from_sum, place(from));
            id.0 == *party && (sum, place(phase_name(phase))) >= from
        };
        is_set_up(phase) || !departures.iter().any(is_gone)
    };
    let answer = RehearsalAnswer::run(&Arc::new(agreed), data, seed, Box::new(attends))?;
    Ok(serde_json::to_string(&answer.fit).unwrap_or_default())
}

fn is_set_up(phase: Phase) -> bool {
    matches!(phase, Phase::Keys | Phase::Agree | Phase::Shares)
}

/// The order of the phases of a sum; an unknown one is never reached.
fn place(phase: &str) -> usize {
    let phases = ["upload", "confirm", "unmask"];
    let known = phases.iter().position(|known| *known == phase);
    known.unwrap_or(phases.len())
}
