//! State that fails at a chosen write, before or after it is made.

use sprifed_net::{Entry, Event, SqliteStore, Store};
use sprifed_party::{Artefacts, StoreError};

use crate::client_journal::{Journal, SqliteJournal};

/// Where the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crash {
    Never,
    /// With this write (counted from 0) not made.
    Before(usize),
    /// With this write made, and nothing after it.
    After(usize),
    /// With the disk full at this write.
    Full(usize),
}

/// State that crashes.
#[derive(Debug)]
pub(crate) struct Crashing<S> {
    inner: S,
    crash: Crash,
    n_writes: usize,
}

impl<S> Crashing<S> {
    pub(crate) fn new(inner: S, crash: Crash) -> Self {
        Self {
            inner,
            crash,
            n_writes: 0,
        }
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut S) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let number = self.n_writes;
        self.n_writes += 1;
        let crashed = || Err(StoreError::Database(CRASH.to_owned()));
        if self.crash == Crash::Before(number) {
            return crashed();
        }
        if self.crash == Crash::Full(number) {
            return Err(StoreError::DiskFull);
        }
        write(&mut self.inner)?;
        if self.crash == Crash::After(number) {
            return crashed();
        }
        Ok(())
    }
}

impl Store for Crashing<SqliteStore> {
    fn start(&self) -> u64 {
        self.inner.start()
    }

    fn replay(&mut self, visit: &mut dyn FnMut(u32, Event<'_>) -> bool) -> Result<(), StoreError> {
        self.inner.replay(visit)
    }

    fn artefacts(&mut self) -> Result<Option<Artefacts>, StoreError> {
        self.inner.artefacts()
    }

    fn commit(&mut self, entry: &Entry<'_>) -> Result<(), StoreError> {
        self.write(|inner| inner.commit(entry))
    }
}

impl Journal for Crashing<SqliteJournal> {
    fn entries(&mut self) -> Result<Vec<String>, StoreError> {
        self.inner.entries()
    }

    fn end(&mut self) -> Result<Option<String>, StoreError> {
        self.inner.end()
    }

    fn append(&mut self, entry: &str) -> Result<(), StoreError> {
        self.write(|inner| inner.append(entry))
    }

    fn finish(&mut self, totals: &str) -> Result<(), StoreError> {
        self.write(|inner| inner.finish(totals))
    }
}

/// What a crash says, so that no other failure is taken for one.
pub(crate) const CRASH: &str = "crashed for the test";
