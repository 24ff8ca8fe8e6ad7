//! Which records belong to which client.

use crate::error::TableError;

/// For each client the rows it holds, clients in the order of their labels; without labels each row is
/// a client, in the order of the file.
///
/// Rows that do not count are held too, so that neither the number of clients nor the order of rows
/// depends on what a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIndex {
    /// Client `c` holds `rows[offsets[c]..offsets[c + 1]]`.
    offsets: Vec<u32>,
    rows: Vec<u32>,
}

impl ClientIndex {
    /// Deals `n_records` rows to `n_clients` clients in consecutive blocks of nearly equal size.
    ///
    /// # Errors
    /// If some client would be left without a record.
    pub fn split_evenly(n_records: usize, n_clients: usize) -> Result<Self, TableError> {
        if n_clients == 0 || n_clients > n_records {
            return Err(TableError::EmptyClient {
                clients: n_clients,
                records: n_records,
            });
        }
        let row_count = count_rows(n_records)?;
        let share = n_records / n_clients;
        let larger = n_records % n_clients;
        let offsets = (0..=n_clients)
            .map(|client| count_rows(client * share + client.min(larger)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            offsets,
            rows: (0..row_count).collect(),
        })
    }

    /// Groups rows by their owner; `owners[row]` is less than `n_clients`.
    pub(crate) fn group(owners: &[u32], n_clients: u32) -> Self {
        let mut offsets = vec![0u32; n_clients as usize + 1];
        for &owner in owners {
            offsets[owner as usize + 1] += 1;
        }
        for client in 1..offsets.len() {
            offsets[client] += offsets[client - 1];
        }
        let mut next = offsets.clone();
        let mut rows = vec![0u32; owners.len()];
        for (row, &owner) in (0u32..).zip(owners) {
            let place = &mut next[owner as usize];
            rows[*place as usize] = row;
            *place += 1;
        }
        Self { offsets, rows }
    }

    /// How many clients there are.
    pub fn n_clients(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The rows of `client`, in the order of the file.
    ///
    /// # Panics
    /// If `client` is not less than [`Self::n_clients`].
    pub fn rows_of(&self, client: usize) -> &[u32] {
        &self.rows[self.offsets[client] as usize..self.offsets[client + 1] as usize]
    }

    /// The rows of each client in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.n_clients()).map(|client| self.rows_of(client))
    }
}

/// `rows` as the index counts them.
pub(crate) fn count_rows(rows: usize) -> Result<u32, TableError> {
    u32::try_from(rows).map_err(|_| TableError::TooLarge {
        what: "records",
        found: rows as u64,
        most: u64::from(u32::MAX),
    })
}

#[cfg(test)]
mod tests;
