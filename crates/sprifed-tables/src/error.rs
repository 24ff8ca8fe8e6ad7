//! What can go wrong between a file and a bounded table, sorted by what is at fault: the schema, the table or the machine.
//!
//! Messages say what was found, what is required and what to do. They name columns and settings,
//! which are public, and never a value or the record that holds it: an error that depends on a
//! record may end up in a log that other people read.

use std::path::PathBuf;

use sprifed_schema::{ColumnError, SchemaError};
use thiserror::Error;

/// Why a schema or a table could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The schema must be changed.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The table, or the schema that describes it, must be changed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A file could not be read: a matter of paths, permissions, discs or memory.
    #[error(transparent)]
    File(#[from] FileError),
}

impl From<ColumnError> for DataError {
    fn from(problem: ColumnError) -> Self {
        Self::Table(problem.into())
    }
}

impl DataError {
    /// Whether the machine is the cause, and not the user's input.
    ///
    /// The command line exits with 3 if so and with 2 otherwise.
    pub const fn is_environment(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// What is wrong with a table, or between a table and its schema.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The columns are not usable, or not with this schema.
    #[error(transparent)]
    Columns(#[from] ColumnError),
    /// The content is not what its first bytes promise.
    #[error("the {format} content is damaged or of an unsupported kind: {problem}; {remedy}")]
    Malformed {
        /// The format that was expected.
        format: &'static str,
        /// What the reader met; the layout, never a value.
        problem: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The table has a header and nothing else, or nothing was left.
    #[error(
        "the table has no records (n = 0); required: at least one; check that the right file was given"
    )]
    NoRecords,
    /// A feature is missing in some record, and the policy is to refuse.
    #[error(
        "the column `{column}` has missing values and `record.missing` is \"reject\"; fill them \
         in, leave the column out, or set `record.missing = \"midpoint\"`"
    )]
    MissingValue {
        /// The column.
        column: String,
    },
    /// The response is missing in some record, and the policy is to refuse.
    #[error(
        "the response `{column}` has missing values and `record.missing_response` is \"reject\"; \
         fill them in, or set `record.missing_response = \"drop\"`"
    )]
    MissingResponse {
        /// The column.
        column: String,
    },
    /// A record has no client.
    #[error(
        "the client column `{column}` is empty in some record; required: a client for each record, \
         because a record without a client cannot be counted against the cap"
    )]
    NamelessClient {
        /// The client column.
        column: String,
    },
    /// More clients than records.
    #[error(
        "{clients} clients were asked for but the table has {records} records; required: at least \
         1 and at most as many clients as records, so that no client is empty"
    )]
    EmptyClient {
        /// Clients asked for.
        clients: usize,
        /// Records at hand.
        records: usize,
    },
    /// More records or columns than the index can count.
    #[error("the table has {found} {what}; required: at most {most}; split the table")]
    TooLarge {
        /// Rows, or bytes.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        most: u64,
    },
    /// This build cannot read the format.
    #[error("the file is {format}, which this build does not read; {remedy}")]
    NotBuiltIn {
        /// The format found.
        format: &'static str,
        /// What to do.
        remedy: &'static str,
    },
}

/// What the machine refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file could not be opened.
    #[error("`{}` cannot be opened: {source}; required: a readable file; check the path and its permissions", path.display())]
    Open {
        /// The path given.
        path: PathBuf,
        /// The system's message.
        source: std::io::Error,
    },
    /// Reading stopped half-way.
    #[error("reading stopped: {source}; check the disc, and that the file is complete")]
    Read {
        /// The system's message.
        #[from]
        source: std::io::Error,
    },
    /// The matrix does not fit.
    #[error(
        "the table needs {mebibytes} MiB of memory, which the system refused; use fewer columns \
         (`features.include`) or a larger machine"
    )]
    OutOfMemory {
        /// The size of the matrix.
        mebibytes: u64,
    },
}
