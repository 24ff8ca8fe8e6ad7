//! What can go wrong between a file and a bounded table, sorted by what is at fault: the schema, the table or the machine.
//!
//! Messages say what was found, what is required and what to do. They name columns, settings and lines, and never a
//! value. A line depends on records, so these messages are for the holder of the table: no command sends them, and a
//! party tells its coordinator only that its table cannot be used.

use std::path::PathBuf;

use sprifed_privacy::counted;
use sprifed_schema::{ColumnError, SchemaError};
use thiserror::Error;

use crate::cell::{CellProblem, Place};

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
    /// The name of the file promises another format than its content is.
    #[error(
        "the file's name ends in `.{extension}`, but it does not begin as a file of the format {format} does; give the right \
         file, or rename it if it is a table in another format"
    )]
    OtherContent {
        /// The end of the name.
        extension: String,
        /// The format that it promises.
        format: &'static str,
    },
    /// A table has no column of the identifiers of samples.
    #[error(
        "{table} has no column `{column}` with the identifiers of samples; pass --sample-column with the name of its column"
    )]
    NoSampleColumn {
        /// Which of the two.
        table: Which,
        /// The column looked for.
        column: String,
    },
    /// Two tables that are no genotypes are joined by a column that the user names.
    #[error(
        "two tables are joined by the identifiers of samples; pass --sample-column with the name that their column has in both"
    )]
    UnnamedSampleColumn,
    /// A row has no identifier.
    #[error(
        "{table} has no identifier of a sample in {place}; required: one for each row, because rows are joined by it"
    )]
    NamelessSample {
        /// Which of the two.
        table: Which,
        /// The first such row.
        place: Place,
    },
    /// A sample has several rows.
    #[error(
        "{table} has {} whose sample has a row before, the first in {place}; required: one row for each sample",
        counted(*count, "row", "rows")
    )]
    RepeatedSamples {
        /// Which of the two.
        table: Which,
        /// How many rows.
        count: u64,
        /// The first of them.
        place: Place,
    },
    /// Records have no row in the second table, which has the response.
    #[error(
        "{} of the first table {} no row in the second one, which has the response; add them, or set \
         `record.missing_response = \"drop\"`: such a record contributes nothing",
        counted(*count, "record", "records"),
        if *count == 1 { "has" } else { "have" }
    )]
    UnmatchedRecords {
        /// How many.
        count: u64,
    },
    /// Rows of the second table belong to no record.
    #[error(
        "{} of the second table {} to no record of the first; remove them, or pass --extra-samples leave-out",
        counted(*count, "row", "rows"),
        if *count == 1 { "belongs" } else { "belong" }
    )]
    ExtraSamples {
        /// How many.
        count: u64,
    },
    /// A sparse table whose columns are not known.
    #[error(
        "a table in the format svmlight has no header; pass its indices, as in --svmlight 1-5000"
    )]
    NoIndices,
    /// The table has a header and nothing else, or nothing was left.
    #[error(
        "the table has no records (n = 0); required: at least one; check that the right file was given"
    )]
    NoRecords,
    /// Cells that cannot be used: the first of each column.
    #[error("{}", joined(problems))]
    Cells {
        /// The problems, in the order of the columns.
        problems: Vec<CellProblem>,
    },
    /// A file of one column whose name holds separators.
    #[error(
        "the file has one column, and seems to be separated by {separators}; separate the fields by commas, or read the table \
         with this separator"
    )]
    OtherSeparator {
        /// What seems to separate its fields.
        separators: &'static str,
        /// One of them.
        separator: char,
    },
    /// A number could be taken for two fields.
    #[error(
        "a decimal comma requires fields that are separated by something else, for example by semicolons"
    )]
    DecimalSeparator,
    /// Arrays have columns of numbers only.
    #[error(
        "the column `{column}` has levels, a missing-value indicator or events, which arrays do not take; encode it as columns \
         of numbers, or fit a file"
    )]
    NotForArrays {
        /// The column.
        column: String,
    },
    /// A record has no client.
    #[error(
        "the client column `{column}` is empty in {place}; required: a client for each record, \
         because a record without a client cannot be counted against the cap"
    )]
    NamelessClient {
        /// The client column.
        column: String,
        /// The first such record.
        place: Place,
    },
    /// A sample has no family, but families are the clients.
    #[error(
        "the client column `{column}` of the .fam file says in {place} that the sample has no family (a family of 0 is none); \
         required: a client for each record; write the IID as the FID of samples without family, or name another client column"
    )]
    NoFamily {
        /// The client column.
        column: String,
        /// The first such record.
        place: Place,
    },
    /// More clients than records.
    #[error(
        "{} asked for but the table has {}; required: at least 1 and at most as many clients as records, \
         so that no client is empty",
        counted(*clients, "client was", "clients were"),
        counted(*records, "record", "records")
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

/// One of two joined tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one whose records are used.
    First,
    /// The one that adds columns to them.
    Second,
}

impl core::fmt::Display for Which {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(match self {
            Self::First => "the first table",
            Self::Second => "the second table (--phenotypes)",
        })
    }
}

fn joined(problems: &[CellProblem]) -> String {
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    said.join("; ")
}

impl DataError {
    /// Each problem on its own, in words.
    #[must_use]
    pub fn each(&self) -> Vec<String> {
        match self {
            Self::Table(TableError::Cells { problems }) => {
                problems.iter().map(ToString::to_string).collect()
            }
            Self::Table(TableError::Columns(problem)) => {
                let problems = problem.clone().each().into_iter();
                problems.map(|problem| problem.to_string()).collect()
            }
            other => vec![other.to_string()],
        }
    }
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
