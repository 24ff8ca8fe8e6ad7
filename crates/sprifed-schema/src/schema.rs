//! The public schema: which columns a study uses, and the bounds every record is held to.
//!
//! A schema is written before any record is touched and is the same for every client. It exists
//! because bounds cannot be read off the data: the largest value of a column is the value of one
//! record. Deliberately absent: anything estimated from records, such as means or quantiles.

mod file;
mod policy;

use sprifed_privacy::PrivacyUnit;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use self::file::{FeaturesTable, ResponseTable, SchemaFile};
pub use self::file::{PublicBounds, RecordPolicy};
pub use self::policy::{MissingPolicy, MissingResponsePolicy, Transform};
use crate::error::SchemaError;
use crate::pattern::{Pattern, Patterns};
use crate::toml_text::parse_toml;
use crate::units::Units;

/// A checked schema.
///
/// ```
/// use sprifed_schema::Schema;
///
/// let schema = Schema::parse(
///     r#"
///     [response]
///     name = "y"
///     lower = 0
///     upper = 10
///
///     [features]
///     lower = -1
///     upper = 1
///     "#,
/// )?;
/// assert_eq!(schema.response().name(), "y");
/// # Ok::<(), sprifed_schema::SchemaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    response: Response,
    default_units: Option<Units>,
    named_units: BTreeMap<String, Units>,
    include: Option<Patterns>,
    exclude: Patterns,
    client: Option<String>,
    max_per_client: NonZeroU32,
    unit: PrivacyUnit,
    missing: MissingPolicy,
    missing_response: MissingResponsePolicy,
}

/// The column to be explained, its transform and its units.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    name: String,
    units: Units,
    transform: Transform,
}

impl Response {
    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The units of the response, on the scale after the transform.
    pub const fn units(&self) -> &Units {
        &self.units
    }

    /// The change of scale made before bounding.
    pub const fn transform(&self) -> Transform {
        self.transform
    }
}

