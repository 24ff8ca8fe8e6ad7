//! Named columns as they are, neither bounded nor dropped: what a prediction starts from.
//!
//! Nothing read here may enter a study; the values are outside every guarantee.

use sprifed_schema::{Column, ColumnError, positions_by_name, require_numeric};

use crate::assemble::{ColumnSource, RowSource};
use crate::error::{DataError, TableError};

/// Some columns of a table in their own units, row after row; NaN where a value is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct RawColumns {
    n_columns: usize,
    n_records: usize,
    values: Vec<f64>,
}

impl RawColumns {
    /// How many records there are.
    pub const fn n_records(&self) -> usize {
        self.n_records
    }

    /// The values of one record, in the order in which columns were asked for.
    ///
    /// # Panics
    /// If `record` is not less than [`Self::n_records`].
    pub fn row(&self, record: usize) -> &[f64] {
        assert!(
            record < self.n_records,
            "record {record} of {}",
            self.n_records
        );
        &self.values[record * self.n_columns..(record + 1) * self.n_columns]
    }

    pub(crate) fn from_rows(
        source: &mut impl RowSource,
        names: &[String],
    ) -> Result<Self, DataError> {
        let places = places(source.columns(), names)?;
        let mut raw = Self {
            n_columns: places.len(),
            n_records: 0,
            values: Vec::new(),
        };
        let mut row = vec![0.0; places.len()];
        while source.advance()? {
            source.numbers(&places, &mut row)?;
            raw.values.extend_from_slice(&row);
            raw.n_records += 1;
        }
        if raw.n_records == 0 {
            return Err(TableError::NoRecords.into());
        }
        Ok(raw)
    }

    pub(crate) fn from_columns(
        source: &mut impl ColumnSource,
        names: &[String],
    ) -> Result<Self, DataError> {
        let places = places(source.columns(), names)?;
        let (n_columns, n_records) = (places.len(), source.n_records());
        if n_records == 0 {
            return Err(TableError::NoRecords.into());
        }
        let mut values = vec![f64::NAN; n_columns * n_records];
        for (column, place) in places.into_iter().enumerate() {
            let mut cells = values[column..].iter_mut().step_by(n_columns);
            source.numbers(place, &mut |number| {
                if let Some(cell) = cells.next() {
                    *cell = number;
                }
            })?;
        }
        Ok(Self {
            n_columns,
            n_records,
            values,
        })
    }
}

fn places(columns: &[Column], names: &[String]) -> Result<Vec<usize>, ColumnError> {
    let positions = positions_by_name(columns)?;
    let place = |name: &String| {
        let role = "a feature of the model";
        let at = positions.get(name.as_str()).copied();
        let at = at.ok_or_else(|| ColumnError::AbsentColumn {
            column: name.clone(),
            role,
        })?;
        require_numeric(&columns[at], role).map(|()| at)
    };
    names.iter().map(place).collect()
}
