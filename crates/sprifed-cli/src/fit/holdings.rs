//! Who holds which rows, decided from file order and labels alone.

use std::borrow::Cow;
use std::ops::Range;

use sprifed_data::{ClientIndex, DataError, PrivacyUnit, Schema, Table};
use sprifed_privacy::NoiseOrigin;
use sprifed_query::{IllegalRecords, Records};

use crate::failure::Failure;

/// The clients of a study and, where they are the units of privacy, the order that groups them.
#[derive(Debug)]
pub(super) struct Holdings {
    /// How many clients there are, with and without usable records.
    pub(super) n_clients: usize,
    /// The most records that one client can hold.
    pub(super) most_records: u32,
    /// The rows of each client.
    rows: Vec<Vec<u32>>,
    /// Whether clients are the units of privacy.
    by_client: bool,
}

/// A table with the rows of each unit side by side.
#[derive(Debug)]
pub(super) struct Grouped<'a> {
    features: Cow<'a, [f32]>,
    responses: Cow<'a, [f32]>,
    n_features: usize,
    units: Option<Vec<Range<usize>>>,
    /// The units of each client, where clients are parties of their own.
    parties: Vec<Range<usize>>,
}

impl Holdings {
    /// The holdings of `table`: by the client column, or split over `clients` in blocks.
    ///
    /// # Why
    /// Blocks are cut by position in the file and not among the usable rows: otherwise a record
    /// that is dropped would move others from one client to the next, and the change of one unit
    /// would be the change of many.
    pub(super) fn of(
        schema: &Schema,
        table: &Table,
        clients: Option<usize>,
    ) -> Result<Self, Failure> {
        let index = table.clients();
        let by_client = table.unit() == PrivacyUnit::Client;
        if let Some(column) = schema.client() {
            if let Some(found) = clients {
                let message = format!(
                    "--clients {found} was given, but the schema says that the column `{column}` names the client"
                );
                let help =
                    "remove --clients, or `record.client` from the schema; nothing was spent";
                return Err(Failure::usage("sprifed::fit::two-splits", message, help));
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
            most_records: u32::try_from(most).unwrap_or(u32::MAX),
            rows: blocks.iter().map(rows).collect(),
            by_client,
        })
    }

    /// The most privacy units that one client can hold.
    pub(super) const fn most_units(&self) -> u32 {
        if self.by_client { 1 } else { self.most_records }
    }

    /// The rows of `table`, those of one unit side by side, and those of one client where clients
    /// add the noise.
    pub(super) fn group<'a>(&self, table: &'a Table, origin: NoiseOrigin) -> Grouped<'a> {
        let design = table.design();
        let mut grouped = Grouped {
            features: Cow::Borrowed(design.values()),
            responses: Cow::Borrowed(table.response()),
            n_features: design.n_features(),
            units: None,
            parties: Vec::new(),
        };
        let as_parties = origin != NoiseOrigin::Curator;
        if !as_parties && !self.by_client {
            return grouped;
        }
        let order = || self.rows.iter().flatten().map(|row| *row as usize);
        if !order().enumerate().all(|(place, row)| place == row) {
            grouped.features = order().flat_map(|row| design.row(row)).copied().collect();
            grouped.responses = order().map(|row| table.response()[row]).collect();
        }
        // A client without usable records contributes zero, so it has no place among the units.
        if self.by_client {
            let held = self.rows.iter().map(Vec::len).filter(|held| *held > 0);
            grouped.units = Some(consecutive(held));
        }
        if as_parties {
            let held = self.rows.iter().map(Vec::len);
            let units = held.map(|held| if self.by_client { held.min(1) } else { held });
            grouped.parties = consecutive(units);
        }
        grouped
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

impl Grouped<'_> {
    /// The units of each client, where clients are parties of their own.
    pub(super) fn parties(&self) -> &[Range<usize>] {
        &self.parties
    }

    /// The records as a backend wants them.
    pub(super) fn records(&self) -> Result<Records<'_>, IllegalRecords> {
        let records = Records::each_a_unit(&self.features, &self.responses, self.n_features)?;
        match &self.units {
            Some(units) => records.grouped(units.clone()),
            None => Ok(records),
        }
    }
}
