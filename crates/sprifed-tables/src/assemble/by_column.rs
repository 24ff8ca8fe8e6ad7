//! Assembly from columns that arrive one after another.

use sprifed_schema::Schema;

use super::{Admission, Bounding, ColumnSource, reserve};
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
    source: &mut impl ColumnSource,
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
    let mut outcome = Ok(());
    let mut admitted_clients = admitted.iter();
    source.numbers(bounding.selection.response, &mut |raw| {
        let (Ok(()), Some(Some(client))) = (&outcome, admitted_clients.next()) else {
            fates.push(Fate::OverCap);
            return;
        };
        match bounding.response(raw) {
            Ok(unit) => {
                fates.push(unit.map_or(Fate::Dropped, |_| Fate::Counted));
                owners.push(*client);
                response.push(unit);
            }
            Err(problem) => outcome = Err(problem),
        }
    })?;
    outcome?;
    drop(admitted);

    if response.is_empty() {
        return Err(TableError::NoRecords.into());
    }
    let n_features = bounding.selection.features.len();
    let size = response
        .len()
        .checked_mul(n_features)
        .ok_or(TableError::TooLarge {
            what: "values",
            found: u64::MAX,
            most: usize::MAX as u64,
        })?;
    let mut values = Vec::new();
    reserve(&mut values, size)?;
    values.resize(size, 0.0);
    for feature in 0..n_features {
        fill(source, &mut bounding, feature, &fates, &mut values)?;
    }
    bounding.finish(&admission, owners, response, values)
}

/// The client of each record in the file, or nothing where the cap turned the record away.
fn admit(
    source: &mut impl ColumnSource,
    admission: &mut Admission<'_>,
    client_column: Option<usize>,
) -> Result<Vec<Option<u32>>, DataError> {
    let Some(column) = client_column else {
        let clients: Result<_, _> = (0..source.n_records())
            .map(|_| admission.admit(&[]))
            .collect();
        return Ok(clients?);
    };
    let mut admitted = Vec::with_capacity(source.n_records());
    let mut outcome = Ok(());
    source.labels(column, &mut |label| {
        if outcome.is_ok() {
            match admission.admit(label) {
                Ok(client) => admitted.push(client),
                Err(problem) => outcome = Err(problem),
            }
        }
    })?;
    outcome?;
    Ok(admitted)
}

/// Writes one feature of the records that count into its place in every row.
fn fill(
    source: &mut impl ColumnSource,
    bounding: &mut Bounding<'_>,
    feature: usize,
    fates: &[Fate],
    values: &mut [f32],
) -> Result<(), DataError> {
    let n_features = bounding.selection.features.len();
    let mut fates = fates.iter();
    let mut places = values[feature..].iter_mut().step_by(n_features);
    let mut outcome = Ok(());
    source.numbers(bounding.selection.features[feature], &mut |raw| {
        let fate = fates.next().copied().unwrap_or(Fate::OverCap);
        if outcome.is_err() || fate == Fate::OverCap {
            return;
        }
        let place = places.next();
        if fate == Fate::Dropped {
            return;
        }
        match (bounding.feature(feature, raw), place) {
            (Ok(unit), Some(place)) => *place = unit,
            (Ok(_), None) => {}
            (Err(problem), _) => outcome = Err(problem),
        }
    })?;
    outcome.map_err(DataError::from)
}
