//! Assembly from records that arrive one after another.

use sprifed_schema::{Coding, Schema};

use super::{Admission, Bounding, Matrix, RowSource, reserve};
use crate::cell::Defect;
use crate::error::{DataError, FileError};
use crate::table::Table;

/// The smallest step by which the matrix grows, in values: 4 MiB.
const SMALLEST_STEP: usize = 1 << 20;

/// Reads every record of `source` into a bounded table.
pub(crate) fn from_rows(source: &mut dyn RowSource, schema: &Schema) -> Result<Table, DataError> {
    let mut bounding = Bounding::new(source.columns(), schema)?;
    let mut admission = Admission::new(schema);
    let width = bounding.mapping.names().len();
    let (response_column, client_column) = (bounding.selection.response, bounding.selection.client);

    let mut values: Vec<f32> = Vec::new();
    if let Some(n_records) = source.n_records() {
        reserve(&mut values, n_records.saturating_mul(width))?;
    }
    let (mut response, mut owners) = (Vec::new(), Vec::new());
    let mut label = Vec::new();
    while !bounding.is_hopeless() && source.advance()? {
        bounding.counts.records_read += 1;
        if let Some(column) = client_column {
            label.clear();
            source.label(column, &mut label);
        }
        let Some(client) = admission.admit(
            &label,
            source.place(client_column.unwrap_or(response_column)),
        )?
        else {
            continue;
        };
        let unit = bounding.response(
            source.number(response_column),
            source.place(response_column),
        );
        make_room(&mut values, width)?;
        let start = values.len();
        values.resize(start + width, 0.0);
        if unit.is_some() {
            encode(source, &mut bounding, &mut values[start..], &mut label);
        }
        response.push(unit);
        owners.push(client);
    }
    values.shrink_to_fit();
    bounding.finish(&admission, owners, response, Matrix::Numbers(values))
}

/// Writes the features of the present record of `source` into `row`.
fn encode(
    source: &dyn RowSource,
    bounding: &mut Bounding<'_>,
    row: &mut [f32],
    label: &mut Vec<u8>,
) {
    for column in 0..bounding.mapping.columns().len() {
        let position = bounding.selection.features[column];
        let coded = &bounding.mapping.columns()[column];
        let places = &mut row[coded.features.clone()];
        let outcome = match &coded.coding {
            Coding::Number(number) => source
                .number(position)
                .and_then(|raw| number.encode(raw, places).map_err(Defect::from)),
            Coding::Levels(levels) => {
                label.clear();
                source.label(position, label);
                levels.encode(label, places).map_err(Defect::from)
            }
        };
        bounding.count(column, outcome, source.place(position));
    }
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
