//! A party's state in a SQLite file, and its secret in a private file beside it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};
use sprifed_study::{Digest, JournalLine};
use zeroize::Zeroizing;

use super::{PartyEnd, PartyStore, from_bytes, to_bytes};
use crate::database::{StateLock, StoreError, durable, existing, schema_of};
use crate::error::PartyError;
use crate::folder::{StoredPart, StudyFolder};
use crate::private_files::{create_private, erase_private, read_if_there, replace_private};

#[cfg(test)]
mod tests;

/// The state of a party whose process runs as long as the study. Beside it lie its secret and a lock file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    folder: StudyFolder,
    n_lines: u64,
    _lock: StateLock,
}

impl SqliteStore {
    /// Opens or creates the state of one party in `study`.
    ///
    /// # Errors
    /// If another process has it, it holds another study, or the disk refuses.
    pub fn open(folder: &StudyFolder, study: &Digest) -> Result<Self, PartyError> {
        let path = folder.database();
        let (connection, lock) = durable(&path)?;
        schema_of(&connection, &path, &study.to_string(), SCHEMA)?;
        let n_lines: i64 = connection
            .query_row("SELECT count(*) FROM entries", [], |row| row.get(0))
            .map_err(StoreError::from)?;
        Ok(Self {
            connection,
            folder: folder.clone(),
            n_lines: n_lines.unsigned_abs(),
            _lock: lock,
        })
    }

    /// Adds a line of a trustee's journal.
    pub(crate) fn append_blob(&mut self, bytes: &[u8]) -> Result<(), PartyError> {
        let sql = "INSERT INTO entries (bytes) VALUES (?1)";
        let added = self.connection.execute(sql, params![bytes]);
        added.map_err(StoreError::from)?;
        self.n_lines += 1;
        Ok(())
    }

    /// The lines of a trustee's journal, in order.
    pub(crate) fn blobs(&self) -> Result<Vec<Vec<u8>>, PartyError> {
        Ok(blobs(&self.connection)?)
    }

    /// What the state at `path` says, without taking it from the process that has it; nothing if it was emptied.
    pub(crate) fn look_into(path: &Path) -> Result<Option<StoredPart>, StoreError> {
        let Some(connection) = existing(path, &["entries"])? else {
            return Ok(None);
        };
        Ok(Some(StoredPart {
            lines: lines(&connection)?,
            end: end(&connection)?,
        }))
    }
}

pub(crate) fn blobs(connection: &Connection) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut statement = connection.prepare("SELECT bytes FROM entries ORDER BY number")?;
    let blobs = statement.query_map([], |row| row.get(0))?;
    Ok(blobs.collect::<Result<_, _>>()?)
}

fn lines(connection: &Connection) -> Result<Vec<JournalLine>, StoreError> {
    let blobs = blobs(connection)?.into_iter().enumerate();
    blobs
        .map(|(place, bytes)| from_bytes(place, &bytes))
        .collect()
}

pub(crate) fn end(connection: &Connection) -> Result<Option<PartyEnd>, StoreError> {
    let success: Option<bool> = connection
        .query_row("SELECT success FROM ended", [], |row| row.get(0))
        .optional()?;
    let Some(success) = success else {
        return Ok(None);
    };
    let mut statement = connection.prepare("SELECT name, bytes FROM artefacts ORDER BY number")?;
    let files = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Some(PartyEnd {
        artefacts: files.collect::<Result<_, _>>()?,
        success,
    }))
}

impl SqliteStore {
    fn replace(&self, place: u64, line: &JournalLine) -> Result<(), StoreError> {
        // Places are counted and not taken from the numbers: those may have gaps after a failed insert.
        let sql = "UPDATE entries SET bytes = ?2
                   WHERE number = (SELECT number FROM entries ORDER BY number LIMIT 1 OFFSET ?1)";
        let offset = i64::try_from(place).unwrap_or(i64::MAX);
        match self
            .connection
            .execute(sql, params![offset, to_bytes(line)])?
        {
            1 => Ok(()),
            _ => Err(StoreError::Database(format!(
                "the journal has no line {place} to replace"
            ))),
        }
    }
}

impl PartyStore for SqliteStore {
    fn path(&self) -> PathBuf {
        self.folder.database()
    }

    fn secret_path(&self) -> PathBuf {
        self.folder.key()
    }

    fn is_over(&mut self) -> Result<bool, PartyError> {
        Ok(self.end()?.is_some())
    }

    fn lines(&mut self) -> Result<Vec<JournalLine>, PartyError> {
        Ok(lines(&self.connection)?)
    }

    fn append(&mut self, line: &JournalLine) -> Result<(), PartyError> {
        self.append_blob(&to_bytes(line))
    }

    fn forget(
        &mut self,
        lines: &[(u64, JournalLine)],
        secret: Option<&str>,
    ) -> Result<(), PartyError> {
        for (place, line) in lines {
            self.replace(*place, line)?;
        }
        secret.map_or(Ok(()), |secret| {
            replace_private(&self.folder.key(), secret.as_bytes())
        })
    }

    fn secret(&mut self) -> Result<Option<Zeroizing<String>>, PartyError> {
        let path = self.folder.key();
        let Some(bytes) = read_if_there(&path)? else {
            return Ok(None);
        };
        let bytes = Zeroizing::new(bytes);
        let text = core::str::from_utf8(&bytes).map_err(|error| {
            PartyError::unusable(path.display().to_string(), error, "the key of this study")
        })?;
        Ok(Some(Zeroizing::new(text.to_owned())))
    }

    fn create(&mut self, secret: Option<&str>) -> Result<(), PartyError> {
        secret.map_or(Ok(()), |secret| {
            create_private(&self.folder.key(), secret.as_bytes())
        })
    }

    fn erase_secret(&mut self) -> Result<(), PartyError> {
        erase_private(&self.folder.key())
    }

    fn progress(&self) -> u64 {
        self.n_lines
    }

    fn end(&mut self) -> Result<Option<PartyEnd>, PartyError> {
        Ok(end(&self.connection)?)
    }

    fn finish(&mut self, end: &PartyEnd) -> Result<(), PartyError> {
        let finish = |connection: &mut Connection| -> Result<(), StoreError> {
            let transaction = connection.transaction()?;
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
            Ok(transaction.commit()?)
        };
        Ok(finish(&mut self.connection)?)
    }
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY AUTOINCREMENT, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS artefacts (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS ended (one INTEGER PRIMARY KEY CHECK (one = 1), success INTEGER NOT NULL);
";
