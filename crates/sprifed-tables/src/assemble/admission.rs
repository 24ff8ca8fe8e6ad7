//! The cap on records per client.

use std::collections::HashMap;

use sprifed_schema::Schema;

use crate::cell::Place;
use crate::clients::{ClientIndex, count_rows};
use crate::error::TableError;

/// Lets the first records of each client in and turns the rest away.
///
/// # Guarantee
/// The choice depends on the order of the file and on whose records they are, never on what they
/// say, so capping costs no privacy.
#[derive(Debug)]
pub(crate) struct Admission<'a> {
    client_column: Option<&'a str>,
    max_per_client: u32,
    seen: HashMap<Box<[u8]>, Seen>,
    n_clients: u32,
    over_cap: u64,
}

#[derive(Debug)]
struct Seen {
    client: u32,
    records: u32,
}

impl<'a> Admission<'a> {
    pub(crate) fn new(schema: &'a Schema) -> Self {
        Self {
            client_column: schema.client(),
            max_per_client: schema.max_per_client().get(),
            seen: HashMap::new(),
            n_clients: 0,
            over_cap: 0,
        }
    }

    /// The client of the next record, or nothing if that client has reached the cap.
    ///
    /// Without a client column every record is a client of its own and `label` is not looked at.
    pub(crate) fn admit(&mut self, label: &[u8], place: Place) -> Result<Option<u32>, TableError> {
        let Some(column) = self.client_column else {
            return self.new_client().map(Some);
        };
        let label = label.trim_ascii();
        if label.is_empty() {
            return Err(TableError::NamelessClient {
                column: column.to_owned(),
                place,
            });
        }
        if let Some(seen) = self.seen.get_mut(label) {
            if seen.records == self.max_per_client {
                self.over_cap += 1;
                return Ok(None);
            }
            seen.records += 1;
            return Ok(Some(seen.client));
        }
        let client = self.new_client()?;
        self.seen.insert(label.into(), Seen { client, records: 1 });
        Ok(Some(client))
    }

    /// Refuses a record whose client is the family of a sample that has none.
    pub(crate) fn no_family(&self, place: Place) -> TableError {
        TableError::NoFamily {
            column: self.client_column.unwrap_or_default().to_owned(),
            place,
        }
    }

    /// Whose row each is; clients in the order of their labels.
    ///
    /// # Why
    /// The number of a client decides how its contribution is rounded. In the order of first records
    /// the numbers of others would change with the records of one client.
    pub(crate) fn index(&self, mut owners: Vec<u32>) -> ClientIndex {
        let mut labels: Vec<(&[u8], u32)> = self
            .seen
            .iter()
            .map(|(label, seen)| (&label[..], seen.client))
            .collect();
        labels.sort_unstable();
        let mut numbers = vec![0u32; labels.len()];
        for (number, (_, client)) in (0u32..).zip(labels) {
            numbers[client as usize] = number;
        }
        if self.client_column.is_some() {
            for owner in &mut owners {
                *owner = numbers[*owner as usize];
            }
        }
        ClientIndex::group(&owners, self.n_clients)
    }

    pub(crate) fn over_cap(&self) -> u64 {
        self.over_cap
    }

    fn new_client(&mut self) -> Result<u32, TableError> {
        let client = self.n_clients;
        self.n_clients = count_rows(client as usize + 1)?;
        Ok(client)
    }
}
