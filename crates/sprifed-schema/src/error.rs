//! What can be wrong with a schema, or between a schema and the columns of a table.
//!
//! Messages say what was found, what is required and what to do. They name columns and settings,
//! which are public, and never a value.

use sprifed_privacy::counted;
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
    /// A draft was not filled in.
    #[error(
        "{place} line {line}: replace FILL_IN with a number that is known without looking at the records{}",
        other_lines(others)
    )]
    Placeholder {
        /// What the line is of: the name of a file.
        place: String,
        /// The first such line, counted from 1.
        line: usize,
        /// The other such lines.
        others: Vec<usize>,
    },
    /// The bounds file is no table of bounds.
    #[error(
        "line {line} of the bounds file: {problem}; required: the columns `column`, `lower` and `upper`, and possibly \
         `center` and `scale`, one line for each column of the table"
    )]
    BoundsFile {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong.
        problem: String,
    },
    /// `features.bounds` is no plain file name.
    #[error(
        "`features.bounds` is `{name}`; required: the name of a file in the folder of the schema, without a path"
    )]
    BoundsElsewhere {
        /// The name.
        name: String,
    },
    /// The schema names a bounds file, of which there is no text.
    #[error(
        "the schema names the bounds file `{name}`, which was not given with it; read the schema from its file"
    )]
    BoundsNotGiven {
        /// The name.
        name: String,
    },
    /// There is a bounds file that the schema does not name.
    #[error("a bounds file was given, but the schema has no `features.bounds`")]
    BoundsNotNamed,
    /// A table of the schema contradicts itself.
    #[error("`{table}` {problem}")]
    FeatureTable {
        /// The table.
        table: String,
        /// What is wrong and what is required.
        problem: String,
    },
    /// `features.every` is zero.
    #[error("`features.every` is 0; required: at least 1, which keeps every column")]
    ZeroEvery,
    /// A number that must be finite is not.
    #[error("`{key}` is {found}; required: a finite number, chosen without looking at the records")]
    NotFinite {
        /// The full key, such as `feature.age.lower`.
        key: String,
        /// What the schema says.
        found: f64,
    },
    /// A number so large that coefficients could not be written.
    #[error("`{key}` is {found:e}; required: at most {most:e} in size; use larger units")]
    TooLarge {
        /// The full key.
        key: String,
        /// What the schema says.
        found: f64,
        /// The largest size.
        most: f64,
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
        "`{table}.scale` is {found}; required: at least 1e-30, and not negligible beside \
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
    /// A region of a chromosome is written in another way.
    #[error("`features.regions` has `{found}`; it {required}")]
    Region {
        /// What was found.
        found: String,
        /// What is required.
        required: String,
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

fn other_lines(others: &[usize]) -> String {
    let listed: Vec<String> = others.iter().map(ToString::to_string).collect();
    match listed.len() {
        0 => String::new(),
        1 => format!("; also in line {}", listed[0]),
        _ => format!("; also in lines {}", listed.join(", ")),
    }
}

/// What is wrong with the columns of a table, or between them and a schema.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnError {
    /// The table has no header line.
    #[error("the table is empty; required: a header line with column names, then records")]
    NoHeader,
    /// The first line of a text is a record.
    #[error(
        "the first line seems to be a record and not a header, because {} of its {fields} fields are numbers; required: a header \
         line with the names of the columns",
        numbers
    )]
    RecordAsHeader {
        /// How many fields are numbers.
        numbers: usize,
        /// How many there are.
        fields: usize,
    },
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
    /// A pattern of `features.include`, `features.always` or of a [feature."PATTERN"] table matches nothing.
    #[error("the pattern `{pattern}` of the schema matches no column; correct or remove it")]
    IdlePattern {
        /// The pattern.
        pattern: String,
    },
    /// A line of the bounds file is of no column.
    #[error(
        "line {line} of the bounds file names `{column}` but the table has no such column{}; required: a column of exactly this \
         name; correct or remove the line",
        match others {
            0 => String::new(),
            others => format!(", nor those of {}", counted(*others, "other line", "other lines")),
        }
    )]
    IdleBounds {
        /// The line, counted from 1.
        line: u64,
        /// The name.
        column: String,
        /// How many other lines are of no column.
        others: usize,
    },
    /// A region has no genetic marker.
    #[error(
        "no genetic marker of the table lies in the region `{region}`; correct or remove it (chromosomes are called as the \
         table calls them)"
    )]
    EmptyRegion {
        /// The region.
        region: String,
    },
    /// A table does not say which allele a column counts, where it is agreed.
    #[error(
        "the table does not say which allele `{column}` counts, and the study requires it; give genotypes in a format that does, \
         such as PLINK"
    )]
    UnstatedAlleles {
        /// The column.
        column: String,
    },
    /// A table counts another allele than was agreed.
    #[error(
        "`{column}` counts copies of {} and not of {}; required: copies of {} and not of {}; write the genotypes again with these \
         alleles, for example with `plink2 --alt-allele`, and correct the strand if the letters differ",
        found.0, found.1, required.0, required.1
    )]
    OtherAlleles {
        /// The column.
        column: String,
        /// The counted and the other allele of the table.
        found: (String, String),
        /// Those that are required.
        required: (String, String),
    },
    /// No column is left to be a feature.
    #[error(
        "no feature is left after `features.include` and `features.exclude`; required: at least \
         one numeric column besides the response and the client"
    )]
    NoFeatures,
    /// Features for which the schema gives no bounds.
    #[error(
        "{} no bounds, the first is `{first}`; required: bounds for each; add default bounds under [features], a \
         [feature.NAME] table, or list the columns to leave out in `features.exclude`",
        counted(*count, "feature has", "features have")
    )]
    Unbounded {
        /// How many.
        count: usize,
        /// The first of them in the order of the table.
        first: String,
    },
    /// A column without names, by position, and not the one that the schema names.
    #[error(
        "the schema names `{column}` ({role}), but a .npy array has no column names: its {count} columns are called \
         x_0 to x_{}; use these names in the schema", .count - 1
    )]
    AbsentPosition {
        /// The name.
        column: String,
        /// What it was to be.
        role: &'static str,
        /// How many columns there are.
        count: usize,
    },
    /// Several of these.
    #[error("{}", joined(problems))]
    Several {
        /// Each of them.
        problems: Vec<Self>,
    },
    /// A column of dates.
    #[error(
        "the column `{column}` ({role}) holds dates; required: numbers; write it as the number of days since a public \
         date, or list it in `features.exclude`"
    )]
    Date {
        /// The column.
        column: String,
        /// What it was to be.
        role: &'static str,
    },
    /// A column that must hold numbers holds text.
    #[error(
        "the column `{column}` ({role}) holds text; required: numbers; give it `levels` in the schema, encode it as \
         numbers, or list it in `features.exclude`"
    )]
    NotNumeric {
        /// The column.
        column: String,
        /// What it was to be.
        role: &'static str,
    },
}

fn joined(problems: &[ColumnError]) -> String {
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    said.join("; ")
}

impl ColumnError {
    /// These problems as one; none if there are none.
    pub(crate) fn of(mut problems: Vec<Self>) -> Option<Self> {
        match problems.len() {
            0 | 1 => problems.pop(),
            _ => Some(Self::Several { problems }),
        }
    }

    /// Each problem on its own.
    #[must_use]
    pub fn each(self) -> Vec<Self> {
        match self {
            Self::Several { problems } => problems,
            one => vec![one],
        }
    }
}
