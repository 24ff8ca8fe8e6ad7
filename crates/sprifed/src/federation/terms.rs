//! How parties read their records: the schema and the columns, as the agreement carries them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sprifed_schema::{Mapping, Schema};
use sprifed_tables::DataError;

use crate::failure::Failure;

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
fn refuse_client_column(schema: &Schema) -> Result<(), Failure> {
    let Some(column) = schema.client() else {
        return Ok(());
    };
    Err(Failure::usage(
        "sprifed::study::client-column",
        format!(
            "the schema names the client column `{column}`, but in a study between parties each party is one client"
        ),
        "remove `client` and `max_per_client` from the schema; `unit` stays; nothing was spent",
    ))
}

impl DataTerms {
    /// The terms of an agreement.
    ///
    /// # Errors
    /// When it carries none.
    pub fn of(data: &serde_json::Value) -> Result<Self, Failure> {
        serde_json::from_value(data.clone()).map_err(|error| {
            Failure::usage(
                "sprifed::study::data-terms",
                format!("the study does not say how records are read: {error}"),
                "use a study that `sprifed study init` wrote; nothing was spent",
            )
        })
    }

    /// The schema by which a party reads its table: the response and the features of the study, and no other column.
    ///
    /// # Guarantee
    /// Which records count does not depend on other records. A client column with a limit would make it so.
    ///
    /// # Errors
    /// When it is none, or it names a client column.
    pub fn schema(&self) -> Result<Schema, Failure> {
        let schema = Schema::parse(&self.schema).map_err(DataError::from)?;
        refuse_client_column(&schema)?;
        Ok(schema.only(self.features.iter().map(String::as_str)))
    }

    /// All columns that a study with these terms reads: the response and the features.
    ///
    /// # Errors
    /// When the schema is none.
    pub fn columns(&self) -> Result<Vec<String>, Failure> {
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
    pub fn mapping(&self, schema: &Schema) -> Result<Mapping, Failure> {
        let names = self.features.iter().map(String::as_str);
        Mapping::for_features(schema, names).ok_or_else(|| {
            Failure::usage(
                "sprifed::study::unbounded-feature",
                "a feature of the study has no bounds in its schema".to_owned(),
                "give default bounds under [features], or bounds for each; nothing was spent",
            )
        })
    }
}

#[cfg(test)]
mod tests;
