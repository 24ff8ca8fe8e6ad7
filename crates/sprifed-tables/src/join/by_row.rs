//! Joined tables whose first one is read a record at a time.

use sprifed_schema::Column;

use super::cells::{Cells, key_of_row};
use super::key::SampleRows;
use super::{ExtraSamples, Origin, Unmatched};
use crate::assemble::RowSource;
use crate::cell::{Defect, Place};
use crate::error::{DataError, Which};

/// The records of the first table, each with its row of the second.
pub(super) struct JoinedRows {
    first: Box<dyn RowSource>,
    key: Vec<usize>,
    cells: Cells,
    samples: SampleRows,
    columns: Vec<Column>,
    origins: Vec<Origin>,
    extra: ExtraSamples,
    /// The row of the present record in the second table.
    row: Option<usize>,
    unmatched: Unmatched,
}

impl JoinedRows {
    pub(super) fn new(
        first: Box<dyn RowSource>,
        key: Vec<usize>,
        (cells, samples): (Cells, SampleRows),
        (columns, origins): (Vec<Column>, Vec<Origin>),
        extra: ExtraSamples,
    ) -> Self {
        Self {
            first,
            key,
            cells,
            samples,
            columns,
            origins,
            extra,
            row: None,
            unmatched: Unmatched::default(),
        }
    }

    /// How many samples are in one table only, after the last record.
    pub(super) const fn unmatched(&self) -> Unmatched {
        self.unmatched
    }
}

impl RowSource for JoinedRows {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> Option<usize> {
        self.first.n_records()
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        if !self.first.advance()? {
            self.unmatched = self.samples.unmatched()?;
            self.unmatched.check(self.extra)?;
            return Ok(false);
        }
        let key = key_of_row(&*self.first, &self.key, Which::First)?;
        let place = self.first.place(self.key[0]);
        self.row = self.samples.row_of(key, place);
        Ok(true)
    }

    fn place(&self, column: usize) -> Place {
        match (self.origins[column], self.row) {
            (Origin::First(column), _) => self.first.place(column),
            (Origin::Second(_), Some(row)) => self.cells.place(row),
            (Origin::Second(_), None) => self.first.place(self.key[0]),
        }
    }

    fn label(&self, column: usize, label: &mut Vec<u8>) {
        match self.origins[column] {
            Origin::First(column) => self.first.label(column, label),
            Origin::Second(column) => {
                label.extend_from_slice(self.cells.label(column, self.row));
            }
        }
    }

    fn number(&self, column: usize) -> Result<f64, Defect> {
        match self.origins[column] {
            Origin::First(column) => self.first.number(column),
            Origin::Second(column) => self.cells.number(column, self.row),
        }
    }
}
