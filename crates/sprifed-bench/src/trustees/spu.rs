//! The argmax of SPU, three parties of ABY3 in one process, measured in the same run.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::python;

/// Calls the package `spu`; see the head of the file for what it measures.
const SCRIPT: &str = include_str!("spu_argmax.py");

/// The package is slow, and its figures hardly move.
const REPETITIONS: u32 = 3;

/// What the package needs for one argmax, for one of three parties.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Spu {
    version: String,
    repetitions: u32,
    candidates: u32,
    cpu_milliseconds: f64,
    /// As its log says, if it does.
    megabytes_sent: Option<f64>,
}

impl Spu {
    pub(super) fn text(&self) -> String {
        let sent = self.megabytes_sent.map_or_else(
            || "an unknown number of".to_owned(),
            |sent| format!("{sent:.1}"),
        );
        format!(
            "spu {}, ABY3, argmax of {} sums in a ring of 64 bits: {:.0} ms of CPU and {sent} MB sent by each of three parties, median of {}\n",
            self.version, self.candidates, self.cpu_milliseconds, self.repetitions
        )
    }
}

/// The figures, or why there are none.
pub(super) fn measure(python: Option<&Path>, candidates: u32) -> Result<Spu, String> {
    let Some(python) = python else {
        return Err("no --python was given".to_owned());
    };
    let arguments = [candidates, REPETITIONS].map(|argument| argument.to_string());
    let said = python::run(python, SCRIPT, &arguments, |_| Ok(()));
    let said = said.map_err(|error| error.to_string())?;
    let last = said.lines().last().unwrap_or_default();
    serde_json::from_str(last)
        .map_err(|error| format!("{} printed no figures: {error}", python.display()))
}
