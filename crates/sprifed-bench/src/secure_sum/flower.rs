//! Flower's SecAgg+, server workflow and client mod in one process, measured in the same run.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// Calls the `flwr` package; see the head of the file for what it measures.
const SCRIPT: &str = include_str!("flower.py");

/// Medians of what the package costs for one sum, its exchange of keys included: it has one for
/// every sum.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Flower {
    pub(super) version: String,
    pub(super) repetitions: u32,
    pub(super) client_seconds: f64,
    pub(super) server_seconds: f64,
    pub(super) upload_bytes: f64,
    pub(super) sent_bytes: f64,
}

/// The sum that both compute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) n_clients: u32,
    pub(super) coordinates: u32,
    /// Of each secret, the owner's own share among them.
    pub(super) shares: u32,
    pub(super) threshold: u32,
    pub(super) repetitions: u32,
}

/// The figures, or why there are none.
pub(super) fn measure(python: Option<&Path>, task: Task) -> Result<Flower, String> {
    let Some(python) = python else {
        return Err("no --python was given".to_owned());
    };
    let arguments = [
        task.n_clients,
        task.coordinates,
        task.shares,
        task.threshold,
        task.repetitions,
    ];
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark starts the peer that it measures"
    )]
    let mut command = Command::new(python);
    let ended = command
        .args(["-c", SCRIPT])
        .args(arguments.map(|argument| argument.to_string()))
        .output()
        .map_err(|error| format!("{} does not start: {error}", python.display()))?;
    if !ended.status.success() {
        let words = String::from_utf8_lossy(&ended.stderr);
        let last = words.lines().last().unwrap_or("it printed nothing");
        return Err(format!("{} failed: {last}", python.display()));
    }
    serde_json::from_slice(&ended.stdout)
        .map_err(|error| format!("{} printed no figures: {error}", python.display()))
}
