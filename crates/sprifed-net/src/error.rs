//! Why the shell stopped or could not start.

use std::io;
use std::path::PathBuf;

use sprifed_party::{PartyError, StoreError};

use crate::machine::Refused;

/// What ends a coordinator's or a client's process.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A file could not be read or written.
    #[error("cannot {action} `{path}`: {source}")]
    File {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The state could not be stored, so nothing was sent.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A private file or folder could not be written.
    #[error(transparent)]
    Party(#[from] PartyError),
    /// Certificates or keys that cannot be used.
    #[error("`{path}` holds {found}; {required} is required")]
    Certificate {
        /// Which file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What it should hold.
        required: &'static str,
    },
    /// TLS could not be set up from these certificates and keys.
    #[error("TLS cannot be set up: {0}; check that key, certificate and authority belong together")]
    Tls(String),
    /// No socket on this address.
    #[error(
        "cannot listen on {address}: {source}; choose another port or stop the process that has it"
    )]
    Listen {
        /// Which address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system gave no threads or timers.
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    /// The machine could not be made, or not be rebuilt from what was stored.
    #[error("the study cannot be opened: {0}")]
    Study(#[from] Refused),
    /// The machine broke its contract; this is a fault of the program.
    #[error(
        "the study stopped: {0}; this is a defect in the program, and its state file is intact"
    )]
    Machine(String),
    /// The client refused what the coordinator said, and cannot go on.
    #[error("this party refuses to go on: {0}")]
    RefusedByClient(Refused),
    /// The coordinator does not know this certificate, or wants no message of this client.
    #[error("the coordinator refuses this party: {0}")]
    Forbidden(String),
    /// Another process uses this client's certificate.
    #[error("another process connected with this party's certificate; stop one of the two")]
    Superseded,
    /// The coordinator did not answer for too long.
    #[error("no contact with {coordinator} for {seconds} s, last: {last}; start again to go on")]
    OutOfReach {
        /// Where it should be.
        coordinator: String,
        /// How long nothing was received.
        seconds: u64,
        /// The last trouble.
        last: String,
    },
    /// The coordinator answers what this version does not understand.
    #[error(
        "the coordinator answered {found}; {required} is required, use the same version everywhere"
    )]
    Answer {
        /// What was found.
        found: String,
        /// What is required.
        required: &'static str,
    },
    /// The coordinator's answer has more bytes than any answer of an honest one.
    #[error(
        "the coordinator's answer has more than {largest} bytes, which is the most that a coordinator of this study has \
         to say; it was not read further"
    )]
    EndlessAnswer {
        /// The most bytes of an honest answer.
        largest: usize,
    },
    /// An address or name that cannot be used.
    #[error("`{found}` is no {required}")]
    Setting {
        /// What was found.
        found: String,
        /// What is required.
        required: &'static str,
    },
}

impl NetError {
    /// The exit code of a command that ends so: 1 the study, 2 the settings, 3 the machine it runs on, 4 a defect of
    /// the program.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Study(_)
            | Self::RefusedByClient(_)
            | Self::Forbidden(_)
            | Self::Superseded
            | Self::EndlessAnswer { .. }
            | Self::Store(StoreError::PutBack { .. } | StoreError::Ledger { .. }) => 1,
            Self::Certificate { .. } | Self::Tls(_) | Self::Setting { .. } => 2,
            Self::File { .. }
            | Self::Store(_)
            | Self::Listen { .. }
            | Self::Runtime(_)
            | Self::OutOfReach { .. }
            | Self::Answer { .. } => 3,
            Self::Party(error) => error.exit_code(),
            Self::Machine(_) => 4,
        }
    }

    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            action,
            path,
            source,
        }
    }
}
