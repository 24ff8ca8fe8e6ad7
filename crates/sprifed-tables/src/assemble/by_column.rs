//! Assembly from columns that arrive one after another.

use sprifed_schema::{BinaryLevels, CellDefect, Coding, Schema};

use super::{Admission, Bounding, ColumnSource, Reading, reserve};
use crate::cell::{Defect, Place};
use crate::clients::count_rows;
use crate::error::{DataError, TableError};
use crate::table::Table;

/// What becomes of a record of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It has no row.
    OverCap,
    /// It has a row of zeros, which does not count.
    Dropped,
    /// It has a row.
    Counted,
}

/// Reads the columns of `source` that a study needs into a bounded table.
///
/// The client column and the response come first, because they decide which records stay.
pub(crate) fn from_columns(
    source: &mut dyn ColumnSource,
    schema: &Schema,
) -> Result<Table, DataError> {
    let mut bounding = Bounding::new(source.columns(), schema)?;
    let mut admission = Admission::new(schema);
    let n_read = source.n_records();
    count_rows(n_read)?;
    bounding.counts.records_read = n_read as u64;

    let admitted = admit(source, &mut admission, bounding.selection.client)?;
    let (mut response, mut owners) = (Vec::new(), Vec::new());
    let mut fates = Vec::with_capacity(n_read);
    let mut admitted_clients = admitted.iter().zip(1..);
    let response_column = bounding.selection.response;
    let places = source.places(response_column);
    let events = match bounding.reading() {
        Reading::Time(levels, column) => labelled(source, levels, column)?,
        Reading::Number | Reading::Levels(_) => Vec::new(),
    };
    let mut take = |raw, event| {
        let Some((Some(client), record)) = admitted_clients.next() else {
            fates.push(Fate::OverCap);
            return;
        };
        let raw = bounding.follow_up(raw, event);
        let unit = bounding.response(raw, places.of(record));
        fates.push(unit.map_or(Fate::Dropped, |_| Fate::Counted));
        owners.push(*client);
        response.push(unit);
    };
    match schema.response().levels() {
        None => {
            let mut events = events.into_iter();
            source.numbers(response_column, &mut |raw| {
                take(raw, events.next().unwrap_or(Ok(f64::NAN)));
            })?;
        }
        Some(levels) => source.labels(response_column, &mut |label| {
            take(levels.of_text(label).map_err(Defect::from), Ok(f64::NAN));
        })?,
    }
    drop(admitted);

    if response.is_empty() {
        return Err(TableError::NoRecords.into());
    }
    let width = bounding.mapping.names().len();
    let size = response
        .len()
        .checked_mul(width)
        .ok_or(TableError::TooLarge {
            what: "values",
            found: u64::MAX,
            most: usize::MAX as u64,
        })?;
    let mut values = Vec::new();
    reserve(&mut values, size)?;
    values.resize(size, 0.0);
    for column in 0..bounding.mapping.columns().len() {
        if bounding.is_hopeless() {
            break;
        }
        fill(source, &mut bounding, column, &fates, &mut values)?;
    }
    bounding.finish(&admission, owners, response, values)
}

/// Zero or one for each record of a column of two levels.
fn labelled(
    source: &mut dyn ColumnSource,
    levels: &BinaryLevels,
    column: usize,
) -> Result<Vec<Result<f64, CellDefect>>, DataError> {
    let mut values = Vec::with_capacity(source.n_records());
    source.labels(column, &mut |label| values.push(levels.of_text(label)))?;
    Ok(values)
}

/// The client of each record in the file, or nothing where the cap turned the record away.
fn admit(
    source: &mut dyn ColumnSource,
    admission: &mut Admission<'_>,
    client_column: Option<usize>,
) -> Result<Vec<Option<u32>>, DataError> {
    let Some(column) = client_column else {
        let clients: Result<_, _> = (1..=source.n_records() as u64)
            .map(|record| admission.admit(&[], Place::Record(record)))
            .collect();
        return Ok(clients?);
    };
    let places = source.places(column);
    let mut admitted = Vec::with_capacity(source.n_records());
    let mut outcome = Ok(());
    source.owners(column, &mut |label| {
        if outcome.is_ok() {
            let place = places.of(admitted.len() as u64 + 1);
            let client = label.ok_or_else(|| admission.no_family(place));
            match client.and_then(|label| admission.admit(label, place)) {
                Ok(client) => admitted.push(client),
                Err(problem) => outcome = Err(problem),
            }
        }
    })?;
    outcome?;
    Ok(admitted)
}

/// Writes one column of the records that count into its places in every row.
fn fill(
    source: &mut dyn ColumnSource,
    bounding: &mut Bounding<'_>,
    column: usize,
    fates: &[Fate],
    values: &mut [f32],
) -> Result<(), DataError> {
    let position = bounding.selection.features[column];
    let coded = bounding.mapping.columns()[column].clone();
    let mut rows = values.chunks_exact_mut(bounding.mapping.names().len());
    let mut records = fates.iter().zip(1..);
    let origin = source.places(position);
    // The places of the next record of the file, if it counts.
    let mut next = || {
        let (fate, record) = records.next()?;
        let row = (*fate != Fate::OverCap).then(|| rows.next()).flatten()?;
        (*fate == Fate::Counted).then(|| (&mut row[coded.features.clone()], origin.of(record)))
    };
    match &coded.coding {
        Coding::Number(number) => source.numbers(position, &mut |raw| {
            if let Some((places, place)) = next() {
                let outcome = raw.and_then(|raw| number.encode(raw, places).map_err(Defect::from));
                bounding.count(column, outcome, place);
            }
        }),
        Coding::Levels(levels) => source.labels(position, &mut |label| {
            if let Some((places, place)) = next() {
                let outcome = levels.encode(label, places).map_err(Defect::from);
                bounding.count(column, outcome, place);
            }
        }),
    }
}
