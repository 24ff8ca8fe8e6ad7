//! What can go wrong between a file and a bounded table, sorted by who must act.
//!
//! Messages say what was found, what is required and what to do. They name columns and settings,
//! which are public, and never a value or the record that holds it: an error that depends on a
//! record may end up in a log that other people read.

use std::path::PathBuf;

use thiserror::Error;

use crate::toml_text::TomlProblem;

/// Why a schema or a table could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The schema must be changed by the person who wrote it.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The table, or the schema that describes it, must be changed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A file could not be read: a matter of paths, permissions, discs or memory.
    #[error(transparent)]
    File(#[from] FileError),
}

impl DataError {
    /// Whether the machine, and not what the user wrote, stands in the way.
    ///
    /// The command line exits with 3 if so and with 2 otherwise.
    pub const fn is_environment(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

/// What is wrong with a schema on its own.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is not TOML, or holds a key or a type that a schema does not have.
    #[error(
        "the schema cannot be read: {problem}; required: a TOML file with [response], [features], \
         [feature.NAME] and [record] as written by `sprifed schema draft`"
    )]
    Syntax {
        /// The line, and what is wrong with it.
        problem: TomlProblem,
    },
    /// A number that must be finite is not.
    #[error("`{key}` is {found}; required: a finite number, chosen without looking at the records")]
    NotFinite {
        /// The full key, such as `feature.age.lower`.
        key: String,
        /// What the schema says.
        found: f64,
    },
    /// The bounds are not an interval.
    #[error("`{table}` has lower = {lower} and upper = {upper}; required: lower < upper")]
    NotAnInterval {
        /// The table that holds both keys.
        table: String,
        /// The lower bound found.
        lower: f64,
        /// The upper bound found.
        upper: f64,
    },
    /// One bound was given without the other.
    #[error("`{table}` has one of `lower` and `upper`; required: both, or neither")]
    HalfAnInterval {
        /// The table that holds the lonely key.
        table: String,
    },
    /// The public centre lies outside the bounds.
    #[error("`{table}.center` is {found}; required: a number from {lower} to {upper}, the bounds")]
    CenterOutsideBounds {
        /// The table that holds the key.
        table: String,
        /// The centre found.
        found: f64,
        /// The lower bound, on the scale of the centre.
        lower: f64,
        /// The upper bound, on the scale of the centre.
        upper: f64,
    },
    /// The public scale is not positive, or so small that bounded units overflow.
    #[error(
        "`{table}.scale` is {found}; required: a positive number that is not negligible beside \
         the bounds (leave it out to use half the distance between them)"
    )]
    UnusableScale {
        /// The table that holds the key.
        table: String,
        /// The scale found, given or derived from the bounds.
        found: f64,
    },
    /// `log1p` of the lower bound does not exist.
    #[error(
        "`response.transform` is \"log1p\" but `response.lower` is {lower}; required: lower > -1"
    )]
    LogOfNegative {
        /// The lower bound found.
        lower: f64,
    },
    /// A name or pattern is the empty string.
    #[error("`{key}` is empty; required: the name of a column")]
    EmptyName {
        /// The full key.
        key: String,
    },
    /// The cap on records per client is zero.
    #[error("`record.max_per_client` is 0; required: at least 1 record per client")]
    ZeroCap,
    /// A cap above one, or a unit, makes no sense without a client column.
    #[error(
        "`record.{key}` is {found} but `record.client` is absent, so every record is its own \
         client; name the client column, or remove `{key}`"
    )]
    NeedsClientColumn {
        /// The key that asks for clients.
        key: &'static str,
        /// What it says.
        found: String,
    },
    /// One column would play two roles.
    #[error(
        "`{column}` is {first} and {second}; required: one role for each column; remove it from \
         one of the two"
    )]
    TwoRoles {
        /// The column.
        column: String,
        /// Its first role.
        first: &'static str,
        /// Its second role.
        second: &'static str,
    },
    /// The target asked for is not the response the schema bounds.
    #[error(
        "the target is `{target}` but the schema bounds the response `{response}`; required: the \
         same column; change `--target` or `response.name`"
    )]
    OtherTarget {
        /// What the caller asked for.
        target: String,
        /// `response.name`.
        response: String,
    },
    /// There is no schema at all.
    #[error(
        "no schema was given; required: a file of public bounds, because bounds read off the \
         records would themselves reveal the records (the largest value is somebody's value); run \
         `sprifed schema draft DATA` and fill in what is known without looking at the values"
    )]
    Missing,
}

/// What is wrong with a table, or between a table and its schema.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
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
    /// The table has no header line.
    #[error("the table is empty; required: a header line with column names, then records")]
    NoHeader,
    /// The table has a header and nothing else, or nothing was left.
    #[error(
        "the table has no records (n = 0); required: at least one; check that the right file was given"
    )]
    NoRecords,
    /// A column without a name.
    #[error(
        "column {position} has no name; required: a name for each column (a nameless first column \
         is often a row index: write the file without it)"
    )]
    NamelessColumn {
        /// The position of the column, from one.
        position: usize,
    },
    /// Two columns of the same name.
    #[error(
        "the column name `{column}` occurs more than once; required: distinct names; rename or remove one"
    )]
    DuplicateColumn {
        /// The name.
        column: String,
    },
    /// A column that the schema names is not in the table.
    #[error(
        "the schema names `{column}` ({role}) but the table has no such column; required: a column \
         of exactly this name; correct the schema or the table"
    )]
    AbsentColumn {
        /// The name.
        column: String,
        /// What it was to be.
        role: &'static str,
    },
    /// A pattern of `features.include` matches nothing.
    #[error(
        "the pattern `{pattern}` of `features.include` matches no column; correct or remove it"
    )]
    IdlePattern {
        /// The pattern.
        pattern: String,
    },
    /// No column is left to be a feature.
    #[error(
        "no feature is left after `features.include` and `features.exclude`; required: at least \
         one numeric column besides the response and the client"
    )]
    NoFeatures,
    /// Features for which the schema gives no bounds.
    #[error(
        "{count} features have no bounds, the first is `{first}`; required: bounds for each; add \
         default bounds under [features], a [feature.NAME] table, or list the columns to leave out \
         in `features.exclude`"
    )]
    Unbounded {
        /// How many.
        count: usize,
        /// The first of them in the order of the table.
        first: String,
    },
    /// A column that must hold numbers holds text.
    #[error(
        "the column `{column}` ({role}) holds text; required: numbers; encode it as numbers, or \
         list it in `features.exclude`"
    )]
    NotNumeric {
        /// The column.
        column: String,
        /// What it was to be.
        role: &'static str,
    },
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
    /// A record does not say whose it is.
    #[error(
        "the client column `{column}` is empty in some record; required: a client for each record, \
         because a record of nobody cannot be counted against the cap"
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
        /// The system's words.
        source: std::io::Error,
    },
    /// Reading stopped half-way.
    #[error("reading stopped: {source}; check the disc, and that the file is complete")]
    Read {
        /// The system's words.
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
