//! A study between parties over a network: `study …`, `coordinate`, `join`, `trustee`, `verify`.
//!
//! ```text
//! party        study identity ─▶ party.json ───┐                          ┌─▶ join ─▶ receipt.json
//! coordinator                                  ├▶ study init ─▶ for-NAME ─┼─▶ coordinate ─▶ receipt, model
//! trustee      study trustee ──▶ trustee.json ─┘                          └─▶ trustee ─▶ receipt.json
//! ```
//!
//! No secret leaves its owner: a party sends its public key and gets an invitation.

mod check;
mod connection;
mod coordinate;
mod identity;
mod init;
mod join;
mod leave;
mod officer;
mod party_ledger;
mod party_status;
mod rehearse;
mod status;
mod trustee;
mod trustee_identity;
mod trustee_status;
mod verify;

use clap::Subcommand;
use sprifed::{Model, study_model};
use sprifed_coordinator::CoordinatorError;
use sprifed_net::NetError;
use sprifed_party::{PartyError, StoreError};
use sprifed_study::Receipt;

pub(crate) use self::coordinate::Coordinate;
pub(crate) use self::join::Join;
pub(crate) use self::trustee::Trustee;
pub(crate) use self::verify::Verify;
use crate::failure::{Explained, Failure};
use crate::output::Output;

/// `study …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// A party makes its identity key, its TLS key, a first policy and the public file for the coordinator.
    ///
    /// Example: sprifed study identity north --records 400
    ///
    /// Example: sprifed study identity north --records 400 --officer dpo/officer.pub
    Identity(identity::MakeIdentity),
    /// A trustee makes its identity key, its TLS key, a first policy and the public file for the coordinator.
    ///
    /// Example: sprifed study trustee archive
    ///
    /// Example: sprifed study trustee archive --again
    Trustee(trustee_identity::MakeTrustee),
    /// A data-protection officer makes the key that signs policies.
    ///
    /// Example: sprifed study officer dpo
    Officer(officer::MakeOfficer),
    /// A data-protection officer signs a party's policy, after reading it.
    ///
    /// Example: sprifed study sign-policy north/policy.toml --officer dpo --party north/party.json
    SignPolicy(officer::SignPolicy),
    /// The coordinator writes down what all parties agree on, and an invitation for each.
    ///
    /// Example: sprifed study init heart --purpose "which measurements predict the risk" --party north/party.json --party south/party.json --party
    /// west/party.json --schema schema.toml --columns header.csv --sparsity 5 --epsilon 3
    /// --address coordinator.example.org:8443
    Init(Box<init::Init>),
    /// What a study agreed on, how far it is, and what it has spent; of a coordinator's, a party's or a trustee's folder.
    ///
    /// Example: sprifed study status heart
    Status(status::Status),
    /// Ends a study permanently and tells its parties. What was spent stays spent.
    ///
    /// Example: sprifed study cancel heart
    Cancel(status::Cancel),
    /// A party leaves an unfinished study permanently. Its ledger goes on counting the most that the study could cost.
    ///
    /// Example: sprifed study leave north/study-cbe37e8957ad38bf
    Leave(leave::Leave),
    /// Checks the receipt of a study and writes everything that may be published of it into a folder.
    ///
    /// Example: sprifed study export heart --out heart-published
    Export(status::Export),
    /// Runs all roles of a study in this process with repeatable noise. NOT PRIVATE.
    ///
    /// Example: sprifed study rehearse heart --data north.csv --data south.csv --data west.csv --seed 1
    Rehearse(rehearse::Rehearse),
}

