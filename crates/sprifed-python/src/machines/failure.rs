//! Why a role could not do what it was asked.

use pyo3::exceptions::PyOSError;
use pyo3::{PyErr, Python};
use sprifed::RehearsalError;
use sprifed_coordinator::CoordinatorError;
use sprifed_net::{NetError, Refused};
use sprifed_party::{PartyError, StoreError};
use sprifed_secure_sum::ClientId;

use crate::entropy::NoEntropy;
use crate::error::{StudyError, raise};

/// See the module.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Something given is not what it should be.
    #[error("{what}: {found}; {required} is required")]
    Unusable {
        what: String,
        found: String,
        required: &'static str,
    },
    /// A message that is not from whom it says, or not for this place, or too old.
    #[error("refused: {0}")]
    Refused(String),
    /// The coordinator's folder cannot be used.
    #[error(transparent)]
    Coordinator(CoordinatorError),
    /// The coordinator's state or its socket.
    #[error(transparent)]
    Net(NetError),
    /// A message that the study refused.
    #[error("{party}: {refused}", party = ClientId(*.party))]
    Message { party: u32, refused: Refused },
    /// What the command line would say too.
    #[error(transparent)]
    Common(#[from] sprifed::Error),
    /// The party cannot take part or go on.
    #[error(transparent)]
    Party(#[from] PartyError),
    /// Nothing could be drawn.
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
    /// A rehearsal that did not begin or ended without a model.
    #[error(transparent)]
    Rehearsal(RehearsalError),
}

impl Failure {
    pub(super) fn unusable(
        what: impl Into<String>,
        found: impl core::fmt::Display,
        required: &'static str,
    ) -> Self {
        Self::Unusable {
            what: what.into(),
            found: found.to_string(),
            required,
        }
    }
}

impl From<CoordinatorError> for Failure {
    fn from(error: CoordinatorError) -> Self {
        match error {
            CoordinatorError::Party(error) => Self::Party(error),
            CoordinatorError::Net(error) => error.into(),
            other => Self::Coordinator(other),
        }
    }
}

impl From<NetError> for Failure {
    fn from(error: NetError) -> Self {
        match error {
            NetError::Party(error) => Self::Party(error),
            NetError::Store(error) => Self::Party(error.into()),
            other => Self::Net(other),
        }
    }
}

/// The exit code of a problem of the machine that a program runs on.
const MACHINE: u8 = 3;

impl From<RehearsalError> for Failure {
    fn from(error: RehearsalError) -> Self {
        match error {
            RehearsalError::Party(error) => Self::Party(error),
            other => Self::Rehearsal(other),
        }
    }
}

impl From<Failure> for PyErr {
    /// A disk that fails is not a study that refuses: who drives a machine stops then.
    fn from(failure: Failure) -> Self {
        let words = failure.to_string();
        match failure {
            Failure::Entropy(_) => PyOSError::new_err(words),
            Failure::Net(error) if error.exit_code() == MACHINE => PyOSError::new_err(words),
            Failure::Party(error) => match error {
                // What was spent cannot be known: a refusal with its advice, not a disk that fails.
                PartyError::Store(StoreError::Ledger { .. } | StoreError::PutBack { .. })
                | PartyError::Unusable { .. } => {
                    StudyError::new_err(format!("{words}\n help: {}", error.help()))
                }
                PartyError::File { .. }
                | PartyError::Unreadable { .. }
                | PartyError::NoEntropy { .. }
                | PartyError::Store(_) => PyOSError::new_err(words),
                error => Python::attach(|py| raise(py, error)),
            },
            Failure::Common(common) => Python::attach(|py| raise(py, common)),
            _ => StudyError::new_err(words),
        }
    }
}
