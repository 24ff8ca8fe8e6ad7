//! The schema as it is written: every key of the TOML file, before it is checked.
//!
//! Unknown keys are refused. A misspelt `uper` that silently fell back to a default bound would
//! change the guarantee without anybody noticing.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{MissingPolicy, MissingResponsePolicy, PrivacyUnit, Transform};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SchemaFile {
    pub(super) response: ResponseTable,
    #[serde(default)]
    pub(super) features: FeaturesTable,
    #[serde(default)]
    pub(super) feature: BTreeMap<String, BoundsTable>,
    #[serde(default)]
    pub(super) record: RecordTable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponseTable {
    pub(super) name: String,
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) center: Option<f64>,
    pub(super) scale: Option<f64>,
    #[serde(default)]
    pub(super) transform: Transform,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeaturesTable {
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    pub(super) center: Option<f64>,
    pub(super) scale: Option<f64>,
    pub(super) include: Option<Vec<String>>,
    #[serde(default)]
    pub(super) exclude: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoundsTable {
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) center: Option<f64>,
    pub(super) scale: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordTable {
    pub(super) client: Option<String>,
    pub(super) max_per_client: Option<u32>,
    #[serde(default)]
    pub(super) unit: PrivacyUnit,
    #[serde(default)]
    pub(super) missing: MissingPolicy,
    #[serde(default)]
    pub(super) missing_response: MissingResponsePolicy,
}
