//! A second table, joined to the first by the identifier of samples: phenotypes and covariates beside genotypes.
//!
//! | case | rule |
//! |---|---|
//! | a sample twice in either table | refused |
//! | a sample without an identifier in either table | refused |
//! | a sample that only the first table has | a record whose columns of the second table are missing: `missing_response` and `missing` say what happens. It is counted |
//! | a sample that only the second table has | refused, unless [`ExtraSamples::LeaveOut`] was said. It is counted |
//!
//! # Why
//! The records are those of the first table, in its order, so the public number of records and the place of each do not
//! depend on who is in the second table: whether a person is there changes the contribution of that person alone.
//!
//! Messages name columns, lines and numbers of samples, and never an identifier.

mod by_column;
mod by_row;
mod cells;
mod key;

use std::path::Path;

use sprifed_schema::{Coding, Column, MissingResponsePolicy, Schema, Selection};

use self::by_column::JoinedColumns;
use self::by_row::JoinedRows;
use self::cells::{Cells, Form};
use self::key::KeyColumns;
use crate::assemble::{from_columns, from_rows};
use crate::error::{DataError, TableError};
use crate::formats::Source;
use crate::raw::{RawColumns, RawRequest, places};
use crate::table::Table;

/// A table in a file whose rows are joined to the records of another one by the identifier of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleTable<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// Its column of identifiers; without it those that are customary beside genotypes: `IID`, and `FID` if it has that.
    pub sample_column: Option<&'a str>,
    /// What happens to samples that the first table does not have.
    pub extra: ExtraSamples,
}

/// What happens to samples of a second table that the first one does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExtraSamples {
    /// The tables are refused.
    #[default]
    Refuse,
    /// They are left out and counted.
    LeaveOut,
}

impl ExtraSamples {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Refuse, Self::LeaveOut];

    /// Its name.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::LeaveOut => "leave-out",
        }
    }
}

/// How many samples are in one of the tables only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unmatched {
    /// Records of the first table without a row in the second.
    pub(crate) first: u64,
    /// Rows of the second table that belong to no record.
    pub(crate) second: u64,
}

impl Unmatched {
    /// Refuses samples that only the second table has, unless the user allows them.
    fn check(self, extra: ExtraSamples) -> Result<(), TableError> {
        match extra {
            ExtraSamples::Refuse if self.second > 0 => {
                Err(TableError::ExtraSamples { count: self.second })
            }
            _ => Ok(()),
        }
    }
}

/// Two opened tables, values not yet read.
pub(crate) struct Joined {
    first: Source<'static>,
    second: Source<'static>,
    key: KeyColumns,
    extra: ExtraSamples,
    columns: Vec<Column>,
    origins: Vec<Origin>,
}

/// Which table a column is from, and its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    First(usize),
    Second(usize),
}

impl Joined {
    /// The columns of both tables. The identifiers are those of the first; a column of the second takes the place of what
    /// the sample file of genotypes says of sex, and phenotypes are those of the second table.
    pub(crate) fn new(
        first: Source<'static>,
        second: Source<'static>,
        asked: SampleTable<'_>,
    ) -> Result<Self, DataError> {
        let key = KeyColumns::find(&first, second.columns(), asked.sample_column)?;
        let is_key = |at: &usize| key.second.contains(at);
        let added: Vec<usize> = (0..second.columns().len())
            .filter(|at| !is_key(at))
            .collect();
        let replaces = |name: &str| added.iter().any(|&at| second.columns()[at].name == name);
        let sample_columns = first.sample_columns();
        let (mut columns, mut origins) = (Vec::new(), Vec::new());
        for (at, column) in first.columns().iter().enumerate() {
            let is_replaced = sample_columns.is_some_and(|named| {
                let is = |name: Option<&str>| name == Some(column.name.as_str());
                is(named.phenotype) || (is(named.sex) && replaces(&column.name))
            });
            if !is_replaced {
                columns.push(column.clone());
                origins.push(Origin::First(at));
            }
        }
        for at in added {
            columns.push(second.columns()[at].clone());
            origins.push(Origin::Second(at));
        }
        Ok(Self {
            first,
            second,
            key,
            extra: asked.extra,
            columns,
            origins,
        })
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// All that the schema asks for, bounded.
    pub(crate) fn into_table(self, schema: &Schema) -> Result<Table, DataError> {
        let selection = Selection::choose(&self.columns, schema)?;
        let form = |at: &usize| match schema.coding_of(&self.columns[*at].name) {
            Some(Coding::Levels(_)) => Form::Label,
            _ => Form::Number,
        };
        let mut wanted: Vec<(usize, Form)> = selection
            .features
            .iter()
            .map(|at| (*at, form(at)))
            .collect();
        wanted.push((selection.response, Form::Number));
        wanted.extend(selection.client.map(|at| (at, Form::Label)));
        let needs_all = schema.missing_response() == MissingResponsePolicy::Reject
            && matches!(self.origins[selection.response], Origin::Second(_));
        let require_all = |unmatched: Unmatched| match needs_all {
            true if unmatched.first > 0 => Err(TableError::UnmatchedRecords {
                count: unmatched.first,
            }),
            _ => Ok(unmatched),
        };
        let (mut table, unmatched) = match self.open(&wanted)? {
            Opened::Rows(mut rows) => {
                let table = from_rows(&mut rows, schema);
                // First, because it says more than that responses are missing.
                let unmatched = require_all(rows.unmatched())?;
                (table?, unmatched)
            }
            Opened::Columns(mut columns) => {
                let unmatched = require_all(columns.unmatched())?;
                (from_columns(&mut columns, schema)?, unmatched)
            }
        };
        table.counts.unmatched = unmatched.first;
        table.counts.extra_samples = unmatched.second;
        Ok(table)
    }

    /// Some columns as they are.
    pub(crate) fn into_raw(self, requests: &[RawRequest]) -> Result<RawColumns, DataError> {
        let forms = requests.iter().map(|request| match request.text() {
            Some(_) => Form::Label,
            None => Form::Number,
        });
        let wanted: Vec<(usize, Form)> = places(&self.columns, requests)?
            .into_iter()
            .zip(forms)
            .collect();
        match self.open(&wanted)? {
            Opened::Rows(mut rows) => RawColumns::from_rows(&mut rows, requests),
            Opened::Columns(mut columns) => RawColumns::from_columns(&mut columns, requests),
        }
    }

    /// Reads the second table, as far as it is wanted, and finds the row of each record.
    fn open(self, wanted: &[(usize, Form)]) -> Result<Opened, DataError> {
        let mut forms = Vec::new();
        for (at, form) in wanted {
            if let Origin::Second(column) = self.origins[*at]
                && !forms.contains(&(column, *form))
            {
                forms.push((column, *form));
            }
        }
        let (cells, rows) = Cells::read(self.second, &forms, &self.key.second)?;
        Ok(match self.first {
            Source::Rows(first) => Opened::Rows(JoinedRows::new(
                first,
                self.key.first,
                (cells, rows),
                (self.columns, self.origins),
                self.extra,
            )),
            Source::Columns(first) => Opened::Columns(JoinedColumns::new(
                first,
                &self.key.first,
                (cells, rows),
                (self.columns, self.origins),
                self.extra,
            )?),
        })
    }
}

/// Both tables as one source.
enum Opened {
    Rows(JoinedRows),
    Columns(JoinedColumns),
}

#[cfg(test)]
mod tests;
