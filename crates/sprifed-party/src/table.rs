//! A party's table, read when its records are first asked for.

use core::fmt;
use std::sync::{Arc, OnceLock};

use sprifed_query::RecordSource as _;
use sprifed_schema::Schema;
use sprifed_secure_sum::ClientId;
use sprifed_study::{Agreed, RecordStore, Unopened};
use sprifed_tables::{DataError, LoadCounts, SampleTable, Table, TableFile, read_table};

use crate::error::PartyError;
use crate::records::PartyRecords;
use crate::terms::terms_of;

/// The table of one party of one study. It is read at most once, for every machine that is made of it.
#[derive(Clone, Debug)]
pub struct PartyTable(Arc<Closed>);

struct Closed {
    name: String,
    agreed: Arc<Agreed>,
    me: ClientId,
    read: Box<Read>,
    /// What was read, or why it could not be.
    content: OnceLock<Result<Content, PartyError>>,
}

/// Reads a table by a schema.
type Read = dyn Fn(&Schema) -> Result<Table, DataError> + Send + Sync;

impl fmt::Debug for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, content, .. } = self;
        let mut debug = f.debug_struct("PartyTable");
        debug.field("name", name).field("content", content);
        debug.finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Content {
    records: PartyRecords,
    counts: LoadCounts,
}

impl PartyTable {
    /// The table that messages call `name`, for the party `me` of `agreed`; `read` reads it, and is not called yet.
    #[must_use]
    pub fn new(
        name: &str,
        agreed: &Arc<Agreed>,
        me: ClientId,
        read: impl Fn(&Schema) -> Result<Table, DataError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Closed {
            name: name.to_owned(),
            agreed: Arc::clone(agreed),
            me,
            read: Box::new(read),
            content: OnceLock::new(),
        }))
    }

    /// The table in a file, for the party `me` of `agreed`; it is not read yet.
    #[must_use]
    pub fn in_file<'a>(file: impl Into<TableFile<'a>>, agreed: &Arc<Agreed>, me: ClientId) -> Self {
        let file = file.into();
        let (path, format) = (file.path, file.format);
        let own = path.to_owned();
        let joined = file.phenotypes.map(|second| {
            let column = second.sample_column.map(str::to_owned);
            (second.path.to_owned(), column, second.extra)
        });
        let read = move |schema: &_| {
            let phenotypes = joined.as_ref().map(|(path, column, extra)| SampleTable {
                path,
                sample_column: column.as_deref(),
                extra: *extra,
            });
            let file = TableFile {
                path: &own,
                format,
                phenotypes,
            };
            read_table(file, schema)
        };
        Self::new(&path.display().to_string(), agreed, me, read)
    }

    /// The records and what happened to them on their way in; reads the table unless it was read before.
    ///
    /// # Errors
    /// When it cannot be read, or is not what was agreed on.
    pub fn read(&self) -> Result<(&PartyRecords, LoadCounts), PartyError> {
        let content = self.0.content.get_or_init(|| self.0.read());
        let content = content.as_ref().map_err(Clone::clone)?;
        Ok((&content.records, content.counts))
    }

    /// Why the table cannot be used, if it was opened. It is for the party itself: it may repeat what the table says.
    #[must_use]
    pub fn problem(&self) -> Option<&PartyError> {
        self.0.content.get()?.as_ref().err()
    }
}

impl Closed {
    fn read(&self) -> Result<Content, PartyError> {
        let agreement = self.agreed.agreement();
        let table = (self.read)(terms_of(agreement)?.schema())?;
        let name = &self.name;
        let records = PartyRecords::of(&table, name, agreement, self.me)?;
        let seat = agreement.parties.get(self.me.0 as usize);
        let (found, most) = (records.n_units(), seat.map_or(0, |seat| seat.units));
        if found > most as usize {
            let table = name.clone();
            return Err(PartyError::TooManyRecords { table, found, most });
        }
        let (found, required) = (records.n_features(), agreement.setting.n_columns());
        if found != required as usize {
            return Err(PartyError::OtherFeatures { found, required });
        }
        Ok(Content {
            records,
            counts: *table.counts(),
        })
    }
}

impl RecordStore for PartyTable {
    type Records = PartyRecords;

    fn opened(&self) -> Option<&PartyRecords> {
        let content = self.0.content.get()?.as_ref().ok()?;
        Some(&content.records)
    }

    fn open(&self) -> Result<&PartyRecords, Unopened> {
        // The reason stays here: it may repeat what the table says.
        self.read()
            .map(|(records, _)| records)
            .map_err(|_| Unopened)
    }
}

#[cfg(test)]
mod tests;
