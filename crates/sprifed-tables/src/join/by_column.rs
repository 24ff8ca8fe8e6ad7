//! Joined tables whose first one is read a column at a time.

use std::rc::Rc;

use sprifed_schema::Column;

use super::cells::{Cells, keys_of_columns};
use super::key::SampleRows;
use super::{ExtraSamples, Origin, Unmatched};
use crate::assemble::{ColumnSource, Places, TakeNumber};
use crate::cell::Place;
use crate::error::{DataError, Which};

/// The columns of both tables.
pub(super) struct JoinedColumns {
    first: Box<dyn ColumnSource>,
    cells: Cells,
    /// The row of each record of the first table in the second.
    rows: Vec<Option<usize>>,
    columns: Vec<Column>,
    origins: Vec<Origin>,
    unmatched: Unmatched,
}

impl JoinedColumns {
    pub(super) fn new(
        mut first: Box<dyn ColumnSource>,
        key: &[usize],
        (cells, mut samples): (Cells, SampleRows),
        (columns, origins): (Vec<Column>, Vec<Origin>),
        extra: ExtraSamples,
    ) -> Result<Self, DataError> {
        let keys = keys_of_columns(&mut *first, key, Which::First)?.into_iter();
        let rows = keys
            .map(|(place, key)| samples.row_of(key, place))
            .collect();
        let unmatched = samples.unmatched()?;
        unmatched.check(extra)?;
        Ok(Self {
            first,
            cells,
            rows,
            columns,
            origins,
            unmatched,
        })
    }

    pub(super) const fn unmatched(&self) -> Unmatched {
        self.unmatched
    }
}

impl ColumnSource for JoinedColumns {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> usize {
        self.rows.len()
    }

    fn places(&self, column: usize) -> Places {
        match self.origins[column] {
            Origin::First(column) => self.first.places(column),
            Origin::Second(_) => {
                let records = self.rows.iter().zip(1..);
                let places: Rc<[Place]> = records
                    .map(|(row, record)| {
                        row.map_or(Place::Record(record), |row| self.cells.place(row))
                    })
                    .collect();
                Places::Listed(places)
            }
        }
    }

    fn labels(&mut self, column: usize, take: &mut dyn FnMut(&[u8])) -> Result<(), DataError> {
        match self.origins[column] {
            Origin::First(column) => self.first.labels(column, take),
            Origin::Second(column) => {
                for row in &self.rows {
                    take(self.cells.label(column, *row));
                }
                Ok(())
            }
        }
    }

    fn numbers(&mut self, column: usize, take: &mut TakeNumber<'_>) -> Result<(), DataError> {
        match self.origins[column] {
            Origin::First(column) => self.first.numbers(column, take),
            Origin::Second(column) => {
                for row in &self.rows {
                    take(self.cells.number(column, *row));
                }
                Ok(())
            }
        }
    }

    fn is_packed(&self, column: usize) -> bool {
        match self.origins[column] {
            Origin::First(column) => self.first.is_packed(column),
            Origin::Second(_) => false,
        }
    }

    fn packed(&mut self, column: usize, codes: &mut Vec<u8>) -> Result<(), DataError> {
        match self.origins[column] {
            Origin::First(column) => self.first.packed(column, codes),
            Origin::Second(_) => Ok(()),
        }
    }
}
