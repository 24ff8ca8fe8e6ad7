//! From a source of raw values to a bounded table.
//!
//! Formats that store records one after another and formats that store columns differ only in the
//! order in which values arrive. What is decided about them is the same and lives here once: which
//! columns, which records, which values are clipped or missing.
//!
//! The order of decisions matters. The cap looks at file order only; if a record were first dropped
//! for a missing response, the next one of the same client would move up, and one record's content
//! would decide about another record. For the same reason a dropped record keeps its row.

mod admission;
mod by_column;
mod by_row;
mod of_genotypes;

pub(crate) use self::admission::Admission;

pub(crate) use self::by_column::from_columns;
pub(crate) use self::by_row::from_rows;
use std::rc::Rc;

use sprifed_schema::{
    CellDefect, CellNote, Column, ColumnError, Mapping, MissingResponsePolicy, Schema, Selection,
};

use crate::cell::{CellProblem, CellProblems, CellRole, Defect, Place};
use crate::design::{Design, Genotypes};
use crate::error::{DataError, FileError, TableError};
use crate::markers::Markers;
use crate::table::{LoadCounts, Table};

/// A reader that meets whole records.
pub(crate) trait RowSource {
    fn columns(&self) -> &[Column];
    /// The number of records, if the format states it and the length of the file agrees.
    fn n_records(&self) -> Option<usize>;
    /// Moves to the next record; false at the end.
    fn advance(&mut self) -> Result<bool, DataError>;
    /// Where the cell of this record in `column` is.
    fn place(&self, column: usize) -> Place;
    /// The text of one column of this record; empty if missing.
    fn label(&self, column: usize, label: &mut Vec<u8>);
    /// The number of one column of this record, NaN if missing.
    fn number(&self, column: usize) -> Result<f64, Defect>;
}

/// A reader that meets whole columns.
pub(crate) trait ColumnSource {
    fn columns(&self) -> &[Column];
    fn n_records(&self) -> usize;
    /// Where the cells of `column` are.
    fn places(&self, _column: usize) -> Places {
        Places::Records
    }
    /// Hands over the text of each record of one column; empty if missing.
    fn labels(&mut self, column: usize, take: &mut dyn FnMut(&[u8])) -> Result<(), DataError>;
    /// Hands over the number of each record of one column, NaN if missing.
    fn numbers(&mut self, column: usize, take: &mut TakeNumber<'_>) -> Result<(), DataError>;
    /// Whether the cells of a column are stored as packed genotypes.
    fn is_packed(&self, _column: usize) -> bool {
        false
    }
    /// Appends those of each record of such a column to `codes`: four in a byte, with zeros after the last.
    fn packed(&mut self, _column: usize, _codes: &mut Vec<u8>) -> Result<(), DataError> {
        Ok(())
    }
}

/// Where the cells of a column are, by the number of their record, counted from 1.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    /// In the records of these numbers.
    Records,
    /// As listed.
    Listed(Rc<[Place]>),
}

impl Places {
    pub(crate) fn of(&self, record: u64) -> Place {
        let listed = match self {
            Self::Records => None,
            Self::Listed(places) => usize::try_from(record)
                .ok()
                .and_then(|record| places.get(record.checked_sub(1)?)),
        };
        listed.copied().unwrap_or(Place::Record(record))
    }
}

/// Takes the number of a record, NaN if it is missing, or what is wrong with its cell.
pub(crate) type TakeNumber<'a> = dyn FnMut(Result<f64, Defect>) + 'a;

/// What both ways of assembling share.
pub(crate) struct Bounding<'a> {
    schema: &'a Schema,
    pub(crate) selection: Selection,
    pub(crate) mapping: Mapping,
    pub(crate) markers: Markers,
    pub(crate) counts: LoadCounts,
    problems: CellProblems,
}

impl<'a> Bounding<'a> {
    pub(crate) fn new(columns: &[Column], schema: &'a Schema) -> Result<Self, TableError> {
        let selection = Selection::choose(columns, schema)?;
        let names = || {
            selection
                .features
                .iter()
                .map(|&at| columns[at].name.as_str())
        };
        let unbounded = || ColumnError::Unbounded {
            count: names().count(),
            first: names().next().unwrap_or_default().to_owned(),
        };
        let mapping = Mapping::for_features(schema, names()).ok_or_else(unbounded)?;
        let coded = mapping.columns().iter().zip(&selection.features);
        let markers = Markers::of(coded.filter_map(|(coded, &at)| {
            let marker = columns[at].marker()?;
            Some((coded.features.start, marker.clone()))
        }));
        Ok(Self {
            schema,
            selection,
            mapping,
            markers,
            counts: LoadCounts::default(),
            problems: CellProblems::default(),
        })
    }

