//! Who holds which rows, decided from file order and labels alone.

use std::borrow::Cow;
use std::ops::Range;

use sprifed_data::{ClientIndex, DataError, PrivacyUnit, Schema, Table};
use sprifed_query::{IllegalRecords, Records};

use crate::failure::Failure;

/// The clients of a study and, where they are the units of privacy, the order that groups them.
#[derive(Debug)]
pub(super) struct Holdings {
    /// How many clients there are, with and without usable records.
    pub(super) n_clients: usize,
    /// The most records that one client can hold.
    pub(super) most_records: u32,
    /// The rows of each client that has any, if clients are the units.
    grouped: Option<Vec<Vec<u32>>>,
}

/// A table with the rows of each unit side by side.
#[derive(Debug)]
pub(super) struct Grouped<'a> {
    features: Cow<'a, [f32]>,
    responses: Cow<'a, [f32]>,
    n_features: usize,
    units: Option<Vec<Range<usize>>>,
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
            let grouped = by_client.then(|| index.iter().map(<[u32]>::to_vec).collect());
            return Ok(Self::new(
                index.n_clients(),
                schema.max_per_client().get(),
                grouped,
            ));
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
        let grouped = by_client.then(|| blocks.iter().map(rows).collect());
        Ok(Self::new(
            n_clients,
            u32::try_from(most).unwrap_or(u32::MAX),
            grouped,
        ))
    }

    /// A client without usable records contributes zero, so it needs no place among the units.
    fn new(n_clients: usize, most_records: u32, grouped: Option<Vec<Vec<u32>>>) -> Self {
        let grouped = grouped.map(|clients| {
            clients
                .into_iter()
                .filter(|rows| !rows.is_empty())
                .collect()
        });
        Self {
            n_clients,
            most_records,
            grouped,
        }
    }

    /// The rows of `table`, those of one unit side by side.
    pub(super) fn group<'a>(&self, table: &'a Table) -> Grouped<'a> {
        let design = table.design();
        let n_features = design.n_features();
        let Some(clients) = &self.grouped else {
            return Grouped {
                features: Cow::Borrowed(design.values()),
                responses: Cow::Borrowed(table.response()),
                n_features,
                units: None,
            };
        };
        let mut start = 0;
        let units = clients.iter().map(|rows| {
            let unit = start..start + rows.len();
            start = unit.end;
            unit
        });
        let units = Some(units.collect());
        let order = || clients.iter().flatten().map(|row| *row as usize);
        if order().enumerate().all(|(place, row)| place == row) {
            let (features, responses) = (
                Cow::Borrowed(design.values()),
                Cow::Borrowed(table.response()),
            );
            return Grouped {
                features,
                responses,
                n_features,
                units,
            };
        }
        Grouped {
            features: order().flat_map(|row| design.row(row)).copied().collect(),
            responses: order().map(|row| table.response()[row]).collect(),
            n_features,
            units,
        }
    }
}

impl Grouped<'_> {
    /// The records as a backend wants them.
    pub(super) fn records(&self) -> Result<Records<'_>, IllegalRecords> {
        let records = Records::each_a_unit(&self.features, &self.responses, self.n_features)?;
        match &self.units {
            Some(units) => records.grouped(units.clone()),
            None => Ok(records),
        }
    }
}
