//! The public schema: which columns a study uses, and the bounds every record is held to.
//!
//! A schema is written before any record is touched and is the same for every client. It exists
//! because bounds cannot be read off the data: the largest value of a column is the value of one
//! record. Deliberately absent: anything estimated from records, such as means or quantiles.

mod bounds_file;
mod file;
mod policy;
mod resolve;
mod response;
mod sites;

use serde::{Deserialize, Serialize};
use sprifed_privacy::PrivacyUnit;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use self::bounds_file::BoundsFile;
use self::file::{FeaturesTable, SchemaFile};
pub use self::file::{PublicBounds, PublicResponse, RecordPolicy};
pub use self::policy::{MissingPolicy, MissingResponsePolicy, Transform};
use self::resolve::Codings;
pub use self::response::{BinaryLevels, EventTime, Response};
pub use self::sites::SiteColumn;
use crate::coding::Coding;
use crate::error::SchemaError;
use crate::marker::Marker;
use crate::pattern::{Pattern, Patterns};
use crate::region::Region;
use crate::toml_text::{parse_toml, placeholders};
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
    codings: Codings,
    /// The features that have a table of their own.
    named: BTreeSet<String>,
    /// Where each column that the bounds file names stands in it.
    bounds_lines: BTreeMap<String, u64>,
    include: Option<Patterns>,
    exclude: Patterns,
    always: Patterns,
    every: NonZeroU32,
    regions: Vec<Region>,
    /// What is agreed of genetic markers, by the name of their column.
    markers: BTreeMap<String, Marker>,
    client: Option<String>,
    max_per_client: NonZeroU32,
    unit: PrivacyUnit,
    missing: MissingPolicy,
    missing_response: MissingResponsePolicy,
    site_effects: bool,
    sites: Option<SiteColumn>,
}

/// A schema as it is written: its text, and that of the bounds file which it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaText {
    /// The schema, in TOML.
    pub schema: String,
    /// The file that `features.bounds` names, in CSV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<String>,
}

impl SchemaText {
    /// The name of the bounds file in the schema `text`, if it has one.
    ///
    /// # Errors
    /// If the text is no schema, or the name is a path.
    pub fn bounds_name(text: &str) -> Result<Option<String>, SchemaError> {
        let name = read(text)?.features.bounds;
        name.map(require_plain_name).transpose()
    }
}

impl From<String> for SchemaText {
    fn from(schema: String) -> Self {
        Self {
            schema,
            bounds: None,
        }
    }
}

