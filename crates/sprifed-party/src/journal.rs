//! What a client keeps on disk: its machine's own entries, in order, and how its part ended.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use crate::database::{StateLock, StoreError, durable, schema_of};

/// How a study ended: file names and contents.
pub type Artefacts = Vec<(String, Vec<u8>)>;

/// How a client's part ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEnd {
    /// File names and contents.
    pub artefacts: Artefacts,
    /// Whether the study ended as planned.
    pub success: bool,
}

/// Where a client keeps its part of a study.
pub trait Journal: Send + 'static {
    /// Every entry so far, in order.
    ///
    /// # Errors
    /// If the journal can not be read.
    fn entries(&mut self) -> Result<Vec<Vec<u8>>, StoreError>;

    /// How the client's part ended, if it did.
    ///
    /// # Errors
    /// If the journal can not be read.
    fn end(&mut self) -> Result<Option<ClientEnd>, StoreError>;

    /// Adds an entry. When this returns, a power cut can not undo it.
    ///
    /// # Errors
    /// If it could not be made durable. Nothing may be sent then.
    fn append(&mut self, entry: &[u8]) -> Result<(), StoreError>;

    /// Puts `tombstone` in the place of entry `place` (the first is 0), so that what the entry said is gone from the
    /// file while it still counts as an entry. The same erasure a second time changes nothing.
    ///
    /// # Errors
    /// If there is no such entry, or it could not be made durable.
    fn erase(&mut self, place: u64, tombstone: &[u8]) -> Result<(), StoreError>;

    /// Writes how it ended.
    ///
    /// # Errors
    /// If it could not be made durable.
    fn finish(&mut self, end: &ClientEnd) -> Result<(), StoreError>;
}

/// What a journal holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalView {
    /// Every entry, in order.
    pub entries: Vec<Vec<u8>>,
    /// How the client's part ended, if it did.
    pub end: Option<ClientEnd>,
}

impl JournalView {
    /// Whether nothing was ever sent that depends on an entry.
    #[must_use]
    pub const fn is_unused(&self) -> bool {
        self.entries.is_empty() && self.end.is_none()
    }
}

/// A journal in a SQLite file, beside which a lock file lies.
#[derive(Debug)]
pub struct SqliteJournal {
    connection: Connection,
    _lock: StateLock,
}

impl SqliteJournal {
    /// Opens or creates the journal of one client in `study`.
    ///
    /// # Errors
    /// If another process has it, it holds another study, or the disk refuses.
    pub fn open(path: &Path, study: &str) -> Result<Self, StoreError> {
        let (connection, lock) = durable(path)?;
        schema_of(&connection, path, study, SCHEMA)?;
        Ok(Self {
            connection,
            _lock: lock,
        })
    }

    /// What a journal holds, without taking it from the process that has it; nothing if it was emptied.
    ///
    /// # Errors
    /// If there is none, or it can not be read.
    pub fn look_into(path: &Path) -> Result<Option<JournalView>, StoreError> {
        // Not read-only: what a power cut left half done is undone first.
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = Connection::open_with_flags(path, flags)?;
        let sql = "SELECT count(*) FROM sqlite_master WHERE name = 'entries'";
        let is_made: bool = connection.query_row(sql, [], |row| row.get(0))?;
        if !is_made {
            return Ok(None);
        }
        Ok(Some(JournalView {
            entries: entries(&connection)?,
            end: end(&connection)?,
        }))
    }
}

fn entries(connection: &Connection) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut statement = connection.prepare("SELECT bytes FROM entries ORDER BY number")?;
    let entries = statement.query_map([], |row| row.get(0))?;
    Ok(entries.collect::<Result<_, _>>()?)
}

fn end(connection: &Connection) -> Result<Option<ClientEnd>, StoreError> {
    let success: Option<bool> = connection
        .query_row("SELECT success FROM ended", [], |row| row.get(0))
        .optional()?;
    let Some(success) = success else {
        return Ok(None);
    };
    let mut statement = connection.prepare("SELECT name, bytes FROM artefacts ORDER BY number")?;
    let files = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Some(ClientEnd {
        artefacts: files.collect::<Result<_, _>>()?,
        success,
    }))
}

impl Journal for SqliteJournal {
    fn entries(&mut self) -> Result<Vec<Vec<u8>>, StoreError> {
        entries(&self.connection)
    }

    fn end(&mut self) -> Result<Option<ClientEnd>, StoreError> {
        end(&self.connection)
    }

    fn append(&mut self, entry: &[u8]) -> Result<(), StoreError> {
        self.connection
            .execute("INSERT INTO entries (bytes) VALUES (?1)", params![entry])?;
        Ok(())
    }

    fn erase(&mut self, place: u64, tombstone: &[u8]) -> Result<(), StoreError> {
        // Places are counted and not taken from the numbers: those may have gaps after a failed insert.
        let sql = "UPDATE entries SET bytes = ?2
                   WHERE number = (SELECT number FROM entries ORDER BY number LIMIT 1 OFFSET ?1)";
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        match self.connection.execute(sql, params![place, tombstone])? {
            1 => Ok(()),
            _ => Err(StoreError::Database(format!(
                "the journal has no entry {place} to erase"
            ))),
        }
    }

    fn finish(&mut self, end: &ClientEnd) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for (name, bytes) in &end.artefacts {
            transaction.execute(
                "INSERT INTO artefacts (name, bytes) VALUES (?1, ?2)",
                params![name, bytes],
            )?;
        }
        transaction.execute(
            "INSERT INTO ended (one, success) VALUES (1, ?1)",
            params![end.success],
        )?;
        transaction.commit()?;
        Ok(())
    }
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY AUTOINCREMENT, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS artefacts (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS ended (one INTEGER PRIMARY KEY CHECK (one = 1), success INTEGER NOT NULL);
";

#[cfg(test)]
mod tests;
