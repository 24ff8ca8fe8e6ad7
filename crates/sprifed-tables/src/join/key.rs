//! Identifiers of samples: which columns have them, and which row belongs to which.

use std::collections::{HashMap, HashSet};

use sprifed_schema::Column;

use super::Unmatched;
use crate::cell::Place;
use crate::error::{TableError, Which};
use crate::formats::Source;

/// The columns that identify a sample, in the first and in the second table, in the same order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeyColumns {
    pub(super) first: Vec<usize>,
    pub(super) second: Vec<usize>,
}

impl KeyColumns {
    /// The column that the user names, or those that are customary beside genotypes.
    pub(super) fn find(
        first: &Source<'_>,
        second: &[Column],
        named: Option<&str>,
    ) -> Result<Self, TableError> {
        let custom = first.sample_columns();
        let in_first = |name: &str| position(first.columns(), name);
        match (named, custom) {
            (Some(name), _) => {
                let own = custom.map_or(name, |custom| custom.sample);
                let missing = |table, column: &str| TableError::NoSampleColumn {
                    table,
                    column: column.to_owned(),
                };
                Ok(Self {
                    first: vec![in_first(own).ok_or_else(|| missing(Which::First, own))?],
                    second: vec![
                        position(second, name).ok_or_else(|| missing(Which::Second, name))?,
                    ],
                })
            }
            (None, Some(custom)) => {
                // PLINK marks the first column of a header with a hash.
                let in_second = |name: &str| {
                    position(second, name).or_else(|| position(second, &format!("#{name}")))
                };
                let sample = in_second(custom.sample).zip(in_first(custom.sample));
                let sample = sample.ok_or_else(|| TableError::NoSampleColumn {
                    table: Which::Second,
                    column: custom.sample.to_owned(),
                })?;
                let family = custom
                    .family
                    .and_then(|name| in_second(name).zip(in_first(name)));
                let (second, first) = family.into_iter().chain([sample]).unzip();
                Ok(Self { first, second })
            }
            (None, None) => Err(TableError::UnnamedSampleColumn),
        }
    }
}

fn position(columns: &[Column], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.name == name)
}

/// The identifier of a sample: its labels without the blanks around them, none of which is empty.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key(Vec<u8>);

impl Key {
    /// Adds the label of a further column; false if there is none.
    fn add(&mut self, label: &[u8]) -> bool {
        let label = label.trim_ascii();
        // The length first, so that no two lists of labels make the same bytes.
        self.0
            .extend_from_slice(&(label.len() as u64).to_le_bytes());
        self.0.extend_from_slice(label);
        !label.is_empty()
    }
}

/// The row of each sample of the second table, and how the samples of the first were matched so far.
#[derive(Debug, Default)]
pub(super) struct SampleRows {
    rows: HashMap<Key, usize>,
    n_rows: usize,
    repeats: Repeats,
    /// The samples of the first table so far.
    seen: HashSet<Key>,
    repeats_of_first: Repeats,
    n_matched: u64,
    n_unmatched: u64,
}

impl SampleRows {
    /// Adds the next row of the second table.
    pub(super) fn add(&mut self, key: Key, place: Place) {
        if self.rows.insert(key, self.n_rows).is_some() {
            self.repeats.note(place);
        }
        self.n_rows += 1;
    }

    /// Refuses a second table that has a sample twice.
    pub(super) fn check_second(&self) -> Result<(), TableError> {
        self.repeats.check(Which::Second)
    }

    /// The row of the next sample of the first table, `key`, which is at `place`.
    pub(super) fn row_of(&mut self, key: Key, place: Place) -> Option<usize> {
        let row = self.rows.get(&key).copied();
        match row {
            Some(_) => self.n_matched += 1,
            None => self.n_unmatched += 1,
        }
        if !self.seen.insert(key) {
            self.repeats_of_first.note(place);
        }
        row
    }

    /// How many samples are in one table only, after all of the first were asked for.
    ///
    /// # Errors
    /// If the first table has a sample twice.
    pub(super) fn unmatched(&self) -> Result<Unmatched, TableError> {
        self.repeats_of_first.check(Which::First)?;
        Ok(Unmatched {
            first: self.n_unmatched,
            second: (self.n_rows as u64).saturating_sub(self.n_matched),
        })
    }
}

/// Rows whose sample has a row before.
#[derive(Debug, Default)]
struct Repeats {
    count: u64,
    first: Option<Place>,
}

impl Repeats {
    fn note(&mut self, place: Place) {
        self.count += 1;
        self.first.get_or_insert(place);
    }

    /// Refuses the table if it has some.
    fn check(&self, table: Which) -> Result<(), TableError> {
        match self.first {
            None => Ok(()),
            Some(place) => Err(TableError::RepeatedSamples {
                table,
                count: self.count,
                place,
            }),
        }
    }
}

/// Adds `label` to the identifier of the sample at `place`.
///
/// # Errors
/// If it is empty.
pub(super) fn extend(
    key: &mut Key,
    label: &[u8],
    table: Which,
    place: Place,
) -> Result<(), TableError> {
    match key.add(label) {
        true => Ok(()),
        false => Err(TableError::NamelessSample { table, place }),
    }
}
