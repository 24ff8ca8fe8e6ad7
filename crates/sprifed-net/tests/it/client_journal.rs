//! What a client of the toy study keeps on disk.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};
use sprifed_party::{StateLock, StoreError, durable, schema_of};

/// Where a client keeps its part of a study.
pub(crate) trait Journal: std::fmt::Debug + Send + 'static {
    fn entries(&mut self) -> Result<Vec<String>, StoreError>;
    /// The totals, if its part is over.
    fn end(&mut self) -> Result<Option<String>, StoreError>;
    fn append(&mut self, entry: &str) -> Result<(), StoreError>;
    fn finish(&mut self, totals: &str) -> Result<(), StoreError>;
}

/// A journal in a SQLite file.
#[derive(Debug)]
pub(crate) struct SqliteJournal {
    connection: Connection,
    _lock: StateLock,
}

impl SqliteJournal {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let (connection, lock) = durable(path)?;
        schema_of(&connection, path, "adding", SCHEMA)?;
        Ok(Self {
            connection,
            _lock: lock,
        })
    }
}

impl Journal for SqliteJournal {
    fn entries(&mut self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT text FROM entries ORDER BY number";
        let mut statement = self.connection.prepare(sql)?;
        let entries = statement.query_map([], |row| row.get(0))?;
        Ok(entries.collect::<Result<_, _>>()?)
    }

    fn end(&mut self) -> Result<Option<String>, StoreError> {
        let sql = "SELECT totals FROM ended";
        let totals = self.connection.query_row(sql, [], |row| row.get(0));
        Ok(totals.optional()?)
    }

    fn append(&mut self, entry: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO entries (text) VALUES (?1)";
        self.connection.execute(sql, params![entry])?;
        Ok(())
    }

    fn finish(&mut self, totals: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO ended (one, totals) VALUES (1, ?1)";
        self.connection.execute(sql, params![totals])?;
        Ok(())
    }
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ended (one INTEGER PRIMARY KEY CHECK (one = 1), totals TEXT NOT NULL);
";
