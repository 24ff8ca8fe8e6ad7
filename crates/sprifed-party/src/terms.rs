//! How parties read their records: the schema and the columns, as the agreement carries them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sprifed_schema::{Mapping, Schema};
use sprifed_tables::DataError;

use crate::error::PartyError;

/// The `data` of an agreement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataTerms {
    /// The schema, as it was written.
    pub schema: String,
    /// The candidate features, in order.
    pub features: Vec<String>,
}

/// Between parties each party is one client, or each record is a unit of its own.
fn refuse_client_column(schema: &Schema) -> Result<(), PartyError> {
    let Some(column) = schema.client() else {
        return Ok(());
    };
    let column = column.to_owned();
    Err(PartyError::ClientColumn { column })
}

impl DataTerms {
    /// The terms of an agreement.
    ///
    /// # Errors
    /// When it carries none.
    pub fn of(data: &serde_json::Value) -> Result<Self, PartyError> {
        serde_json::from_value(data.clone()).map_err(|error| {
            let found = error.to_string();
            PartyError::DataTerms { found }
        })
    }

    /// The schema by which a party reads its table: the response and the features of the study, and no other column.
    ///
    /// # Guarantee
    /// Which records count does not depend on other records. A client column with a limit would make it so.
    ///
    /// # Errors
    /// When it is none, or it names a client column.
    pub fn schema(&self) -> Result<Schema, PartyError> {
        let schema = Schema::parse(&self.schema).map_err(DataError::from)?;
        refuse_client_column(&schema)?;
        Ok(schema.only(self.features.iter().map(String::as_str)))
    }

    /// All columns that a study with these terms reads: the response and the features.
    ///
    /// # Errors
    /// When the schema is none.
    pub fn columns(&self) -> Result<Vec<String>, PartyError> {
        let schema = self.schema()?;
        let mut columns = vec![schema.response().name().to_owned()];
        let mut known: BTreeSet<&str> = BTreeSet::from([schema.response().name()]);
        for name in self.features.iter().map(String::as_str) {
            if known.insert(name) {
                columns.push(name.to_owned());
            }
        }
        Ok(columns)
    }

    /// The units of every feature and of the response.
    ///
    /// # Errors
    /// When a feature has no bounds.
    pub fn mapping(&self, schema: &Schema) -> Result<Mapping, PartyError> {
        let names = self.features.iter().map(String::as_str);
        Mapping::for_features(schema, names).ok_or(PartyError::UnboundedFeature)
    }
}

#[cfg(test)]
mod tests;
