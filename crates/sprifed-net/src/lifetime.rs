//! What one client has spent in all its studies: the ledger that outlives them.
//!
//! A study is entered with the most it can cost before a record is touched, and settled with what it
//! did cost when its receipt is there. A study that never ends stays at its most.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::store::{StateLock, StoreError, durable, schema_of};

/// One study in the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct LifetimeLine {
    /// Which study.
    pub study: String,
    /// What it is called.
    pub title: String,
    /// ε that is counted: the most possible, or what the receipt says.
    pub epsilon: f64,
    /// δ at which it is stated.
    pub delta: f64,
    /// Whether the study is over.
    pub is_settled: bool,
}

/// A client's ledger of studies in a SQLite file.
#[derive(Debug)]
pub struct LifetimeLedger {
    connection: Connection,
    _lock: StateLock,
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS studies (
    study TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon >= 0),
    delta REAL NOT NULL CHECK (delta >= 0),
    settled INTEGER NOT NULL
) STRICT;
";

impl LifetimeLedger {
    /// Opens or creates the ledger; one process at a time.
    ///
    /// # Errors
    /// If another process has it, or the disk refuses.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let (connection, lock) = durable(path)?;
        schema_of(&connection, path, "all studies of one client", SCHEMA)?;
        Ok(Self {
            connection,
            _lock: lock,
        })
    }

    /// ε of all studies but `study`, added up.
    ///
    /// # Errors
    /// If the ledger can not be read.
    pub fn spent_elsewhere(&self, study: &str) -> Result<f64, StoreError> {
        let sql = "SELECT coalesce(sum(epsilon), 0.0) FROM studies WHERE study <> ?1";
        Ok(self.connection.query_row(sql, [study], |row| row.get(0))?)
    }

    /// Enters `study` with the most it can cost; a study that is there already is left as it is.
    ///
    /// # Errors
    /// If it could not be made durable. No record may be touched then.
    pub fn reserve(
        &mut self,
        study: &str,
        title: &str,
        epsilon: f64,
        delta: f64,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO studies VALUES (?1, ?2, ?3, ?4, 0) ON CONFLICT DO NOTHING";
        self.connection
            .execute(sql, params![study, title, epsilon, delta])?;
        Ok(())
    }

    /// Takes back the reservation of a study in which nothing was sent.
    ///
    /// # Errors
    /// If it could not be made durable.
    pub fn withdraw(&mut self, study: &str) -> Result<(), StoreError> {
        let sql = "DELETE FROM studies WHERE study = ?1 AND settled = 0";
        self.connection.execute(sql, params![study])?;
        Ok(())
    }

    /// Replaces the most that `study` could cost by what it did cost.
    ///
    /// # Errors
    /// If it could not be made durable.
    pub fn settle(&mut self, study: &str, epsilon: f64) -> Result<(), StoreError> {
        let sql = "UPDATE studies SET epsilon = ?2, settled = 1 WHERE study = ?1 AND settled = 0";
        self.connection.execute(sql, params![study, epsilon])?;
        Ok(())
    }

    /// Every study, in the order in which they were entered.
    ///
    /// # Errors
    /// If the ledger can not be read.
    pub fn lines(&self) -> Result<Vec<LifetimeLine>, StoreError> {
        let sql = "SELECT study, title, epsilon, delta, settled FROM studies ORDER BY rowid";
        let mut statement = self.connection.prepare(sql)?;
        let lines = statement.query_map([], |row| {
            Ok(LifetimeLine {
                study: row.get(0)?,
                title: row.get(1)?,
                epsilon: row.get(2)?,
                delta: row.get(3)?,
                is_settled: row.get(4)?,
            })
        })?;
        Ok(lines.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests;
