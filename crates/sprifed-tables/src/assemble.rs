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

pub(crate) use self::admission::Admission;

pub(crate) use self::by_column::from_columns;
pub(crate) use self::by_row::from_rows;
use sprifed_schema::{
    Column, ColumnError, Mapping, MissingPolicy, MissingResponsePolicy, Schema, Selection,
};

use crate::design::Design;
use crate::error::{DataError, FileError, TableError};
use crate::table::{LoadCounts, Table};

/// A reader that meets whole records.
pub(crate) trait RowSource {
    fn columns(&self) -> &[Column];
    /// The number of records, if the format states it and the length of the file agrees.
    fn n_records(&self) -> Option<usize>;
    /// Moves to the next record; false at the end.
    fn advance(&mut self) -> Result<bool, DataError>;
    /// The text of one column of this record; empty if missing.
    fn label(&self, column: usize, label: &mut Vec<u8>);
    /// The numbers of `columns` of this record, NaN if missing.
    fn numbers(&self, columns: &[usize], numbers: &mut [f64]) -> Result<(), TableError>;
}

/// A reader that meets whole columns.
pub(crate) trait ColumnSource {
    fn columns(&self) -> &[Column];
    fn n_records(&self) -> usize;
    /// Hands over the text of each record of one column; empty if missing.
    fn labels(&mut self, column: usize, take: &mut dyn FnMut(&[u8])) -> Result<(), DataError>;
    /// Hands over the number of each record of one column, NaN if missing.
    fn numbers(&mut self, column: usize, take: &mut dyn FnMut(f64)) -> Result<(), DataError>;
}

/// What both ways of assembling share.
pub(crate) struct Bounding<'a> {
    schema: &'a Schema,
    pub(crate) names: Vec<String>,
    pub(crate) selection: Selection,
    pub(crate) mapping: Mapping,
    pub(crate) counts: LoadCounts,
}

impl<'a> Bounding<'a> {
    pub(crate) fn new(columns: &[Column], schema: &'a Schema) -> Result<Self, TableError> {
        let selection = Selection::choose(columns, schema)?;
        let names: Vec<String> = selection
            .features
            .iter()
            .map(|&at| columns[at].name.clone())
            .collect();
        let unbounded = || ColumnError::Unbounded {
            count: names.len(),
            first: names[0].clone(),
        };
        let mapping = Mapping::for_features(schema, names.iter().map(String::as_str))
            .ok_or_else(unbounded)?;
        Ok(Self {
            schema,
            names,
            selection,
            mapping,
            counts: LoadCounts::default(),
        })
    }

    /// A response in bounded units, or nothing if its record does not count.
    pub(crate) fn response(&mut self, raw: f64) -> Result<Option<f32>, TableError> {
        let value = self.mapping.transform().apply(raw);
        // Below -1 the logarithm does not exist; the value is known, and below the lower bound.
        let is_below_logarithm = value.is_nan() && raw.is_finite();
        if raw.is_finite() {
            let value = if is_below_logarithm {
                f64::NEG_INFINITY
            } else {
                value
            };
            let bounded = self.mapping.response().bounded(value);
            self.counts.clipped_values += u64::from(bounded.is_clipped);
            return Ok(Some(bounded.unit));
        }
        match self.schema.missing_response() {
            MissingResponsePolicy::Reject => Err(TableError::MissingResponse {
                column: self.schema.response().name().to_owned(),
            }),
            MissingResponsePolicy::Drop => {
                self.counts.dropped_without_response += 1;
                Ok(None)
            }
        }
    }

    /// The value of one feature in bounded units.
    #[inline]
    fn feature(&mut self, feature: usize, raw: f64) -> Result<f32, TableError> {
        let units = &self.mapping.features()[feature];
        if raw.is_finite() {
            let bounded = units.bounded(raw);
            self.counts.clipped_values += u64::from(bounded.is_clipped);
            return Ok(bounded.unit);
        }
        match self.schema.missing() {
            MissingPolicy::Reject => Err(TableError::MissingValue {
                column: self.names[feature].clone(),
            }),
            MissingPolicy::Midpoint => {
                self.counts.missing_values += 1;
                Ok(units.midpoint())
            }
        }
    }

    fn finish(
        self,
        admission: &Admission<'_>,
        owners: Vec<u32>,
        response: Vec<Option<f32>>,
        values: Vec<f32>,
    ) -> Result<Table, DataError> {
        if response.is_empty() {
            return Err(TableError::NoRecords.into());
        }
        let mut counts = self.counts;
        counts.over_cap = admission.over_cap();
        Ok(Table {
            design: Design::new(self.names, values)?,
            present: response.iter().map(Option::is_some).collect(),
            response: response
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
            clients: admission.index(owners),
            mapping: self.mapping,
            unit: self.schema.unit(),
            counts,
        })
    }
}

/// Room for `more` values, exactly; a refusal instead of an abort if there is none.
fn reserve(values: &mut Vec<f32>, more: usize) -> Result<(), FileError> {
    let bytes = (values.len() as u64)
        .saturating_add(more as u64)
        .saturating_mul(4);
    values
        .try_reserve_exact(more)
        .map_err(|_| FileError::OutOfMemory {
            mebibytes: bytes >> 20,
        })
}

#[cfg(test)]
mod tests;
