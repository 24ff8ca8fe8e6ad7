//! A study between parties over a network: `study …`, `coordinate`, `join`, `verify`.
//!
//! ```text
//! party        study identity ─▶ party.json ─┐                          ┌─▶ join ─▶ receipt.json
//! coordinator                                └▶ study init ─▶ for-NAME ─┤
//!                                                                       └─▶ coordinate ─▶ receipt, model
//! ```
//!
//! No secret leaves its owner: a party sends its public key and gets an invitation.

mod coordinate;
mod coordinator_machine;
mod crowd;
mod identity;
mod init;
mod invitation_folder;
mod join;
mod leave;
mod party_ledger;
mod party_machine;
mod party_status;
mod rehearse;
mod status;
mod verify;

use clap::Subcommand;
use sprifed_net::{NetError, StoreError};

pub(crate) use self::coordinate::Coordinate;
pub(crate) use self::crowd::{SEED, run_crowd};
pub(crate) use self::join::Join;
pub(crate) use self::verify::Verify;
use crate::failure::{Explained, Failure};
use crate::output::Output;

/// `study …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// A party makes its identity key, a first policy and the public file for the coordinator.
    ///
    /// Example: sprifed study identity north --records 400
    Identity(identity::MakeIdentity),
    /// The coordinator writes down what all parties agree on, and an invitation for each.
    ///
    /// Example: sprifed study init heart --party north/party.json --party south/party.json --party
    /// west/party.json --schema schema.toml --columns header.csv --sparsity 5 --epsilon 3
    /// --address coordinator.example.org:8443
    Init(init::Init),
    /// What a study agreed on, how far it is, and what it has spent; of a coordinator's or a party's folder.
    ///
    /// Example: sprifed study status heart
    Status(status::Status),
    /// Ends a study for good and tells its parties. What was spent stays spent.
    ///
    /// Example: sprifed study cancel heart
    Cancel(status::Cancel),
    /// A party goes for good from a study that does not end. What was charged stays charged, the rest is free again.
    ///
    /// Example: sprifed study leave north/study-cbe37e8957ad38bf
    Leave(leave::Leave),
    /// Copies everything that may be published of a study into a folder.
    ///
    /// Example: sprifed study export heart --out heart-published
    Export(status::Export),
    /// Runs all parties of a study in this process with repeatable noise. NOT PRIVATE.
    ///
    /// Example: sprifed study rehearse heart --data north.csv --data south.csv --data west.csv --seed 1
    Rehearse(rehearse::Rehearse),
}

/// Carries out `task`.
pub(crate) fn run(task: &Task, output: &Output) -> Result<(), Failure> {
    match task {
        Task::Identity(request) => request.run(output),
        Task::Init(request) => request.run(output),
        Task::Status(request) => request.run(output),
        Task::Cancel(request) => request.run(output),
        Task::Leave(request) => request.run(output),
        Task::Export(request) => request.run(output),
        Task::Rehearse(request) => request.run(output),
    }
}

impl<T> Explained<T> for Result<T, NetError> {
    fn explained(self) -> Result<T, Failure> {
        self.map_err(net_failure)
    }
}

impl<T> Explained<T> for Result<T, StoreError> {
    fn explained(self) -> Result<T, Failure> {
        self.map_err(net_failure)
    }
}

/// Why the network or a store of it did not do as told.
fn net_failure(error: impl Into<NetError>) -> Failure {
    let error = error.into();
    let message = error.to_string();
    match error.exit_code() {
        1 if matches!(error, NetError::RefusedByClient(_)) => Failure::outcome(
            "sprifed::study::refused-by-party",
            message,
            "tell the coordinator. Nothing is lost: the journal and the ledger keep what was charged, and `join` goes \
             on if what was refused is mended; otherwise `sprifed study leave` of its folder frees the rest",
        ),
        1 if matches!(error, NetError::Forbidden(_)) => Failure::outcome(
            "sprifed::study::refused-by-coordinator",
            message,
            "check with the coordinator that identity, certificate and place in its roster are of one party, and start \
             again. Nothing is lost: the journal and the ledger keep what was charged",
        ),
        1 => Failure::outcome(
            "sprifed::study::ended",
            message,
            "see the log above; what was charged stays charged",
        ),
        2 => Failure::usage(
            "sprifed::study::settings",
            message,
            "correct the settings and start again",
        ),
        _ => Failure::environment(
            "sprifed::study::environment",
            message,
            "mend this and start again: the study goes on where it was",
        ),
    }
}

/// A file of a study that can not be used.
fn unusable(path: &std::path::Path, found: &dyn core::fmt::Display, required: &str) -> Failure {
    Failure::unusable(&path.display().to_string(), found, required)
}

/// Reads a file of a study.
fn read(path: &std::path::Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::environment(
            "sprifed::study::unreadable",
            format!("`{}` can not be read: {error}", path.display()),
            "check the path and its permissions; nothing was spent",
        )
    })
}
