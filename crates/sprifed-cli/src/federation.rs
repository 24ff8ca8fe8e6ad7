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
mod invitation;
mod join;
mod party_ledger;
mod party_machine;
mod party_status;
mod records;
mod rehearse;
mod result;
mod status;
mod terms;
mod verify;

use clap::Subcommand;
use sprifed_net::{NetError, StoreError};
use sprifed_study::IllegalAgreement;

pub(crate) use self::coordinate::Coordinate;
pub(crate) use self::crowd::{SEED, run_crowd};
pub(crate) use self::join::Join;
pub(crate) use self::verify::Verify;
use crate::failure::Failure;
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
        Task::Export(request) => request.run(output),
        Task::Rehearse(request) => request.run(output),
    }
}

impl From<NetError> for Failure {
    fn from(error: NetError) -> Self {
        let message = error.to_string();
        match error.exit_code() {
            1 => Self::outcome(
                "sprifed::study::ended",
                message,
                "see the log above; what was charged stays charged",
            ),
            2 => Self::usage(
                "sprifed::study::settings",
                message,
                "correct the settings and start again",
            ),
            _ => Self::environment(
                "sprifed::study::environment",
                message,
                "mend this and start again: the study goes on where it was",
            ),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        NetError::from(error).into()
    }
}

impl From<IllegalAgreement> for Failure {
    fn from(error: IllegalAgreement) -> Self {
        Self::usage(
            "sprifed::study::illegal-agreement",
            error.to_string(),
            "correct the numbers of the study; nothing was spent",
        )
    }
}

/// A file of a study that can not be used.
fn unusable(path: &std::path::Path, found: &dyn core::fmt::Display, required: &str) -> Failure {
    Failure::usage(
        "sprifed::study::unusable-file",
        format!("`{}`: {found}; {required} is required", path.display()),
        "name the right file; nothing was spent",
    )
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
