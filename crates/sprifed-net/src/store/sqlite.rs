//! The coordinator's state as a SQLite file: one table of events, ordered by their number.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};
use sprifed_party::{Artefacts, StateLock, StoreError, durable, existing, schema_of};

use crate::machine::PartyId;
use crate::store::{Entry, Event, Store};

#[cfg(test)]
mod tests;

/// State in a SQLite file, beside which a lock file lies.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    start: u64,
    _lock: StateLock,
}

impl SqliteStore {
    /// Opens or creates the state of `study`, and counts the start.
    ///
    /// # Errors
    /// If another process has it, it holds another study, or the disk refuses.
    pub fn open(path: &Path, study: &str) -> Result<Self, StoreError> {
        let (connection, lock) = durable(path)?;
        // A commit for each message of each client: one sync instead of three.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        schema_of(&connection, path, study, SCHEMA)?;
        // A kill may have come between a deletion and the end of the log that still had it.
        empty_wal(&connection)?;
        let start: i64 = connection.query_row(
            "UPDATE starts SET count = count + 1 RETURNING count",
            [],
            |row| row.get(0),
        )?;
        Ok(Self {
            connection,
            start: start.unsigned_abs(),
            _lock: lock,
        })
    }
}

/// Whether the state at `path` was ever opened by a server: an emptied file was not.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn was_started(path: &Path) -> Result<bool, StoreError> {
    let Some(connection) = existing(path, &["starts"])? else {
        return Ok(false);
    };
    let count: Option<i64> = connection
        .query_row("SELECT count FROM starts", [], |row| row.get(0))
        .optional()?;
    Ok(count.is_some_and(|count| count > 0))
}

/// Shows what a state file holds without taking it from the process that has it.
///
/// # Errors
/// If there is none, or it cannot be read.
pub(crate) fn look_into(
    path: &Path,
    visit: &mut dyn FnMut(u32, Event<'_>) -> bool,
) -> Result<(), StoreError> {
    match existing(path, &[])? {
        Some(connection) => replay(&connection, visit),
        None => Ok(()),
    }
}

fn replay(
    connection: &Connection,
    visit: &mut dyn FnMut(u32, Event<'_>) -> bool,
) -> Result<(), StoreError> {
    let mut statement =
        connection.prepare("SELECT epoch, kind, party, bytes FROM events ORDER BY number")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let epoch: u32 = row.get(0)?;
        let kind: String = row.get(1)?;
        let bytes = row
            .get_ref(3)?
            .as_blob_or_null()
            .map_err(rusqlite::Error::from)?;
        let event = match (kind.as_str(), bytes) {
            ("message", Some(bytes)) => Event::Message(PartyId(row.get(2)?), bytes),
            ("checkpoint", Some(bytes)) => Event::Checkpoint(bytes),
            ("closed", None) => Event::Closed,
            _ => return Err(StoreError::Database(format!("an event of kind `{kind}`"))),
        };
        if !visit(epoch, event) {
            break;
        }
    }
    Ok(())
}

impl Store for SqliteStore {
    fn start(&self) -> u64 {
        self.start
    }

    fn replay(&mut self, visit: &mut dyn FnMut(u32, Event<'_>) -> bool) -> Result<(), StoreError> {
        replay(&self.connection, visit)
    }

    fn artefacts(&mut self) -> Result<Option<Artefacts>, StoreError> {
        let ended: Option<i64> = self
            .connection
            .query_row("SELECT files FROM ended", [], |row| row.get(0))
            .optional()?;
        if ended.is_none() {
            return Ok(None);
        }
        let mut statement = self
            .connection
            .prepare("SELECT name, bytes FROM artefacts ORDER BY number")?;
        let files = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Some(files.collect::<Result<_, _>>()?))
    }

    fn commit(&mut self, entry: &Entry<'_>) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare(
                "INSERT INTO events (epoch, kind, party, bytes) VALUES (?1, ?2, ?3, ?4)",
            )?;
            let no_client = None::<u32>;
            match &entry.input {
                Some(Event::Message(PartyId(party), bytes)) => {
                    insert.execute(params![entry.epoch, "message", party, bytes])?;
                }
                Some(Event::Closed) => {
                    insert.execute(params![entry.epoch, "closed", no_client, None::<&[u8]>])?;
                }
                Some(Event::Checkpoint(_)) | None => {}
            }
            for (epoch, bytes) in &entry.checkpoints {
                transaction.execute("DELETE FROM events WHERE epoch = ?1", params![epoch])?;
                insert.execute(params![epoch, "checkpoint", no_client, bytes])?;
            }
        }
        if let Some(artefacts) = entry.artefacts {
            transaction.execute("DELETE FROM artefacts", [])?;
            for (name, bytes) in artefacts {
                transaction.execute(
                    "INSERT INTO artefacts (name, bytes) VALUES (?1, ?2)",
                    params![name, bytes],
                )?;
            }
            transaction.execute(
                "INSERT INTO ended (one, files) VALUES (1, ?1) ON CONFLICT DO UPDATE SET files = ?1",
                params![i64::try_from(artefacts.len()).unwrap_or(i64::MAX)],
            )?;
        }
        transaction.commit()?;
        if !entry.checkpoints.is_empty() {
            empty_wal(&self.connection)?;
        }
        Ok(())
    }
}

/// Takes what was deleted out of the write-ahead log too. While another process reads, the log stays until the next
/// time.
fn empty_wal(connection: &Connection) -> Result<(), StoreError> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS starts (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL);
INSERT INTO starts (one, count) VALUES (1, 0) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    epoch INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('message', 'closed', 'checkpoint')),
    party INTEGER,
    bytes BLOB
);
CREATE INDEX IF NOT EXISTS events_by_epoch ON events (epoch);
CREATE TABLE IF NOT EXISTS artefacts (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS ended (one INTEGER PRIMARY KEY CHECK (one = 1), files INTEGER NOT NULL);
";
