//! A SQLite file that only its owner reads, and why state could not be kept.

mod lock;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};

pub use lock::StateLock;

use crate::private_files::touch_private;

/// Why state could not be kept.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has it.
    #[error(
        "`{path}` is in use by another process; start one process for the coordinator and one for each party"
    )]
    InUse {
        /// Which file.
        path: PathBuf,
    },
    /// The file could not be opened or locked.
    #[error("cannot open `{path}`: {reason}")]
    Unusable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file is an older one than it was.
    #[error(
        "`{path}` has {found} entries, but had {required} before: it is an older copy, or was emptied; going on would \
         answer sums a second time with the same masks. Restore its whole folder in its latest state, or make another \
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
    /// What was spent cannot be known, or is known elsewhere.
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
    #[error("the state is damaged: {0}; nothing was sent, restore the folder in its latest state")]
    Damaged(String),
    /// Anything else that the database said.
    #[error("the state cannot be kept: {0}; nothing was sent, start again when the disk works")]
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

/// A locked database file that only its owner reads and whose commits survive a power cut.
///
/// All of it is in the one file: what lies beside it after a crash only undoes what was not
/// committed, so a file that is copied or restored alone forgets nothing that was sent. What is deleted or replaced is
/// overwritten with zeros in the file; blocks that the file system takes back from the rollback journal are not.
///
/// # Errors
/// If another process has it, or the disk refuses.
pub fn durable(path: &Path) -> Result<(Connection, StateLock), StoreError> {
    let lock = StateLock::take(path)?;
    Ok((connect(path)?, lock))
}

/// The same without a lock, for a file that has one or that no other process knows.
///
/// # Errors
/// If the disk refuses.
pub fn connect(path: &Path) -> Result<Connection, StoreError> {
    let unusable = |reason: String| StoreError::Unusable {
        path: path.to_owned(),
        reason,
    };
    touch_private(path).map_err(|error| unusable(error.to_string()))?;
    let connection = Connection::open(path).map_err(|error| unusable(error.to_string()))?;
    connection
        .pragma_update(None, "journal_mode", "delete")
        .and_then(|()| connection.pragma_update(None, "synchronous", "extra"))
        .and_then(|()| connection.pragma_update(None, "secure_delete", "on"))
        .map_err(|error| match StoreError::from(error) {
            StoreError::Database(reason) => unusable(reason),
            other => other,
        })?;
    Ok(connection)
}

/// The database at `path`, without taking it from the process that has it; nothing if one of `tables` is not in it.
///
/// # Errors
/// If there is no such file, or it cannot be read.
pub fn existing(path: &Path, tables: &[&str]) -> Result<Option<Connection>, StoreError> {
    // Not read-only: what a power cut left half done is undone first.
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let sql = "SELECT count(*) FROM sqlite_master WHERE name = ?1";
    for table in tables {
        let is_made: bool = connection.query_row(sql, [table], |row| row.get(0))?;
        if !is_made {
            return Ok(None);
        }
    }
    Ok(Some(connection))
}

/// Creates the tables of a new file for `study`, or checks that an old one belongs to it.
///
/// # Errors
/// If it holds another study, or the disk refuses.
pub fn schema_of(
    connection: &Connection,
    path: &Path,
    study: &str,
    tables: &str,
) -> Result<(), StoreError> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS study (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL); {tables} COMMIT;"
    ))?;
    connection.execute(
        "INSERT INTO study (one, id) VALUES (1, ?1) ON CONFLICT DO NOTHING",
        params![study],
    )?;
    let found: String = connection.query_row("SELECT id FROM study", [], |row| row.get(0))?;
    if found == study {
        return Ok(());
    }
    Err(StoreError::OtherStudy {
        path: path.to_owned(),
        found,
        required: study.to_owned(),
    })
}
