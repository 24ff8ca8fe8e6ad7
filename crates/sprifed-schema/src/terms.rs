//! How the parties of a study read their records: the schema and the candidate features, as an agreement carries them.
//!
//! The text of the schema is kept as the coordinator wrote it, comments included, because the parties sign it. It is
//! parsed and checked once, when an agreement is made or read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::SchemaError;
use crate::mapping::Mapping;
use crate::marker::Marker;
use crate::schema::{Schema, SchemaText};

/// The terms on which parties read their tables.
///
/// ```
/// use sprifed_schema::DataTerms;
///
/// let schema = "[response]\nname = \"y\"\nlower = 0\nupper = 10\n[features]\nlower = -1\nupper = 1\n";
/// let terms = DataTerms::new(schema.to_owned(), vec!["x1".to_owned(), "x2".to_owned()])?;
/// assert_eq!(terms.columns(), ["y", "x1", "x2"]);
/// # Ok::<(), sprifed_schema::TermsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenTerms", into = "WrittenTerms")]
pub struct DataTerms {
    written: WrittenTerms,
    schema: Schema,
    mapping: Mapping,
}

/// The terms as they stand in an agreement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTerms {
    schema: String,
    /// The file that `features.bounds` of the schema names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<String>,
    /// The columns that are features.
    features: Vec<String>,
    /// Those that are always in the model, beside the ones that the schema names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    always: Vec<String>,
    /// Where those of them that are genetic markers lie, and which allele each table must count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    markers: BTreeMap<String, Marker>,
}

/// Terms on which no party can read its table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// The schema is none.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The schema names a client column.
    #[error(
        "the schema names the client column `{column}`, but in a study between parties each party is one client"
    )]
    ClientColumn {
        /// Which column.
        column: String,
    },
    /// The schema names a column of sites.
    #[error(
        "the schema names the column of sites `{column}`, but in a study between parties each party is one site; remove \
         [sites] and set site_effects = true under [record]"
    )]
    SiteColumn {
        /// Which column.
        column: String,
    },
    /// A column that is always in the model is no feature.
    #[error("`{column}` is to be always in the model, but it is none of the features of the study")]
    AlwaysNotFeature {
        /// Which column.
        column: String,
    },
    /// A genetic marker is no feature.
    #[error(
        "`{column}` is described as a genetic marker, but it is none of the features of the study"
    )]
    MarkerNotFeature {
        /// Which column.
        column: String,
    },
    /// A feature without bounds.
    #[error("a feature of the study has no bounds in its schema")]
    UnboundedFeature,
}

impl DataTerms {
    /// The terms with this schema, as text, and these columns as features, in order.
    ///
    /// # Errors
    /// When the text is no schema, a feature has no bounds, or the schema names a client column: between parties each
    /// party is one client, or each record is a unit of its own.
    pub fn new(schema: impl Into<SchemaText>, features: Vec<String>) -> Result<Self, TermsError> {
        Self::with_always(schema, features, Vec::new())
    }

    /// The same with columns that are always in the model, beside those that the schema names.
    ///
    /// # Errors
    /// Those of [`Self::new`], and when such a column is none of the features.
    pub fn with_always(
        schema: impl Into<SchemaText>,
        features: Vec<String>,
        always: Vec<String>,
    ) -> Result<Self, TermsError> {
        let SchemaText { schema, bounds } = schema.into();
        let written = WrittenTerms {
            schema,
            bounds,
            features,
            always,
            markers: BTreeMap::new(),
        };
        written.try_into()
    }

    /// The same, where these features are genetic markers: a table that counts another allele does not fit.
    ///
    /// # Why
    /// Sites that count different alleles of one marker would add effects of opposite signs.
    ///
    /// # Errors
    /// When one of them is none of the features.
    pub fn with_markers(self, markers: BTreeMap<String, Marker>) -> Result<Self, TermsError> {
        let written = WrittenTerms {
            markers,
            ..self.written
        };
        written.try_into()
    }

    /// What is publicly known of the feature of this name, if it is a genetic marker.
    #[must_use]
    pub fn marker(&self, name: &str) -> Option<&Marker> {
        self.written.markers.get(name)
    }

    /// The text of the schema, as it was written.
    #[must_use]
    pub fn schema_text(&self) -> &str {
        &self.written.schema
    }

    /// The text of the bounds file that the schema names, if it names one.
    #[must_use]
    pub fn bounds_text(&self) -> Option<&str> {
        self.written.bounds.as_deref()
    }

    /// The features, those that are always in the model first: the names of their columns, or of a column and its level.
    #[must_use]
    pub fn features(&self) -> &[String] {
        self.mapping.names()
    }

    /// The schema by which a party reads its table: the response and the features of the study, and no other column.
    ///
    /// # Guarantee
    /// Which records count does not depend on other records. A client column with a limit would make it so.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The units of every feature and of the response.
    #[must_use]
    pub const fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// All columns that a study with these terms reads: the response and the features.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        let response = self.schema.response().name();
        let mut known = BTreeSet::new();
        let columns = [response]
            .into_iter()
            .chain(self.written.features.iter().map(String::as_str));
        columns
            .filter(|name| known.insert(*name))
            .map(str::to_owned)
            .collect()
    }
}

impl TryFrom<WrittenTerms> for DataTerms {
    type Error = TermsError;

    fn try_from(written: WrittenTerms) -> Result<Self, TermsError> {
        let text = SchemaText {
            schema: written.schema.clone(),
            bounds: written.bounds.clone(),
        };
        let schema = Schema::of_text(&text)?.with_always(&written.always)?;
        if let Some(column) = schema.client() {
            let column = column.to_owned();
            return Err(TermsError::ClientColumn { column });
        }
        if let Some(sites) = schema.sites() {
            let column = sites.name().to_owned();
            return Err(TermsError::SiteColumn { column });
        }
        let features = || written.features.iter().map(String::as_str);
        let always = schema.always().names();
        if let Some(column) = always
            .into_iter()
            .find(|name| features().all(|feature| feature != *name))
        {
            let column = column.to_owned();
            return Err(TermsError::AlwaysNotFeature { column });
        }
        // Every party derives the same order: those that are always in the model first, as a procedure expects them.
        let mut ordered: Vec<&str> = features().collect();
        ordered.sort_by_key(|name| !schema.is_always(name));
        let mapping =
            Mapping::for_features(&schema, ordered).ok_or(TermsError::UnboundedFeature)?;
        let mut markers = written.markers.keys();
        if let Some(column) = markers.find(|name| features().all(|feature| feature != *name)) {
            let column = column.clone();
            return Err(TermsError::MarkerNotFeature { column });
        }
        let schema = schema
            .only(features())
            .with_markers(written.markers.clone());
        Ok(Self {
            written,
            schema,
            mapping,
        })
    }
}

impl From<DataTerms> for WrittenTerms {
    fn from(terms: DataTerms) -> Self {
        terms.written
    }
}

#[cfg(test)]
mod tests;