/// Carries out `task`.
pub(crate) fn run(task: &Task, output: &Output) -> Result<(), Failure> {
    match task {
        Task::Identity(request) => request.run(output),
        Task::Trustee(request) => request.run(output),
        Task::Officer(request) => request.run(output),
        Task::SignPolicy(request) => request.run(output),
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

impl<T> Explained<T> for Result<T, PartyError> {
    fn explained(self) -> Result<T, Failure> {
        self.map_err(party_failure)
    }
}

impl<T> Explained<T> for Result<T, CoordinatorError> {
    fn explained(self) -> Result<T, Failure> {
        self.map_err(coordinator_failure)
    }
}

impl<T> Explained<T> for Result<T, StoreError> {
    fn explained(self) -> Result<T, Failure> {
        self.map_err(net_failure)
    }
}

/// Why a party cannot do as told, with the options of the commands.
pub(crate) fn party_failure(error: PartyError) -> Failure {
    let (code, message) = (error.code(), error.to_string());
    match &error {
        PartyError::PolicyOfOfficer { officer } => Failure::usage(
            code,
            format!(
                "--policy was given, but `{}` says that this party takes part only by the policy that its \
                 data-protection officer signed",
                officer.display()
            ),
            "leave --policy out, or have the officer sign another policy.toml; nothing was spent",
        ),
        PartyError::NoSeed => Failure::usage(
            code,
            message,
            "add --simulate-noise SEED, and only if the records need no protection",
        ),
        PartyError::SeedGiven => Failure::usage(
            code,
            "--simulate-noise was given, but this study protects its records".to_owned(),
            "remove --simulate-noise; nothing was spent",
        ),
        PartyError::RehearsalKey => Failure::usage(
            code,
            message,
            "make a new identity without --simulate and send its party.json to the coordinator; nothing was spent",
        ),
        PartyError::Forbidden(_) => Failure::outcome(
            code,
            message,
            "talk to the coordinator, or change the policy; `join --check` says more; no record was opened, nothing was \
             spent",
        ),
        _ => error.into(),
    }
}

/// Why a coordinator cannot do as told.
fn coordinator_failure(error: CoordinatorError) -> Failure {
    let message = error.to_string();
    match error {
        CoordinatorError::Party(error) => error.into(),
        CoordinatorError::Net(error) => net_failure(error),
        CoordinatorError::Receipt(error) => error.into(),
        CoordinatorError::StateLost { .. } => Failure::outcome(
            "sprifed::study::state-lost",
            message,
            "restore the folder in its latest state, or make another study; what parties were charged stays charged",
        ),
        CoordinatorError::NotTheCoordinator { .. } => Failure::usage(
            "sprifed::study::not-the-coordinator",
            message,
            "name the coordinator's folder; a party leaves a study with `sprifed study leave`",
        ),
        CoordinatorError::Over { .. } => Failure::outcome(
            "sprifed::study::over",
            message,
            "`sprifed study status` says how it ended",
        ),
        CoordinatorError::NotOver { .. } => Failure::outcome(
            "sprifed::study::not-over",
            message,
            "wait until the study is over, or name the coordinator's folder",
        ),
        _ => Failure::usage(
            "sprifed::file::exists",
            message,
            "choose another folder; what is there is not replaced",
        ),
    }
}

/// Why the network or a store of it did not do as told.
pub(crate) fn net_failure(error: impl Into<NetError>) -> Failure {
    let error = error.into();
    let message = error.to_string();
    let error = match error {
        NetError::Party(error) => return error.into(),
        NetError::Store(error @ StoreError::Ledger { .. }) => {
            return PartyError::from(error).into();
        }
        other => other,
    };
    match error.exit_code() {
        1 if matches!(error, NetError::RefusedByClient(_)) => Failure::outcome(
            "sprifed::study::refused-by-party",
            message,
            "tell the coordinator. Nothing is lost: the journal and the ledger keep what was charged, and `join` \
             continues once what was refused is corrected; otherwise `sprifed study leave` of its folder frees the rest",
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
        4 => Failure::defect("sprifed::study::defect", message, crate::defect::HELP),
        _ => Failure::environment(
            "sprifed::study::environment",
            message,
            "correct this and start again: the study continues where it stopped",
        ),
    }
}

/// A file of a study that cannot be used.
fn unusable(path: &std::path::Path, found: &dyn core::fmt::Display, required: &str) -> Failure {
    Failure::unusable(&path.display().to_string(), found, required)
}

/// Reads a file of a study, unless it has no end or is far too large.
pub(crate) fn read(path: &std::path::Path) -> Result<Vec<u8>, Failure> {
    Ok(sprifed_party::read_file(path)?)
}

/// Files, one a line.
fn listed(files: &[std::path::PathBuf]) -> String {
    let files: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    files.join("\n")
}

/// The model of a study, and what is said of it under its guarantee: what makes it useless first, if anything does.
fn model_and_text(receipt: &Receipt) -> Result<Option<(Model, String)>, Failure> {
    let Some(model) = study_model(receipt)? else {
        return Ok(None);
    };
    let guarantee = &receipt.guarantee.statement;
    let table = model.coefficients_text();
    let text = match model.alarm() {
        Some(alarm) => format!("{alarm}\n\n{guarantee}\n\n{table}\n"),
        None => format!("{guarantee}\n\n{}\n\n{table}\n", model.status_words()),
    };
    Ok(Some((model, text)))
}
