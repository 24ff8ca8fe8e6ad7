//! What can be wrong with a schema, or between a schema and the columns of a table.
//!
//! Messages say what was found, what is required and what to do. They name columns and settings,
//! which are public, and never a value.

use thiserror::Error;

use crate::toml_text::TomlProblem;

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
        /// The key that requires clients.
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
         same column; ask for that target, or change `response.name`"
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
         records would themselves reveal the records (the largest value is the value of one record); run \
         `sprifed schema draft DATA` and fill in what is known without looking at the values"
    )]
    Missing,
}

/// What is wrong with the columns of a table, or between them and a schema.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnError {
    /// The table has no header line.
    #[error("the table is empty; required: a header line with column names, then records")]
    NoHeader,
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
}
