//! Cells that cannot be used: where they are and what is wrong with them, never what they say.

use core::fmt;
use std::collections::BTreeMap;

use sprifed_schema::CellDefect;

/// The most columns whose cells are named; a table with more is not read to its end.
const MOST_COLUMNS: usize = 20;

/// A cell that cannot be used. It is for the holder of the table alone: the line depends on records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellProblem {
    /// The column.
    pub column: String,
    /// The first such cell of the column.
    pub place: Place,
    /// What is wrong with it.
    pub defect: Defect,
    /// What it was to be.
    pub role: CellRole,
}

/// Where a record is in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A record, counted from 1.
    Record(u64),
}

/// What a cell was to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellRole {
    /// The value of a feature.
    Feature,
    /// The response of a record.
    Response,
}

/// What is wrong with a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// The schema does not allow it.
    Cell(CellDefect),
    /// It is no number.
    Text,
    /// It looks like a date.
    Date,
    /// It looks like a number with a decimal comma.
    DecimalComma,
    /// It has a point, where decimals follow a comma.
    Point,
    /// It is a truth value.
    Truth,
    /// It is the phenotype `0` of a sample file, which has two meanings.
    ZeroPhenotype,
}

impl From<CellDefect> for Defect {
    fn from(defect: CellDefect) -> Self {
        Self::Cell(defect)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(formatter, "line {number}"),
            Self::Record(number) => write!(formatter, "record {number}"),
        }
    }
}

impl fmt::Display for CellProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, remedy) = match (self.defect, self.role) {
            (Defect::Cell(CellDefect::Missing), CellRole::Feature) => (
                "missing value",
                "fill it in, leave the column out, or set `missing` to \"midpoint\", \"value\" or \"indicator\" instead of \"reject\"",
            ),
            (Defect::Cell(CellDefect::Missing), CellRole::Response) => (
                "missing response",
                "fill it in, or set `record.missing_response = \"drop\"`",
            ),
            (Defect::Cell(CellDefect::Infinite), CellRole::Feature) => (
                "infinite value",
                "correct it, or set `missing` so that it counts as missing",
            ),
            (Defect::Cell(CellDefect::Infinite), CellRole::Response) => (
                "infinite value",
                "correct it, or set `record.missing_response = \"drop\"`",
            ),
            (Defect::Cell(CellDefect::UnknownLevel), CellRole::Response) => (
                "a value that is none of the two `levels`",
                "correct it, or correct the levels of the response",
            ),
            (Defect::Cell(CellDefect::UnknownLevel), CellRole::Feature) => (
                "a value that is none of the `levels`",
                "correct it, add the level, or set `other = true`",
            ),
            (Defect::Cell(CellDefect::NegativeTime), _) => (
                "a time below zero",
                "correct it: times are counted from the start of the follow-up",
            ),
            (Defect::Date, CellRole::Feature) => (
                "a date where a number is required",
                "write dates as the number of days since a public date, or list the column in `features.exclude`",
            ),
            (Defect::Date, CellRole::Response) => (
                "a date where a number is required",
                "write dates as the number of days since a public date",
            ),
            (Defect::DecimalComma, _) => (
                "a number with a decimal comma",
                "write it with a point, or read the table with decimal commas",
            ),
            (Defect::Point, _) => (
                "a point in a number, where decimals follow a comma",
                "write numbers without marks between thousands, or read the table with decimal points",
            ),
            (Defect::ZeroPhenotype, _) => (
                "a phenotype of 0, which is a missing one for cases and controls and a number for measurements",
                "write -9 where it is missing and 0.0 where it is a number, or pass --phenotypes",
            ),
            (Defect::Truth, CellRole::Feature) => (
                "a truth value where a number is required",
                "set `levels = [false, true]` for the column, or list it in `features.exclude`",
            ),
            (Defect::Truth, CellRole::Response) => {
                ("a truth value where a number is required", "write 0 and 1")
            }
            (Defect::Text, CellRole::Feature) => (
                "text where a number is required",
                "set `levels` for the column, or list it in `features.exclude`",
            ),
            (Defect::Text, CellRole::Response) => ("text where a number is required", "correct it"),
        };
        let Self { column, place, .. } = self;
        write!(formatter, "column `{column}`, {place}: {what}; {remedy}")
    }
}

/// The first problem of each column, in the order of the columns.
#[derive(Debug, Default)]
pub(crate) struct CellProblems(BTreeMap<usize, CellProblem>);

impl CellProblems {
    /// Notes a problem of the column at `position`, unless it has one already.
    pub(crate) fn note(&mut self, position: usize, problem: impl FnOnce() -> CellProblem) {
        self.0.entry(position).or_insert_with(problem);
    }

    /// Whether enough columns have problems.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST_COLUMNS
    }

    /// All of them, if there are some.
    pub(crate) fn into_problems(self) -> Vec<CellProblem> {
        self.0.into_values().collect()
    }
}