impl Schema {
    /// The schema written in `text`.
    ///
    /// # Errors
    /// If the text is not TOML, has an unknown key, or a value that no schema may have; the message
    /// names the key, what was found and what is required.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let file = parse_toml(text).map_err(|problem| SchemaError::Syntax { problem })?;
        Self::check(file)
    }

    /// A schema made of numbers instead of text, for tables that are in memory: the response, bounds
    /// of features without bounds of their own, and those of single features by name.
    ///
    /// # Errors
    /// The same as those of [`Self::parse`].
    pub fn of_bounds(
        response: (&str, PublicBounds, Transform),
        features: Option<PublicBounds>,
        named: BTreeMap<String, PublicBounds>,
        record: RecordPolicy,
    ) -> Result<Self, SchemaError> {
        let (name, bounds, transform) = response;
        let features = features.map_or_else(FeaturesTable::default, |bounds| FeaturesTable {
            lower: Some(bounds.lower),
            upper: Some(bounds.upper),
            center: bounds.center,
            scale: bounds.scale,
            ..FeaturesTable::default()
        });
        Self::check(SchemaFile {
            response: ResponseTable {
                name: name.to_owned(),
                lower: bounds.lower,
                upper: bounds.upper,
                center: bounds.center,
                scale: bounds.scale,
                transform,
            },
            features,
            feature: named,
            record,
        })
    }

    fn check(file: SchemaFile) -> Result<Self, SchemaError> {
        let response = check_response(file.response)?;
        let default_units = default_units(&file.features)?;
        let mut named_units = BTreeMap::new();
        for (name, bounds) in file.feature {
            let table = format!("feature.{name}");
            let units = Units::new(
                &table,
                bounds.lower,
                bounds.upper,
                bounds.center,
                bounds.scale,
            )?;
            named_units.insert(name, units);
        }
        let include = file
            .features
            .include
            .map(|texts| patterns("include", texts))
            .transpose()?;
        let exclude = patterns("exclude", file.features.exclude)?;
        let client = file.record.client;
        if client.as_ref().is_some_and(String::is_empty) {
            return Err(SchemaError::EmptyName {
                key: "record.client".into(),
            });
        }
        let cap = file.record.max_per_client.unwrap_or(1);
        let max_per_client = NonZeroU32::new(cap).ok_or(SchemaError::ZeroCap)?;
        if client.is_none() && cap > 1 {
            return Err(SchemaError::NeedsClientColumn {
                key: "max_per_client",
                found: cap.to_string(),
            });
        }
        let schema = Self {
            response,
            default_units,
            named_units,
            include,
            exclude,
            client,
            max_per_client,
            unit: file.record.unit,
            missing: file.record.missing,
            missing_response: file.record.missing_response,
        };
        schema.check_roles()?;
        Ok(schema)
    }

    /// A pattern with a star may cover the response or the client column, which are then left out;
    /// a plain name that asks for it is a contradiction.
    fn check_roles(&self) -> Result<(), SchemaError> {
        let is_named_feature = |name: &str| {
            self.named_units.contains_key(name)
                || self
                    .include
                    .iter()
                    .flat_map(Patterns::names)
                    .any(|listed| listed == name)
        };
        let two_roles = |column: &str, first, second| {
            Err(SchemaError::TwoRoles {
                column: column.to_owned(),
                first,
                second,
            })
        };
        let response = self.response.name.as_str();
        if is_named_feature(response) {
            return two_roles(response, "the response", "a feature");
        }
        if let Some(client) = self.client.as_deref() {
            if client == response {
                return two_roles(response, "the response", "the client column");
            }
            if is_named_feature(client) {
                return two_roles(client, "the client column", "a feature");
            }
        }
        match self.named_units.keys().find(|name| self.excludes(name)) {
            Some(name) => two_roles(name, "bounded as a feature", "excluded from the features"),
            None => Ok(()),
        }
    }

    /// Refuses a target that is not the response bounded here.
    ///
    /// # Errors
    /// If `target` is another column.
    pub fn require_target(&self, target: &str) -> Result<(), SchemaError> {
        if target == self.response.name {
            return Ok(());
        }
        Err(SchemaError::OtherTarget {
            target: target.to_owned(),
            response: self.response.name.clone(),
        })
    }

    /// The same schema for a table where only the columns `names` are features: no other column is
    /// read or can have a table refused.
    #[must_use]
    pub fn only<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        self.named_units
            .retain(|name, _| names.contains(name.as_str()));
        self.include = Some(Patterns::of_names(names));
        self.exclude = Patterns::default();
        self
    }

    /// The column to be explained.
    pub const fn response(&self) -> &Response {
        &self.response
    }

    /// The units of the feature `name`, if the schema bounds it.
    pub fn units_of(&self, name: &str) -> Option<&Units> {
        self.named_units.get(name).or(self.default_units.as_ref())
    }

    /// Whether features without a table of their own have bounds.
    pub const fn has_default_bounds(&self) -> bool {
        self.default_units.is_some()
    }

    /// Whether the feature `name` has a table of its own.
    pub fn names_feature(&self, name: &str) -> bool {
        self.named_units.contains_key(name)
    }

    /// The features that have a table of their own, in the order of their names.
    pub fn named_features(&self) -> impl Iterator<Item = &str> {
        self.named_units.keys().map(String::as_str)
    }

    /// The patterns a feature must fit, if the schema has any.
    pub(crate) fn include(&self) -> Option<&Patterns> {
        self.include.as_ref()
    }

    /// The patterns of columns that are left out.
    pub(crate) const fn exclude(&self) -> &Patterns {
        &self.exclude
    }

    /// Whether a pattern leaves the column `name` out.
    pub fn excludes(&self, name: &str) -> bool {
        self.exclude.matches(name)
    }

    /// The column that says whose record it is; without it every record is its own client.
    pub fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// How many records of one client are used at most.
    pub const fn max_per_client(&self) -> NonZeroU32 {
        self.max_per_client
    }

    /// Whose presence the guarantee hides.
    pub const fn unit(&self) -> PrivacyUnit {
        self.unit
    }

    /// What happens when a feature is missing.
    pub const fn missing(&self) -> MissingPolicy {
        self.missing
    }

    /// What happens when the response is missing.
    pub const fn missing_response(&self) -> MissingResponsePolicy {
        self.missing_response
    }
}

/// Bounds are stated in the units of the column; centre and scale, where given, belong to the scale
/// the model is fitted on.
fn check_response(table: ResponseTable) -> Result<Response, SchemaError> {
    if table.name.is_empty() {
        return Err(SchemaError::EmptyName {
            key: "response.name".into(),
        });
    }
    let transform = table.transform;
    // The bounds alone first, so that a message shows them as they were written.
    Units::new("response", table.lower, table.upper, None, None)?;
    if transform == Transform::Log1p && table.lower <= -1.0 {
        return Err(SchemaError::LogOfNegative { lower: table.lower });
    }
    let (lower, upper) = (transform.apply(table.lower), transform.apply(table.upper));
    let units = Units::new("response", lower, upper, table.center, table.scale)?;
    Ok(Response {
        name: table.name,
        units,
        transform,
    })
}

fn default_units(table: &FeaturesTable) -> Result<Option<Units>, SchemaError> {
    match (table.lower, table.upper) {
        (Some(lower), Some(upper)) => {
            Units::new("features", lower, upper, table.center, table.scale).map(Some)
        }
        (None, None) if table.center.is_none() && table.scale.is_none() => Ok(None),
        _ => Err(SchemaError::HalfAnInterval {
            table: "features".into(),
        }),
    }
}

fn patterns(key: &str, texts: Vec<String>) -> Result<Patterns, SchemaError> {
    if texts.iter().any(String::is_empty) {
        return Err(SchemaError::EmptyName {
            key: format!("features.{key}"),
        });
    }
    Ok(Patterns::new(texts.into_iter().map(Pattern::new)))
}

#[cfg(test)]
mod tests;
