//! A bounded table: what the readers make of a file and a schema.

use sprifed_privacy::PrivacyUnit;
use sprifed_schema::{Mapping, Schema, SiteReport};

use crate::clients::ClientIndex;
use crate::design::Design;
use crate::markers::Markers;

/// Records in bounded units, the client of each, and the way back.
///
/// Every record within the cap has its row, in the order of the file. One that is left out because
/// its response is missing keeps it, as zeros that do not count: the place of a record must not
/// depend on what others say.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub(crate) design: Design,
    pub(crate) response: Vec<f32>,
    pub(crate) present: Vec<bool>,
    pub(crate) clients: ClientIndex,
    pub(crate) mapping: Mapping,
    pub(crate) markers: Markers,
    pub(crate) unit: PrivacyUnit,
    pub(crate) counts: LoadCounts,
}

/// What a study needs to know about a table besides its rows. All of it is public where records are
/// the units of privacy; where clients are, how many records each of them has is not.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'a> {
    /// The name of each feature.
    pub names: &'a [String],
    /// The units of the table and the way back to the original ones.
    pub mapping: &'a Mapping,
    /// What is publicly known of the features that are genetic markers.
    pub markers: &'a Markers,
    /// The client of each row.
    pub clients: &'a ClientIndex,
    /// Whose presence the guarantee hides.
    pub unit: PrivacyUnit,
    /// The number of records that may be published: those within the cap, response or not.
    pub public_size: u64,
}

/// What happened to the records on their way in.
///
/// Totals only, and for the client alone: `dropped_without_response`, `missing_values` and
/// `clipped_values` depend on records and must never leave a client without noise. Which record or
/// column they come from is not kept at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadCounts {
    /// Records in the file.
    pub records_read: u64,
    /// Records beyond the cap of their client, which were not looked at.
    pub over_cap: u64,
    /// Records without a row in the second table, if two were joined.
    pub unmatched: u64,
    /// Rows of the second table that belong to no record, and were left out as the user said.
    pub extra_samples: u64,
    /// Records left out because their response is missing.
    pub dropped_without_response: u64,
    /// Feature values that are missing, for which something stands in.
    pub missing_values: u64,
    /// Feature and response values outside their bounds, moved to the nearest bound.
    pub clipped_values: u64,
}

impl Table {
    /// The bounded features.
    pub const fn design(&self) -> &Design {
        &self.design
    }

    /// The bounded response of each record; zero for one that does not count.
    pub fn response(&self) -> &[f32] {
        &self.response
    }

    /// Which records count: all but those without a response. For the client alone.
    pub fn present(&self) -> &[bool] {
        &self.present
    }

    /// The client of each record.
    pub const fn clients(&self) -> &ClientIndex {
        &self.clients
    }

    /// The units of the table and the way back to the original ones.
    pub const fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Whose presence the guarantee hides.
    pub const fn unit(&self) -> PrivacyUnit {
        self.unit
    }

    /// What happened to the records on their way in.
    pub const fn counts(&self) -> &LoadCounts {
        &self.counts
    }

    /// How many records each site of `schema`, under which the table was read, has and should have. For the client alone.
    #[must_use]
    pub fn sites(&self, schema: &Schema) -> Vec<SiteReport> {
        let Some(column) = schema.sites() else {
            return Vec::new();
        };
        let stated = column.sites().iter().zip(column.records());
        let places = self.mapping.n_features()..;
        let reports = stated.zip(places).map(|((site, stated), place)| {
            let is_there = |row: &&[f32]| row.get(place).is_some_and(|value| *value > 0.0);
            SiteReport {
                site: site.clone(),
                stated: *stated,
                found: self.design.rows().filter(is_there).count() as u64,
            }
        });
        reports.collect()
    }

    /// Everything but the rows.
    pub fn outline(&self) -> Outline<'_> {
        Outline {
            names: self.design.names(),
            mapping: &self.mapping,
            markers: &self.markers,
            clients: &self.clients,
            unit: self.unit,
            public_size: self.public_size(),
        }
    }

    /// The number of records that may be published: those within the cap, response or not.
    ///
    /// How many of them count depends on which responses are missing, so it is a statistic of the
    /// records; a sum over records is divided by this number instead.
    pub const fn public_size(&self) -> u64 {
        self.counts.records_read - self.counts.over_cap
    }
}
