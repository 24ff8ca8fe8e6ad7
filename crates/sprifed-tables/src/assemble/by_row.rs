//! Assembly from records that arrive one after another.

use sprifed_schema::Schema;

use super::{Admission, Bounding, RowSource, reserve};
use crate::error::{DataError, FileError};
use crate::table::Table;

/// The smallest step by which the matrix grows, in values: 4 MiB.
const SMALLEST_STEP: usize = 1 << 20;

/// Reads every record of `source` into a bounded table.
pub(crate) fn from_rows(source: &mut impl RowSource, schema: &Schema) -> Result<Table, DataError> {
    let mut bounding = Bounding::new(source.columns(), schema)?;
    let mut admission = Admission::new(schema);
    let features = bounding.selection.features.clone();
    let response_column = [bounding.selection.response];
    let client_column = bounding.selection.client;

    let mut values: Vec<f32> = Vec::new();
    if let Some(n_records) = source.n_records() {
        reserve(&mut values, n_records.saturating_mul(features.len()))?;
    }
    let (mut response, mut owners) = (Vec::new(), Vec::new());
    let mut label = Vec::new();
    let mut row = vec![0.0; features.len()];
    while source.advance()? {
        bounding.counts.records_read += 1;
        if let Some(column) = client_column {
            label.clear();
            source.label(column, &mut label);
        }
        let Some(client) = admission.admit(&label)? else {
            continue;
        };
        let mut raw_response = [0.0];
        source.numbers(&response_column, &mut raw_response)?;
        let unit = bounding.response(raw_response[0])?;
        make_room(&mut values, features.len())?;
        if unit.is_some() {
            source.numbers(&features, &mut row)?;
            for (feature, &raw) in row.iter().enumerate() {
                values.push(bounding.feature(feature, raw)?);
            }
        } else {
            values.resize(values.len() + features.len(), 0.0);
        }
        response.push(unit);
        owners.push(client);
    }
    values.shrink_to_fit();
    bounding.finish(&admission, owners, response, values)
}

/// Grows by an eighth and not by doubling.
///
/// Large blocks grow in place or by moving pages, so what counts is memory reserved but unused: at
/// most an eighth of the matrix, where doubling could leave half of it.
fn make_room(values: &mut Vec<f32>, n_features: usize) -> Result<(), FileError> {
    if values.capacity() - values.len() >= n_features {
        return Ok(());
    }
    let step = (values.len() / 8).max(SMALLEST_STEP);
    reserve(values, step.next_multiple_of(n_features))
}
