//! Where a party keeps its part of one study: what it must still know after a restart, and its secret.
//!
//! | store | who uses it | protection |
//! |---|---|---|
//! | [`SqliteStore`] | a process that runs as long as the study | a private file, the secret in a second one |
//! | [`SealedStore`] | a process that an engine starts for each request | one encrypted file |

mod sealed;
pub(crate) mod sqlite;

use std::path::PathBuf;

use sprifed_study::JournalLine;
use zeroize::Zeroizing;

pub use sealed::{Entropy, SealedStore};
pub use sqlite::SqliteStore;

use crate::database::StoreError;
use crate::error::PartyError;

/// Files of a study that is over: their names and contents.
pub type Artefacts = Vec<(String, Vec<u8>)>;

/// How a party's part ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartyEnd {
    /// The files that it leaves behind.
    pub artefacts: Artefacts,
    /// Whether the study ended with a model.
    pub success: bool,
}

/// Where a party keeps its part of one study. When a writing function returns, a power cut cannot undo it.
pub trait PartyStore: Send + 'static {
    /// The file of the state, for messages.
    fn path(&self) -> PathBuf;

    /// The file of the secret, for messages.
    fn secret_path(&self) -> PathBuf;

    /// Whether the party's part has ended, so that its secret is not needed any more.
    ///
    /// # Errors
    /// If it cannot be read.
    fn is_over(&mut self) -> Result<bool, PartyError>;

    /// The journal, in order.
    ///
    /// # Errors
    /// If it cannot be read.
    fn lines(&mut self) -> Result<Vec<JournalLine>, PartyError>;

    /// Adds a line to the journal.
    ///
    /// # Errors
    /// If it could not be made durable. Nothing may be sent then.
    fn append(&mut self, line: &JournalLine) -> Result<(), PartyError>;

    /// Replaces lines of the journal, by their places counted from zero, and then the secret, if one is given. What
    /// they said before is gone from the disk. The same replacement a second time changes nothing.
    ///
    /// # Errors
    /// If there is no such line, or it could not be made durable.
    fn forget(
        &mut self,
        lines: &[(u64, JournalLine)],
        secret: Option<&str>,
    ) -> Result<(), PartyError>;

    /// The secret of the party in this study, as a party key is stored; nothing if it was never made, or erased.
    ///
    /// # Errors
    /// If it cannot be read.
    fn secret(&mut self) -> Result<Option<Zeroizing<String>>, PartyError>;

    /// Makes the state of a party that begins, with its secret if it has one to keep.
    ///
    /// # Errors
    /// If it could not be made durable.
    fn create(&mut self, secret: Option<&str>) -> Result<(), PartyError>;

    /// Erases the secret.
    ///
    /// # Errors
    /// If the disk refuses.
    fn erase_secret(&mut self) -> Result<(), PartyError>;

    /// Grows with what is stored. The ledger counts it, so that an older copy of the state is noticed.
    fn progress(&self) -> u64;

    /// The ledger knows of the study: from here on something may be sent.
    ///
    /// # Errors
    /// If it could not be made durable.
    fn begin(&mut self) -> Result<(), PartyError> {
        Ok(())
    }

    /// Orders that a party must be told again when it is made from this store; none if the coordinator repeats them.
    fn orders(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Remembers an order that the party has accepted, if it must be told again; [`flush`](Self::flush) stores it.
    fn accept(&mut self, _order: &[u8]) {}

    /// Stores what was accepted.
    ///
    /// # Errors
    /// If it could not be made durable.
    fn flush(&mut self) -> Result<(), PartyError> {
        Ok(())
    }

    /// How the party's part ended, if it did and the store keeps it.
    ///
    /// # Errors
    /// If it cannot be read.
    fn end(&mut self) -> Result<Option<PartyEnd>, PartyError>;

    /// Keeps how it ended.
    ///
    /// # Errors
    /// If it could not be made durable.
    fn finish(&mut self, end: &PartyEnd) -> Result<(), PartyError>;
}

/// A line as it is stored.
fn to_bytes(line: &JournalLine) -> Vec<u8> {
    // Numbers and bytes: there is nothing that could not be written.
    postcard::to_allocvec(line).unwrap_or_default()
}

/// A line that was stored; `place` is where it is in the journal.
fn from_bytes(place: usize, bytes: &[u8]) -> Result<JournalLine, StoreError> {
    match postcard::take_from_bytes(bytes) {
        Ok((line, [])) => Ok(line),
        Ok(_) => Err(StoreError::Damaged(format!(
            "line {place} of the journal has bytes after its end"
        ))),
        Err(error) => Err(StoreError::Damaged(format!(
            "line {place} of the journal: {error}"
        ))),
    }
}
