//! A journal whose length the lifetime ledger knows, so that an older copy of it is noticed.
//!
//! A party that went on from an older copy would answer sums again with the same masks and the same
//! noise, and the difference of two answers has neither. An entry is in the journal before the
//! ledger counts it, and is counted before anything that depends on it is sent: a kill in between leaves
//! a journal that is longer than the count, which is as it should be.

use std::path::Path;

use super::LedgerPlace;
use crate::database::StoreError;
use crate::journal::{ClientEnd, Journal, SqliteJournal};

/// See the module.
#[derive(Debug)]
pub struct CountedJournal {
    journal: SqliteJournal,
    ledger: LedgerPlace,
    study: String,
    entries: u64,
}

impl CountedJournal {
    /// The journal at `path` of a study that the ledger at `place` knows.
    ///
    /// # Errors
    /// If it is shorter than it was, another process has the ledger, or the disk refuses.
    pub fn of(
        mut journal: SqliteJournal,
        path: &Path,
        place: &LedgerPlace,
        study: &str,
    ) -> Result<Self, StoreError> {
        let entries = journal.entries()?.len() as u64;
        let counted = place.open()?.answered(study)?;
        if entries < counted {
            return Err(StoreError::PutBack {
                path: path.to_owned(),
                found: entries,
                required: counted,
            });
        }
        Ok(Self {
            journal,
            ledger: place.clone(),
            study: study.to_owned(),
            entries,
        })
    }
}

impl Journal for CountedJournal {
    fn entries(&mut self) -> Result<Vec<Vec<u8>>, StoreError> {
        self.journal.entries()
    }

    fn end(&mut self) -> Result<Option<ClientEnd>, StoreError> {
        self.journal.end()
    }

    fn append(&mut self, entry: &[u8]) -> Result<(), StoreError> {
        self.journal.append(entry)?;
        self.entries += 1;
        self.ledger.open()?.count(&self.study, self.entries)
    }

    fn erase(&mut self, place: u64, tombstone: &[u8]) -> Result<(), StoreError> {
        self.journal.erase(place, tombstone)
    }

    fn finish(&mut self, end: &ClientEnd) -> Result<(), StoreError> {
        self.journal.finish(end)
    }
}
