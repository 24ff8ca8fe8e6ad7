//! What a schema means, and what it means for a table, as a report.

use std::collections::{BTreeSet, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::columns::{Column, Role, Selection, duplicate_names, role_of};
use crate::mapping::Mapping;
use crate::pattern::{Pattern, Patterns};
use sprifed_privacy::PrivacyUnit;

use crate::schema::EventTime;
use crate::schema::{MissingPolicy, MissingResponsePolicy, Schema, Transform};

/// What `schema check` found.
///
/// For the holder of the table only. Numbers of clipped or missing values are left
/// out on purpose: bounds tuned until nothing is clipped are bounds read off the data.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckReport {
    /// What the schema says on its own.
    pub schema: SchemaReport,
    /// How it fits the columns of a table, if one was given.
    pub columns: Option<ColumnReport>,
    /// What was read, if the table could be read whole.
    pub table: Option<TableReport>,
    /// The problems that prevent a fit; each says what to do.
    pub problems: Vec<String>,
}

/// What a schema says on its own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SchemaReport {
    /// The response.
    pub response: String,
    /// Its bounds, on the scale after the transform.
    pub response_bounds: [f64; 2],
    /// Its change of scale.
    pub transform: Transform,
    /// Its two levels, the first of which counts as zero and the second as one; absent where it is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_levels: Option<[String; 2]>,
    /// The column that says whether its time ended with the event; absent where it is no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_event: Option<String>,
    /// The public horizon of its times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_horizon: Option<f64>,
    /// How many features have a table of their own.
    pub n_named_features: usize,
    /// Whether features without a table of their own have bounds.
    pub has_default_bounds: bool,
    /// The client column.
    pub client: Option<String>,
    /// The cap on records per client.
    pub max_per_client: u32,
    /// Whose presence the guarantee hides.
    pub unit: PrivacyUnit,
    /// What happens when a feature is missing.
    pub missing: MissingPolicy,
    /// What happens when the response is missing.
    pub missing_response: MissingResponsePolicy,
}

/// How a schema fits the columns of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ColumnReport {
    /// Columns in the table.
    pub n_columns: usize,
    /// Whether the response is among them.
    pub has_response: bool,
    /// Features the study would use, each coded level counted; zero if the columns do not fit.
    pub n_features: usize,
    /// Columns that are always in the model.
    pub always: Vec<String>,
    /// Features under the default bounds.
    pub under_default_bounds: Vec<String>,
    /// Names in the schema that the table lacks, in alphabetical order.
    pub absent: Vec<String>,
    /// Columns that the schema does not use, those that `features.every` leaves out among them.
    pub left_out: Vec<String>,
    /// Names that occur more than once.
    pub duplicates: Vec<String>,
    /// Patterns of `features.exclude` that match nothing, often a slip of the pen.
    pub idle_excludes: Vec<String>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableReport {
    /// Records in the file.
    pub n_records: u64,
    /// Clients among them.
    pub n_clients: usize,
    /// Records beyond the cap of their client, which are not used.
    pub over_cap: u64,
    /// Records without a row in the table that is joined to this one.
    pub unmatched: u64,
    /// Rows of that table that belong to no record and are left out.
    pub extra_samples: u64,
    /// Whether some records have no response and are dropped.
    pub has_missing_response: bool,
    /// The sites of the schema, if it has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SiteReport>,
}

/// How many records a site has: as the schema states, which is public, and as the table has, which is for its holder only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SiteReport {
    /// The site.
    pub site: String,
    /// What the schema states.
    pub stated: u32,
    /// Records of the site in the table that are used.
    pub found: u64,
}

impl SiteReport {
    /// Whether the numbers differ by more than a fifth of the larger one.
    ///
    /// # Why
    /// The intervals of a fit hold where they differ a little, and miss where they differ grossly.
    #[must_use]
    pub fn is_far_off(&self) -> bool {
        let stated = u64::from(self.stated);
        5 * stated.abs_diff(self.found) > stated.max(self.found)
    }
}

