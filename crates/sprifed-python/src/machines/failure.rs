//! Why a role could not do what it was asked.

use std::path::Path;

use pyo3::exceptions::PyOSError;
use pyo3::{PyErr, Python};
use sprifed::RehearsalError;
use sprifed_party::{PartyError, StoreError};
use sprifed_study::{Agreed, CoordinatorError, MessageRefused};

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
    /// The disk did not do as told.
    #[error("`{path}` cannot be {action}: {source}")]
    File {
        path: String,
        action: &'static str,
        source: std::io::Error,
    },
    /// The coordinator cannot begin or go on.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
    /// A message that the study refused.
    #[error(transparent)]
    Message(#[from] MessageRefused),
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

    /// Refuses a study with trustees: Flower carries messages between a coordinator and parties, and has no trustees.
    pub(super) fn refuse_trustees(agreed: &Agreed) -> Result<(), Self> {
        if agreed.trustees().is_none() {
            return Ok(());
        }
        let words = "a study with trustees cannot run in Flower; run it with `sprifed coordinate`, `sprifed trustee` and \
                     `sprifed join`; nothing was sent or spent";
        Err(Self::Refused(words.to_owned()))
    }

    pub(super) fn file(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.display().to_string();
        move |source| Self::File {
            path,
            action,
            source,
        }
    }
}

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
            Failure::File { .. } | Failure::Entropy(_) => PyOSError::new_err(words),
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
