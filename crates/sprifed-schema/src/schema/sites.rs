//! The column of one table that says which site a record is of, where each site has an intercept of its own.

use super::file::SitesTable;
use crate::coding::{Coding, LevelCoding};
use crate::error::SchemaError;

/// A column of sites, with how many records each has. Both are public: they are written, never counted.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteColumn {
    name: String,
    coding: Coding,
    records: Vec<u32>,
}

impl SiteColumn {
    /// The most sites of a column.
    pub const MOST: usize = 40;

    pub(super) fn new(table: SitesTable) -> Result<Self, SchemaError> {
        let refuse = |problem: String| SchemaError::FeatureTable {
            table: "sites".to_owned(),
            problem,
        };
        if table.column.is_empty() {
            return Err(SchemaError::EmptyName {
                key: "sites.column".into(),
            });
        }
        if table.records.len() > Self::MOST {
            let (found, most) = (table.records.len(), Self::MOST);
            return Err(refuse(format!(
                "has {found} sites; required: at most {most}, so combine the smallest ones"
            )));
        }
        let (names, records): (Vec<String>, Vec<u32>) = table.records.into_iter().unzip();
        let coding = LevelCoding::of_sites(names).map_err(refuse)?;
        Ok(Self {
            name: table.column,
            coding: Coding::Levels(coding),
            records,
        })
    }

    /// The name of the column.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is read: a column of zeros and ones for each site.
    #[must_use]
    pub const fn coding(&self) -> &Coding {
        &self.coding
    }

    /// How many records each site has, in the order of the sites.
    #[must_use]
    pub fn records(&self) -> &[u32] {
        &self.records
    }

    /// The names of the sites.
    #[must_use]
    pub fn sites(&self) -> &[String] {
        match &self.coding {
            Coding::Levels(levels) => levels.levels(),
            Coding::Number(_) => &[],
        }
    }
}