impl core::fmt::Display for SiteReport {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            site,
            stated,
            found,
        } = self;
        write!(
            formatter,
            "site `{site}`: {stated} records stated, {found} in the table"
        )
    }
}

impl CheckReport {
    /// Whether no problem prevents a fit.
    pub fn is_usable(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Reports what `schema` says on its own.
pub fn check_schema(schema: &Schema) -> CheckReport {
    let response = schema.response();
    CheckReport {
        schema: SchemaReport {
            response: response.name().to_owned(),
            response_bounds: [response.units().lower(), response.units().upper()],
            transform: response.transform(),
            response_levels: response
                .levels()
                .and_then(|levels| levels.names().to_vec().try_into().ok()),
            response_event: response.event_time().map(|event| event.column().to_owned()),
            response_horizon: response.event_time().map(EventTime::horizon),
            n_named_features: schema.named_features().count(),
            has_default_bounds: schema.has_default_bounds(),
            client: schema.client().map(str::to_owned),
            max_per_client: schema.max_per_client().get(),
            unit: schema.unit(),
            missing: schema.missing(),
            missing_response: schema.missing_response(),
        },
        columns: None,
        table: None,
        problems: Vec::new(),
    }
}

/// Reports what `schema` says and how it fits `columns`.
pub fn check_columns(schema: &Schema, columns: &[Column]) -> CheckReport {
    let mut report = check_schema(schema);
    let selection = Selection::choose(columns, schema);
    let used: Vec<&str> = selection
        .iter()
        .flat_map(|chosen| &chosen.features)
        .map(|&at| columns[at].name.as_str())
        .collect();
    let mapping = Mapping::for_features(schema, used.iter().copied());
    let names: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let absent: BTreeSet<&str> = std::iter::once(schema.response().name())
        .chain(schema.response().event_time().map(EventTime::column))
        .chain(schema.client())
        .chain(schema.named_features())
        .chain(schema.include().into_iter().flat_map(Patterns::names))
        .chain(schema.always().names())
        .chain(schema.bounds_lines().map(|(name, _)| name))
        .filter(|name| !names.contains(name))
        .collect();
    let idle_names = schema
        .exclude()
        .names()
        .filter(|name| !names.contains(name));
    let idle_patterns = schema
        .exclude()
        .starred()
        .iter()
        .filter(|pattern| !columns.iter().any(|column| pattern.matches(&column.name)))
        .map(Pattern::as_str);
    let idle_excludes = idle_names.chain(idle_patterns).map(str::to_owned).collect();
    report.columns = Some(ColumnReport {
        n_columns: columns.len(),
        has_response: names.contains(schema.response().name()),
        n_features: mapping.as_ref().map_or(0, Mapping::n_features),
        always: used
            .iter()
            .filter(|name| schema.is_always(name))
            .map(|name| (*name).to_owned())
            .collect(),
        under_default_bounds: used
            .iter()
            .filter(|name| !schema.bounds_feature(name))
            .map(|name| (*name).to_owned())
            .collect(),
        absent: absent.into_iter().map(str::to_owned).collect(),
        left_out: left_out(schema, columns, &used),
        duplicates: duplicate_names(columns),
        idle_excludes,
    });
    if let Err(problem) = selection {
        let problems = problem.each().into_iter();
        report
            .problems
            .extend(problems.map(|problem| problem.to_string()));
    }
    report
}

fn left_out(schema: &Schema, columns: &[Column], used: &[&str]) -> Vec<String> {
    let used: HashSet<&str> = used.iter().copied().collect();
    let event = schema.response().event_time().map(EventTime::column);
    let has_role = |name: &str| {
        name == schema.response().name() || [schema.client(), event].contains(&Some(name))
    };
    let is_left_out = |column: &&Column| match used.is_empty() {
        // Without a selection, by what the schema says of each column alone.
        true => role_of(column, schema) == Role::LeftOut,
        false => !used.contains(column.name.as_str()),
    };
    columns
        .iter()
        .filter(|column| !has_role(&column.name))
        .filter(is_left_out)
        .map(|column| column.name.clone())
        .collect()
}
