//! What a coordinator keeps on disk: accepted inputs, checkpoints, and how the study ended.
//!
//! An input and everything it caused are one transaction, committed before anything is sent. So a
//! process that is killed at any moment either never had the input or has it with all consequences.
//! Deliberately absent: sent notices. Clients that come back are told again.

mod lock;
mod sqlite;

use std::path::PathBuf;

pub(crate) use lock::StateLock;
pub use sqlite::SqliteStore;
pub(crate) use sqlite::{connect, durable, look_into, schema_of};

use crate::machine::PartyId;

/// Something that happened to the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// A message that the machine accepted.
    Message(PartyId, &'a [u8]),
    /// The phase was closed.
    Closed,
    /// The machine stood here at the end of an epoch.
    Checkpoint(&'a [u8]),
}

/// One transaction: an input and what it caused.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The epoch in which the input was received.
    pub epoch: u32,
    /// The input; none for what [`returned`](crate::CoordinatorMachine::returned) caused.
    pub input: Option<Event<'a>>,
    /// Checkpoints that it caused, by epoch. Each replaces the events of its epoch.
    pub checkpoints: Vec<(u32, &'a [u8])>,
    /// How the study ended, if it did.
    pub artefacts: Option<&'a [(String, Vec<u8>)]>,
}

/// How the study ended: file names and contents.
pub type Artefacts = Vec<(String, Vec<u8>)>;

/// Where a coordinator keeps its study.
pub trait Store: Send + 'static {
    /// How often this state was opened, this time included; names a start of the server.
    fn start(&self) -> u64;

    /// Shows every stored event with its epoch, in order, until `visit` wants no more.
    ///
    /// # Errors
    /// If the state can not be read.
    fn replay(&mut self, visit: &mut dyn FnMut(u32, Event<'_>) -> bool) -> Result<(), StoreError>;

    /// How the study ended, if it did.
    ///
    /// # Errors
    /// If the state can not be read.
    fn artefacts(&mut self) -> Result<Option<Artefacts>, StoreError>;

    /// Writes `entry`, all of it or nothing. When this returns, a power cut can not undo it.
    ///
    /// # Errors
    /// If it could not be made durable. The process must stop: its machine is ahead of its state.
    fn commit(&mut self, entry: &Entry<'_>) -> Result<(), StoreError>;
}

/// Why state could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has it.
    #[error(
        "`{path}` is in use by another process; a study has one coordinator, a client one process"
    )]
    InUse {
        /// Which file.
        path: PathBuf,
    },
    /// The file could not be opened or locked.
    #[error("can not open `{path}`: {reason}")]
    Unusable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file is an older one than it was.
    #[error(
        "`{path}` has {found} entries, but had {required} before: it is an older copy, or was emptied; going on would \
         answer sums a second time with the same masks. Restore all of its folder as it was last, or make another \
         study; what was charged stays charged"
    )]
    PutBack {
        /// Which file.
        path: PathBuf,
        /// Entries that it has.
        found: u64,
        /// Entries that it had.
        required: u64,
    },
    /// What was spent can not be known, or is known elsewhere.
    #[error("`{path}` {problem}")]
    Ledger {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do about it.
        help: &'static str,
    },
    /// The file holds another study.
    #[error("`{path}` holds the study {found}; {required} is required, give it a file of its own")]
    OtherStudy {
        /// Which file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What was asked for.
        required: String,
    },
    /// No space is left.
    #[error(
        "the disk is full: the state was not stored and nothing was sent; make room and start again"
    )]
    DiskFull,
    /// The file is no database, or a damaged one.
    #[error("the state is damaged: {0}; nothing was sent, restore the folder as it was last")]
    Damaged(String),
    /// Anything else that the database said.
    #[error("the state can not be kept: {0}; nothing was sent, start again when the disk works")]
    Database(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let is_other_type = matches!(
            error,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..)
        );
        if is_other_type {
            return Self::Damaged(error.to_string());
        }
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => {
                Self::Damaged(error.to_string())
            }
            _ => Self::Database(error.to_string()),
        }
    }
}
