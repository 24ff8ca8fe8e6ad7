//! Named columns as they are, neither bounded nor dropped: what a prediction starts from.
//!
//! Nothing read here may enter a study; the values are outside every guarantee.

use sprifed_schema::{Column, ColumnError, FeatureReading, positions_by_name, require_numeric};

use crate::assemble::{ColumnSource, RowSource};
use crate::cell::{CellProblem, CellRole, Defect, Place};
use crate::error::{DataError, TableError};

/// Some columns of a table in their own units, row after row; NaN where a value is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct RawColumns {
    n_columns: usize,
    n_records: usize,
    values: Vec<f64>,
}

/// What is read from a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RawRequest {
    /// Its numbers.
    Number(String),
    /// What a feature of a model takes from it: its numbers as they are, or zeros and ones.
    Feature(FeatureReading),
}

impl RawRequest {
    fn column(&self) -> &str {
        match self {
            Self::Number(name) => name,
            Self::Feature(reading) => reading.column(),
        }
    }

    /// The refusal of a table with a cell that is no number.
    fn unusable(&self, place: Place, defect: Defect) -> TableError {
        TableError::Cells {
            problems: vec![CellProblem {
                column: self.column().to_owned(),
                place,
                defect,
                role: CellRole::Feature,
            }],
        }
    }

    /// The reading of text, unless numbers are wanted.
    pub(crate) fn text(&self) -> Option<&FeatureReading> {
        match self {
            Self::Feature(reading) if !reading.is_number() => Some(reading),
            _ => None,
        }
    }
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
        source: &mut dyn RowSource,
        requests: &[RawRequest],
    ) -> Result<Self, DataError> {
        let places = places(source.columns(), requests)?;
        let mut raw = Self {
            n_columns: places.len(),
            n_records: 0,
            values: Vec::new(),
        };
        let mut label = Vec::new();
        while source.advance()? {
            for (request, at) in requests.iter().zip(&places) {
                let value = match request.text() {
                    Some(reading) => {
                        label.clear();
                        source.label(*at, &mut label);
                        reading.of_text(&label).unwrap_or(f64::NAN)
                    }
                    None => source
                        .number(*at)
                        .map_err(|defect| request.unusable(source.place(*at), defect))?,
                };
                raw.values.push(value);
            }
            raw.n_records += 1;
        }
        if raw.n_records == 0 {
            return Err(TableError::NoRecords.into());
        }
        Ok(raw)
    }

    pub(crate) fn from_columns(
        source: &mut dyn ColumnSource,
        requests: &[RawRequest],
    ) -> Result<Self, DataError> {
        let places = places(source.columns(), requests)?;
        let (n_columns, n_records) = (places.len(), source.n_records());
        if n_records == 0 {
            return Err(TableError::NoRecords.into());
        }
        let mut values = vec![f64::NAN; n_columns * n_records];
        for (column, (request, place)) in requests.iter().zip(places).enumerate() {
            let mut cells = values[column..].iter_mut().step_by(n_columns);
            let mut set = |value| {
                if let Some(cell) = cells.next() {
                    *cell = value;
                }
            };
            match request.text() {
                Some(reading) => source.labels(place, &mut |label| {
                    set(reading.of_text(label).unwrap_or(f64::NAN));
                })?,
                None => {
                    let (mut record, mut problem) = (0, None);
                    let origin = source.places(place);
                    source.numbers(place, &mut |number| {
                        record += 1;
                        if let Err(defect) = number {
                            problem.get_or_insert((origin.of(record), defect));
                        }
                        set(number.unwrap_or(f64::NAN));
                    })?;
                    if let Some((place, defect)) = problem {
                        return Err(request.unusable(place, defect).into());
                    }
                }
            }
        }
        Ok(Self {
            n_columns,
            n_records,
            values,
        })
    }
}

/// The position of the column of each request.
pub(crate) fn places(
    columns: &[Column],
    requests: &[RawRequest],
) -> Result<Vec<usize>, ColumnError> {
    let positions = positions_by_name(columns)?;
    let place = |request: &RawRequest| {
        let role = "a feature of the model";
        let name = request.column();
        let at = positions.get(name).copied();
        let at = at.ok_or_else(|| ColumnError::AbsentColumn {
            column: name.to_owned(),
            role,
        })?;
        match request.text() {
            Some(_) => Ok(at),
            None => require_numeric(&columns[at], role).map(|()| at),
        }
    };
    requests.iter().map(place).collect()
}
