//! Assembly from columns that arrive one after another.

use core::ops::Range;

use sprifed_schema::{Coding, Schema};

use super::of_genotypes::{Packed, layout_of};
use super::{Admission, Bounding, ColumnSource, Matrix, reserve};
use crate::cell::{Defect, Place};
use crate::clients::count_rows;
use crate::design::Genotypes;
use crate::error::{DataError, TableError};
use crate::genotypes::{IN_A_BYTE, Spot};
use crate::table::Table;

/// What becomes of a record of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It has no row.
    OverCap,
    /// It has a row of zeros, which does not count.
    Dropped,
    /// It has a row.
    Counted,
}

/// The records of a file, and how many of them have rows.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) fates: &'a [Fate],
    n_rows: usize,
}

impl Rows<'_> {
    /// Room for so many values of each row.
    fn room_for<T: Clone>(self, width: usize, value: T) -> Result<Vec<T>, DataError> {
        let too_large = TableError::TooLarge {
            what: "values",
            found: u64::MAX,
            most: usize::MAX as u64,
        };
        let size = self.n_rows.checked_mul(width).ok_or(too_large)?;
        let mut values = Vec::new();
        reserve(&mut values, size)?;
        values.resize(size, value);
        Ok(values)
    }
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
    let places = source.places(bounding.selection.response);
    source.numbers(bounding.selection.response, &mut |raw| {
        let Some((Some(client), record)) = admitted_clients.next() else {
            fates.push(Fate::OverCap);
            return;
        };
        let unit = bounding.response(raw, places.of(record));
        fates.push(unit.map_or(Fate::Dropped, |_| Fate::Counted));
        owners.push(*client);
        response.push(unit);
    })?;
    drop(admitted);

    if response.is_empty() {
        return Err(TableError::NoRecords.into());
    }
    let rows = Rows {
        fates: &fates,
        n_rows: response.len(),
    };
    let layout = layout_of(source, &bounding);
    let mut numbers = rows.room_for(layout.numbers_of_row(), 0.0)?;
    let mut codes = rows.room_for(layout.bytes_of_row(), 0)?;
    let mut column = 0;
    while let Some(coded) = bounding.mapping.columns().get(column)
        && !bounding.is_hopeless()
    {
        match layout.place_of(coded.features.start) {
            Some(Spot::Genotype(first)) => {
                let packed = Packed {
                    columns: column,
                    first_byte: first / IN_A_BYTE,
                    n_bytes: layout.bytes_of_row(),
                };
                column += packed.fill(source, &mut bounding, rows, &mut codes)?;
            }
            Some(Spot::Number(first)) => {
                let places = first..first + coded.features.len();
                let width = layout.numbers_of_row();
                fill(
                    source,
                    &mut bounding,
                    column,
                    &fates,
                    (&mut numbers, width, places),
                )?;
                column += 1;
            }
            None => column += 1,
        }
    }
    let matrix = if codes.is_empty() {
        Matrix::Numbers(numbers)
    } else {
        let is_blank = response.iter().map(Option::is_none).collect();
        let genotypes = Genotypes {
            layout,
            codes,
            is_blank,
        };
        Matrix::Coded(numbers, genotypes)
    };
    bounding.finish(&admission, owners, response, matrix)
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
    source.labels(column, &mut |label| {
        if outcome.is_ok() {
            let record = admitted.len() as u64 + 1;
            match admission.admit(label, places.of(record)) {
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
    (values, width, places): (&mut [f32], usize, Range<usize>),
) -> Result<(), DataError> {
    let position = bounding.selection.features[column];
    let coded = bounding.mapping.columns()[column].clone();
    let mut rows = values.chunks_exact_mut(width);
    let mut records = fates.iter().zip(1..);
    let origin = source.places(position);
    // The places of the next record of the file, if it counts.
    let mut next = || {
        let (fate, record) = records.next()?;
        let row = (*fate != Fate::OverCap).then(|| rows.next()).flatten()?;
        (*fate == Fate::Counted).then(|| (&mut row[places.clone()], origin.of(record)))
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
