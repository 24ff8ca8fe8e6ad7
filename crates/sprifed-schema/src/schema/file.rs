//! The schema as it is written: every key of the TOML file, before it is checked.
//!
//! Unknown keys are refused. A misspelt `uper` that silently fell back to a default bound would
//! change the guarantee without notice.

use std::collections::BTreeMap;

use serde::Deserialize;

use sprifed_privacy::PrivacyUnit;

use super::{MissingPolicy, MissingResponsePolicy, Transform};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SchemaFile {
    pub(super) response: ResponseTable,
    #[serde(default)]
    pub(super) features: FeaturesTable,
    #[serde(default)]
    pub(super) feature: BTreeMap<String, FeatureTable>,
    #[serde(default)]
    pub(super) record: RecordPolicy,
    pub(super) sites: Option<SitesTable>,
}

/// `[sites]`: the column of one table that says which site a record is of, where each has an intercept of its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SitesTable {
    pub(super) column: String,
    /// How many records each site has, by the name that the column has for it.
    pub(super) records: BTreeMap<String, u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResponseTable {
    pub(super) name: String,
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    pub(super) center: Option<f64>,
    pub(super) scale: Option<f64>,
    #[serde(default)]
    pub(super) transform: Transform,
    #[serde(default)]
    pub(super) outcome: OutcomeKey,
    pub(super) levels: Option<Vec<Level>>,
    pub(super) event: Option<String>,
    pub(super) horizon: Option<f64>,
}

/// What the response is, as a schema spells it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OutcomeKey {
    /// A number within bounds.
    #[default]
    Linear,
    /// One of two levels.
    Binary,
    /// A time, and whether the event occurred then.
    Survival,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeaturesTable {
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    pub(super) center: Option<f64>,
    pub(super) scale: Option<f64>,
    pub(super) transform: Option<Transform>,
    pub(super) bounds: Option<String>,
    pub(super) include: Option<Vec<String>>,
    #[serde(default)]
    pub(super) exclude: Vec<String>,
    #[serde(default)]
    pub(super) always: Vec<String>,
    pub(super) every: Option<u32>,
    #[serde(default)]
    pub(super) regions: Vec<String>,
}

/// `[feature.NAME]`: how one column is read, or the columns that fit a pattern.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeatureTable {
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    pub(super) center: Option<f64>,
    pub(super) scale: Option<f64>,
    pub(super) transform: Option<Transform>,
    pub(super) levels: Option<Vec<Level>>,
    pub(super) reference: Option<Level>,
    pub(super) other: Option<bool>,
    pub(super) together: Option<bool>,
    pub(super) missing: Option<MissingPolicy>,
    pub(super) missing_value: Option<f64>,
}

/// A level as TOML spells it: text, a truth value or a whole number.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Level {
    Text(String),
    Truth(bool),
    Number(i64),
}

impl Level {
    /// The level as a table spells it.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Truth(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// The public bounds of one column, with a centre and a scale where they are not the default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublicBounds {
    /// The smallest value that is not clipped.
    pub lower: f64,
    /// The largest value that is not clipped.
    pub upper: f64,
    /// The value that becomes zero; the middle of the bounds by default.
    pub center: Option<f64>,
    /// How far a value moves when its unit moves by one; half the distance of the bounds by default.
    pub scale: Option<f64>,
    /// The change of scale made before bounding; centre and scale belong to the scale after it.
    pub transform: Transform,
}

/// What is public of the response.
#[derive(Debug, Clone, PartialEq)]
pub enum PublicResponse {
    /// It is a number within bounds.
    Number(PublicBounds),
    /// It is one of two levels; the second is the event.
    Levels([String; 2]),
}

impl PublicResponse {
    /// The table of a response of this name.
    pub(super) fn named(self, name: &str) -> ResponseTable {
        let name = name.to_owned();
        match self {
            Self::Number(bounds) => ResponseTable {
                name,
                lower: Some(bounds.lower),
                upper: Some(bounds.upper),
                center: bounds.center,
                scale: bounds.scale,
                transform: bounds.transform,
                outcome: OutcomeKey::Linear,
                levels: None,
                event: None,
                horizon: None,
            },
            Self::Levels(levels) => ResponseTable {
                name,
                lower: None,
                upper: None,
                center: None,
                scale: None,
                transform: Transform::Identity,
                outcome: OutcomeKey::Binary,
                levels: Some(levels.map(Level::Text).to_vec()),
                event: None,
                horizon: None,
            },
        }
    }
}

impl From<PublicBounds> for FeatureTable {
    fn from(bounds: PublicBounds) -> Self {
        Self {
            lower: Some(bounds.lower),
            upper: Some(bounds.upper),
            center: bounds.center,
            scale: bounds.scale,
            transform: Some(bounds.transform),
            ..Self::default()
        }
    }
}

/// Whose a record is, how many of them count, and what happens to gaps.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordPolicy {
    /// The column that says whose record it is.
    pub client: Option<String>,
    /// How many records of one client are used at most; one by default.
    pub max_per_client: Option<u32>,
    /// Whose presence the guarantee hides.
    #[serde(default)]
    pub unit: PrivacyUnit,
    /// What happens when a feature is missing.
    #[serde(default)]
    pub missing: MissingPolicy,
    /// What happens when the response is missing.
    #[serde(default)]
    pub missing_response: MissingResponsePolicy,
    /// Whether each party of a study has an intercept of its own.
    #[serde(default, alias = "site-effects")]
    pub site_effects: bool,
}