impl Schema {
    /// The schema written in `text`.
    ///
    /// # Errors
    /// If the text is not TOML, has an unknown key, or a value that no schema may have; the message
    /// names the key, what was found and what is required. Also if it names a bounds file: that needs
    /// [`Self::of_text`].
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        Self::check(read(text)?, None)
    }

    /// The schema written in `text`, with its bounds file.
    ///
    /// # Errors
    /// Those of [`Self::parse`], and if the bounds file is no table of bounds.
    pub fn of_text(text: &SchemaText) -> Result<Self, SchemaError> {
        Self::check(read(&text.schema)?, text.bounds.as_deref())
    }

    /// A schema made of numbers instead of text, for tables that are in memory: the response, bounds
    /// of features without bounds of their own, and those of single features by name.
    ///
    /// # Errors
    /// The same as those of [`Self::parse`].
    pub fn of_bounds(
        response: (&str, PublicResponse),
        features: Option<PublicBounds>,
        named: BTreeMap<String, PublicBounds>,
        record: RecordPolicy,
    ) -> Result<Self, SchemaError> {
        let (name, response) = response;
        let features = features.map_or_else(FeaturesTable::default, |bounds| FeaturesTable {
            lower: Some(bounds.lower),
            upper: Some(bounds.upper),
            center: bounds.center,
            scale: bounds.scale,
            transform: Some(bounds.transform),
            ..FeaturesTable::default()
        });
        let feature = named
            .into_iter()
            .map(|(name, bounds)| (name, bounds.into()));
        let file = SchemaFile {
            response: response.named(name),
            features,
            feature: feature.collect(),
            record,
            sites: None,
        };
        Self::check(file, None)
    }

    fn check(file: SchemaFile, bounds: Option<&str>) -> Result<Self, SchemaError> {
        let response = Response::new(file.response)?;
        let bounds = check_bounds(file.features.bounds.as_deref(), bounds)?;
        let codings = Codings::resolve(
            &file.features,
            &file.feature,
            &bounds.tables,
            file.record.missing,
        )?;
        let include = file
            .features
            .include
            .map(|texts| patterns("include", texts))
            .transpose()?;
        let exclude = patterns("exclude", file.features.exclude)?;
        let always = patterns("always", file.features.always)?;
        let every =
            NonZeroU32::new(file.features.every.unwrap_or(1)).ok_or(SchemaError::ZeroEvery)?;
        let regions = file.features.regions.iter();
        let regions = regions.map(|found| {
            Region::parse(found).map_err(|required| SchemaError::Region {
                found: found.clone(),
                required,
            })
        });
        let regions = regions.collect::<Result<_, _>>()?;
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
        let is_plain = |name: &String| !name.contains('*');
        let schema = Self {
            response,
            codings,
            named: file.feature.into_keys().filter(is_plain).collect(),
            bounds_lines: bounds.lines,
            include,
            exclude,
            always,
            every,
            regions,
            markers: BTreeMap::new(),
            client,
            max_per_client,
            unit: file.record.unit,
            missing: file.record.missing,
            missing_response: file.record.missing_response,
            site_effects: file.record.site_effects,
            sites: file.sites.map(SiteColumn::new).transpose()?,
        };
        schema.check_roles()?;
        Ok(schema)
    }

    /// A pattern with a star may cover the response or the client column, which are then left out;
    /// a plain name that asks for it is a contradiction.
    fn check_roles(&self) -> Result<(), SchemaError> {
        let listed = || {
            self.include
                .iter()
                .chain([&self.always])
                .flat_map(Patterns::names)
        };
        let is_named_feature =
            |name: &str| self.named.contains(name) || listed().any(|listed| listed == name);
        let two_roles = |column: &str, first, second| {
            Err(SchemaError::TwoRoles {
                column: column.to_owned(),
                first,
                second,
            })
        };
        let response = self.response.name();
        if is_named_feature(response) {
            return two_roles(response, "the response", "a feature");
        }
        let event = self.response.event_time().map(EventTime::column);
        if let Some(event) = event {
            if is_named_feature(event) {
                return two_roles(event, "the event", "a feature");
            }
            if self.client.as_deref() == Some(event) {
                return two_roles(event, "the event", "the client column");
            }
            if self.sites.as_ref().map(SiteColumn::name) == Some(event) {
                return two_roles(event, "the event", "the column of sites");
            }
        }
        if let Some(client) = self.client.as_deref() {
            if client == response {
                return two_roles(response, "the response", "the client column");
            }
            if is_named_feature(client) {
                return two_roles(client, "the client column", "a feature");
            }
        }
        if let Some(sites) = self.sites.as_ref().map(SiteColumn::name) {
            if sites == response {
                return two_roles(response, "the response", "the column of sites");
            }
            if self.client.as_deref() == Some(sites) {
                return two_roles(sites, "the client column", "the column of sites");
            }
            if is_named_feature(sites) {
                return two_roles(sites, "the column of sites", "a feature");
            }
        }
        let sites = self.sites.as_ref().map(SiteColumn::name);
        let roles = [
            (Some(response), "the response"),
            (event, "the event"),
            (self.client.as_deref(), "the client column"),
            (sites, "the column of sites"),
        ];
        for (column, role) in roles {
            let Some(column) = column else { continue };
            if let Some(line) = self.bounds_lines.get(column) {
                return Err(SchemaError::BoundsFile {
                    line: *line,
                    problem: format!("it bounds `{column}`, which is {role} and no feature"),
                });
            }
        }
        if let Some(name) = self.named.iter().find(|name| self.excludes(name)) {
            return two_roles(name, "bounded as a feature", "excluded from the features");
        }
        match self.always.names().find(|name| self.excludes(name)) {
            Some(name) => two_roles(name, "always in the model", "excluded from the features"),
            None => Ok(()),
        }
    }

    /// Refuses a target that is not the response bounded here.
    ///
    /// # Errors
    /// If `target` is another column.
    pub fn require_target(&self, target: &str) -> Result<(), SchemaError> {
        if target == self.response.name() {
            return Ok(());
        }
        Err(SchemaError::OtherTarget {
            target: target.to_owned(),
            response: self.response.name().to_owned(),
        })
    }

    /// The same schema for a table where only the columns `names` are features: no other column is
    /// read or can have a table refused.
    #[must_use]
    pub fn only<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        self.named.retain(|name| names.contains(name.as_str()));
        self.bounds_lines
            .retain(|name, _| names.contains(name.as_str()));
        let always = names.iter().filter(|name| self.always.matches(name));
        self.always = Patterns::of_names(always.copied());
        self.include = Some(Patterns::of_names(names));
        self.exclude = Patterns::default();
        self.every = NonZeroU32::MIN;
        self.regions = Vec::new();
        self
    }

    /// The same schema, with one column in `every` of those that are features only by pattern or by default.
    #[must_use]
    pub const fn thinned(mut self, every: NonZeroU32) -> Self {
        self.every = every;
        self
    }

    /// The same schema, where genetic markers that are features only by pattern or by default lie in one of `regions`.
    #[must_use]
    pub fn within(mut self, regions: Vec<Region>) -> Self {
        self.regions = regions;
        self
    }

    /// The same schema for tables whose genetic markers of these names count these alleles.
    #[must_use]
    pub(crate) fn with_markers(mut self, markers: BTreeMap<String, Marker>) -> Self {
        self.markers = markers;
        self
    }

    /// The same schema, with the columns that `names` list or describe always in the model too.
    ///
    /// # Errors
    /// If one of them is empty, or a column that cannot be a feature.
    pub fn with_always(mut self, names: &[String]) -> Result<Self, SchemaError> {
        self.always.extend(patterns("always", names.to_vec())?);
        self.check_roles()?;
        Ok(self)
    }

    /// The column to be explained.
    pub const fn response(&self) -> &Response {
        &self.response
    }

    /// How the feature `name` is read; none if the schema gives it neither bounds nor levels.
    pub fn coding_of(&self, name: &str) -> Option<&Coding> {
        match &self.sites {
            Some(sites) if sites.name() == name => Some(sites.coding()),
            _ => self.codings.of(name),
        }
    }

    /// The column of one table that says which site a record is of, where each has an intercept of its own.
    pub const fn sites(&self) -> Option<&SiteColumn> {
        self.sites.as_ref()
    }

    /// The units of the feature `name`, if the schema bounds it as a number.
    pub fn units_of(&self, name: &str) -> Option<&Units> {
        match self.coding_of(name)? {
            Coding::Number(number) => Some(number.units()),
            Coding::Levels(_) => None,
        }
    }

    /// Whether features without a table of their own have bounds.
    pub const fn has_default_bounds(&self) -> bool {
        self.codings.has_default()
    }

    /// Whether the feature `name` has a table, or a line of the bounds file, of its own.
    pub fn bounds_feature(&self, name: &str) -> bool {
        self.codings.named.contains_key(name)
    }

    /// Whether the feature `name` has a table of its own.
    pub fn names_feature(&self, name: &str) -> bool {
        self.named.contains(name)
    }

    /// The features that have a table of their own, in the order of their names.
    pub fn named_features(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(String::as_str)
    }

    /// The columns that the bounds file names, each with its line.
    pub(crate) fn bounds_lines(&self) -> impl Iterator<Item = (&str, u64)> {
        self.bounds_lines
            .iter()
            .map(|(name, line)| (name.as_str(), *line))
    }

    /// The patterns that have a table.
    pub(crate) fn feature_patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.codings.patterns()
    }

    /// The columns that are always in the model.
    pub(crate) const fn always(&self) -> &Patterns {
        &self.always
    }

    /// How many features the columns are that are always in the model, as far as they are named and not only matched.
    #[must_use]
    pub fn n_always(&self) -> usize {
        let named = self.always.names();
        let codings = named.filter_map(|name| self.coding_of(name));
        codings.map(Coding::width).sum()
    }

    /// Whether the column `name` is always in the model.
    pub fn is_always(&self, name: &str) -> bool {
        self.always.matches(name)
    }

    /// One of how many columns is kept, of those that are features only by pattern or by default.
    pub const fn every(&self) -> NonZeroU32 {
        self.every
    }

    /// What a column of this name must count, if it is agreed.
    pub(crate) fn marker(&self, name: &str) -> Option<&Marker> {
        self.markers.get(name)
    }

    /// Where genetic markers must lie, if the schema says it.
    pub(crate) fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Whether each party of a study has an intercept of its own.
    pub const fn has_site_effects(&self) -> bool {
        self.site_effects
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

/// The tables of the schema `text`.
fn read(text: &str) -> Result<SchemaFile, SchemaError> {
    let unfilled = placeholders(text);
    if let Some((line, others)) = unfilled.split_first() {
        return Err(SchemaError::Placeholder {
            place: "the schema,".to_owned(),
            line: *line,
            others: others.to_vec(),
        });
    }
    parse_toml(text).map_err(|problem| SchemaError::Syntax { problem })
}

fn check_bounds(name: Option<&str>, text: Option<&str>) -> Result<BoundsFile, SchemaError> {
    let name = name
        .map(str::to_owned)
        .map(require_plain_name)
        .transpose()?;
    match (name, text) {
        (None, None) => Ok(BoundsFile::default()),
        (Some(_), Some(text)) => bounds_file::parse(text),
        (Some(name), None) => Err(SchemaError::BoundsNotGiven { name }),
        (None, Some(_)) => Err(SchemaError::BoundsNotNamed),
    }
}

/// Requires a file beside the schema: `study init` publishes what it holds.
fn require_plain_name(name: String) -> Result<String, SchemaError> {
    let is_path = name.contains(['/', '\\', ':']) || matches!(name.as_str(), "" | "." | "..");
    match is_path {
        true => Err(SchemaError::BoundsElsewhere { name }),
        false => Ok(name),
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