    /// A response in bounded units, or nothing if its record does not count.
    pub(crate) fn response(&mut self, raw: Result<f64, Defect>, place: Place) -> Option<f32> {
        let defect = match raw {
            Ok(raw) if raw.is_finite() => {
                let value = self.mapping.transform().apply(raw);
                // Below -1 the logarithm does not exist; the value is known, and below the lower bound.
                let value = if value.is_nan() {
                    f64::NEG_INFINITY
                } else {
                    value
                };
                let bounded = self.mapping.response().bounded(value);
                self.counts.clipped_values += u64::from(bounded.is_clipped);
                return Some(bounded.unit);
            }
            Ok(raw) => match self.schema.missing_response() {
                MissingResponsePolicy::Drop => {
                    self.counts.dropped_without_response += 1;
                    return None;
                }
                MissingResponsePolicy::Reject if raw.is_nan() => CellDefect::Missing.into(),
                MissingResponsePolicy::Reject => CellDefect::Infinite.into(),
            },
            Err(defect) => defect,
        };
        let column = self.schema.response().name();
        self.problems.note(self.selection.response, || CellProblem {
            column: column.to_owned(),
            place,
            defect,
            role: CellRole::Response,
        });
        Some(0.0)
    }

    /// Counts what happened to a cell of the column at `column` among those of the mapping, or notes why it cannot be
    /// used.
    #[inline]
    fn count(&mut self, column: usize, outcome: Result<CellNote, Defect>, place: Place) {
        match outcome {
            Ok(note) => self.count_alike(note, 1),
            Err(defect) => {
                let name = &self.mapping.columns()[column].name;
                self.problems
                    .note(self.selection.features[column], || CellProblem {
                        column: name.clone(),
                        place,
                        defect,
                        role: CellRole::Feature,
                    });
            }
        }
    }

    /// Counts what happened to `count` cells.
    fn count_alike(&mut self, note: CellNote, count: u64) {
        self.counts.clipped_values += u64::from(note.is_clipped) * count;
        self.counts.missing_values += u64::from(note.is_missing) * count;
    }

    /// Whether so much is wrong that the rest need not be read.
    fn is_hopeless(&self) -> bool {
        self.problems.is_full()
    }

    /// Refuses a table with cells that cannot be used.
    pub(crate) fn check_cells(&mut self) -> Result<(), TableError> {
        let problems = core::mem::take(&mut self.problems).into_problems();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(TableError::Cells { problems }),
        }
    }

    fn finish(
        mut self,
        admission: &Admission<'_>,
        owners: Vec<u32>,
        response: Vec<Option<f32>>,
        matrix: Matrix,
    ) -> Result<Table, DataError> {
        self.check_cells()?;
        if response.is_empty() {
            return Err(TableError::NoRecords.into());
        }
        let mut counts = self.counts;
        counts.over_cap = admission.over_cap();
        let names = self.mapping.names().to_vec();
        Ok(Table {
            design: match matrix {
                Matrix::Numbers(values) => Design::new(names, values)?,
                Matrix::Coded(numbers, genotypes) => Design::coded(names, numbers, genotypes),
            },
            present: response.iter().map(Option::is_some).collect(),
            response: response
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
            clients: admission.index(owners),
            mapping: self.mapping,
            markers: self.markers,
            unit: self.schema.unit(),
            counts,
        })
    }
}

/// The features of all records, row after row.
pub(crate) enum Matrix {
    /// As numbers.
    Numbers(Vec<f32>),
    /// Some as numbers, the others as genotypes.
    Coded(Vec<f32>, Genotypes),
}

/// Room for `more` values, exactly; a refusal instead of an abort if there is none.
fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), FileError> {
    let bytes = (values.len() as u64)
        .saturating_add(more as u64)
        .saturating_mul(size_of::<T>() as u64);
    values
        .try_reserve_exact(more)
        .map_err(|_| FileError::OutOfMemory {
            mebibytes: bytes >> 20,
        })
}

#[cfg(test)]
mod tests;
