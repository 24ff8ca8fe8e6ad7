//! Who holds which rows, decided from file order and labels alone.

use std::ops::Range;

use sprifed_privacy::NoiseOrigin;
use sprifed_privacy::PrivacyUnit;
use sprifed_query::{Record, RecordSource};
use sprifed_schema::Schema;
use sprifed_tables::{ClientIndex, DataError, Outline};

use crate::error::Error;

/// The clients of a study and, where they are the units of privacy, the order that groups them.
#[derive(Debug)]
pub struct Holdings {
    /// How many clients there are.
    pub n_clients: usize,
    /// The most records that one client can hold.
    pub most_records: u32,
    /// The rows of each client.
    rows: Vec<Vec<u32>>,
    /// Whether clients are the units of privacy.
    by_client: bool,
}

/// Which rows are together.
#[derive(Debug)]
pub(crate) struct Grouping {
    /// The rows in the order of units, where that is not their own.
    order: Option<Vec<u32>>,
    /// The places in the order that make a unit; each is one by default.
    units: Option<Vec<Range<usize>>>,
    /// The units of each client, where clients are parties of their own.
    parties: Vec<Range<usize>>,
}

/// Rows, of which each is a unit of `rows`, with those of one privacy unit together; nothing is
/// copied.
#[derive(Clone, Copy, Debug)]
pub struct Grouped<'a, S> {
    rows: &'a S,
    grouping: &'a Grouping,
}

impl Holdings {
    /// The holdings of `table`: by the client column, or split over `clients` in blocks.
    ///
    /// # Why
    /// Blocks are cut by position in the file and not among the records that count: otherwise a
    /// record that is dropped would move others from one client to the next, and the change of one
    /// unit would be the change of many.
    ///
    /// # Errors
    /// When the clients are said twice, or there are more of them than records.
    pub fn of(schema: &Schema, table: Outline<'_>, clients: Option<usize>) -> Result<Self, Error> {
        let index = table.clients;
        let by_client = table.unit == PrivacyUnit::Client;
        if let Some(column) = schema.client() {
            if let Some(found) = clients {
                return Err(Error::TwoSplits {
                    clients: found,
                    column: column.to_owned(),
                });
            }
            return Ok(Self {
                n_clients: index.n_clients(),
                most_records: schema.max_per_client().get(),
                rows: index.iter().map(<[u32]>::to_vec).collect(),
                by_client,
            });
        }
        // Without a client column the index has one client for each record of the file.
        let positions = index.n_clients();
        let n_clients = clients.unwrap_or(positions);
        let blocks = ClientIndex::split_evenly(positions, n_clients).map_err(DataError::from)?;
        let most = blocks.iter().map(<[u32]>::len).max().unwrap_or(1);
        let rows = |block: &[u32]| {
            block
                .iter()
                .flat_map(|place| index.rows_of(*place as usize))
                .copied()
                .collect()
        };
        Ok(Self {
            n_clients,
            // Where clients are protected, how many records they have is not published.
            most_records: if by_client {
                1
            } else {
                u32::try_from(most).unwrap_or(u32::MAX)
            },
            rows: blocks.iter().map(rows).collect(),
            by_client,
        })
    }

    /// The most privacy units that one client can hold.
    #[must_use]
    pub const fn most_units(&self) -> u32 {
        if self.by_client { 1 } else { self.most_records }
    }

    /// The rows, those of one unit together, and those of one client where clients add the noise.
    pub(crate) fn group(&self, origin: NoiseOrigin) -> Grouping {
        let mut grouping = Grouping {
            order: None,
            units: None,
            parties: Vec::new(),
        };
        let as_parties = origin != NoiseOrigin::Curator;
        if !as_parties && !self.by_client {
            return grouping;
        }
        let order = || self.rows.iter().flatten().copied();
        if !(0..).zip(order()).all(|(place, row)| place == row) {
            grouping.order = Some(order().collect());
        }
        let held = || self.rows.iter().map(Vec::len);
        if self.by_client {
            grouping.units = Some(consecutive(held()));
        }
        if as_parties {
            let units = held().map(|held| if self.by_client { 1 } else { held });
            grouping.parties = consecutive(units);
        }
        grouping
    }
}

/// Ranges of these lengths, one after the other.
fn consecutive(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut start = 0;
    let range = |length| {
        let range = start..start + length;
        start = range.end;
        range
    };
    lengths.map(range).collect()
}

impl Grouping {
    /// The units of each client, where clients are parties of their own.
    pub(crate) fn parties(&self) -> &[Range<usize>] {
        &self.parties
    }

    /// `rows` as a backend wants them.
    pub(crate) const fn of<'a, S: RecordSource>(&'a self, rows: &'a S) -> Grouped<'a, S> {
        Grouped {
            rows,
            grouping: self,
        }
    }
}

impl<S: RecordSource> RecordSource for Grouped<'_, S> {
    fn n_features(&self) -> usize {
        self.rows.n_features()
    }

    fn n_units(&self) -> usize {
        let units = self.grouping.units.as_ref();
        units.map_or_else(|| self.rows.n_units(), Vec::len)
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        let Grouping { order, units, .. } = self.grouping;
        let places = units
            .as_ref()
            .map_or(unit..unit + 1, |units| units[unit].clone());
        for place in places {
            let row = order.as_ref().map_or(place, |order| order[place] as usize);
            self.rows.visit_unit(row, visit);
        }
    }

    fn is_grouped(&self) -> bool {
        self.grouping.units.is_some()
    }
}
