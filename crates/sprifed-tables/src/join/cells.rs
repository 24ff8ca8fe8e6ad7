//! The second table in memory: those of its columns that are wanted, in the form in which they are.

use std::collections::BTreeMap;

use super::key::{Key, SampleRows, extend};
use crate::assemble::{ColumnSource, RowSource};
use crate::cell::{Defect, Place};
use crate::error::{DataError, Which};
use crate::formats::Source;

/// How the cells of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Number,
    Label,
}

/// Columns of the second table.
#[derive(Debug, Default)]
pub(super) struct Cells {
    numbers: BTreeMap<usize, Vec<Result<f64, Defect>>>,
    labels: BTreeMap<usize, Labels>,
    /// Where each row is.
    places: Vec<Place>,
}

/// Texts one after another.
#[derive(Debug, Default)]
struct Labels {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Labels {
    fn push(&mut self, label: &[u8]) {
        self.bytes.extend_from_slice(label);
        self.ends.push(self.bytes.len());
    }

    fn get(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[row]]
    }
}

impl Cells {
    /// Reads the columns `wanted`, and the row of each sample by the columns `key`.
    pub(super) fn read(
        source: Source<'_>,
        wanted: &[(usize, Form)],
        key: &[usize],
    ) -> Result<(Self, SampleRows), DataError> {
        let mut cells = Self::default();
        for (column, form) in wanted {
            match form {
                Form::Number => drop(cells.numbers.insert(*column, Vec::new())),
                Form::Label => drop(cells.labels.insert(*column, Labels::default())),
            }
        }
        let rows = match source {
            Source::Rows(mut source) => cells.read_rows(&mut *source, key)?,
            Source::Columns(mut source) => cells.read_columns(&mut *source, key)?,
        };
        rows.check_second()?;
        Ok((cells, rows))
    }

    fn read_rows(
        &mut self,
        source: &mut dyn RowSource,
        key: &[usize],
    ) -> Result<SampleRows, DataError> {
        let (mut rows, mut label) = (SampleRows::default(), Vec::new());
        while source.advance()? {
            let sample = key_of_row(source, key, Which::Second)?;
            rows.add(sample, source.place(key[0]));
            self.places.push(source.place(key[0]));
            for (column, numbers) in &mut self.numbers {
                numbers.push(source.number(*column));
            }
            for (column, labels) in &mut self.labels {
                label.clear();
                source.label(*column, &mut label);
                labels.push(&label);
            }
        }
        Ok(rows)
    }

    fn read_columns(
        &mut self,
        source: &mut dyn ColumnSource,
        key: &[usize],
    ) -> Result<SampleRows, DataError> {
        let mut rows = SampleRows::default();
        for (place, sample) in keys_of_columns(source, key, Which::Second)? {
            rows.add(sample, place);
            self.places.push(place);
        }
        for (column, numbers) in &mut self.numbers {
            source.numbers(*column, &mut |number| numbers.push(number))?;
        }
        for (column, labels) in &mut self.labels {
            source.labels(*column, &mut |label| labels.push(label))?;
        }
        Ok(rows)
    }

    /// The number in `column` of a row; missing if there is no row.
    pub(super) fn number(&self, column: usize, row: Option<usize>) -> Result<f64, Defect> {
        let numbers = self.numbers.get(&column);
        let number = row.and_then(|row| numbers?.get(row).copied());
        number.unwrap_or(Ok(f64::NAN))
    }

    /// The text in `column` of a row; empty if there is no row.
    pub(super) fn label(&self, column: usize, row: Option<usize>) -> &[u8] {
        let labels = self.labels.get(&column);
        let label = row.and_then(|row| Some(labels?.get(row)));
        label.unwrap_or_default()
    }

    /// Where a row is.
    pub(super) fn place(&self, row: usize) -> Place {
        self.places[row]
    }
}

/// The identifier of the present row.
pub(super) fn key_of_row(
    source: &dyn RowSource,
    columns: &[usize],
    table: Which,
) -> Result<Key, DataError> {
    let (mut key, mut label) = (Key::default(), Vec::new());
    for column in columns {
        label.clear();
        source.label(*column, &mut label);
        extend(&mut key, &label, table, source.place(*column))?;
    }
    Ok(key)
}

/// The identifier of each record, and where it is.
pub(super) fn keys_of_columns(
    source: &mut dyn ColumnSource,
    columns: &[usize],
    table: Which,
) -> Result<Vec<(Place, Key)>, DataError> {
    let places = source.places(columns[0]);
    let n_records = source.n_records() as u64;
    let mut keys: Vec<(Place, Key)> = (1..=n_records)
        .map(|record| (places.of(record), Key::default()))
        .collect();
    for column in columns {
        let (mut records, mut outcome) = (keys.iter_mut(), Ok(()));
        source.labels(*column, &mut |label| {
            if let (Some((place, key)), Ok(())) = (records.next(), &outcome) {
                outcome = extend(key, label, table, *place);
            }
        })?;
        outcome?;
    }
    Ok(keys)
}
