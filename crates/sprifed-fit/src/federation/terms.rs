//! How parties read their records: the schema and the columns, as the agreement carries them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sprifed_data::{DataError, Mapping, Schema};

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

    /// The schema, parsed.
    ///
    /// # Errors
    /// When it is none.
    pub fn schema(&self) -> Result<Schema, Failure> {
        Ok(Schema::parse(&self.schema).map_err(DataError::from)?)
    }

    /// All columns that a study with these terms reads: the response, the features, and every other column that
    /// the schema names.
    ///
    /// # Errors
    /// When the schema is none.
    pub fn columns(&self) -> Result<Vec<String>, Failure> {
        let schema = self.schema()?;
        let mut columns = vec![schema.response().name().to_owned()];
        let mut known: BTreeSet<&str> = BTreeSet::from([schema.response().name()]);
        let others = self.features.iter().map(String::as_str);
        for name in others.chain(schema.named_features()).chain(schema.client()) {
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
