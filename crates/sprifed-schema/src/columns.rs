//! Which columns of a table play which role, decided from names, types and the schema alone.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::coding::Coding;
use crate::error::ColumnError;
use crate::marker::Marker;
use crate::pattern::Patterns;
use crate::schema::Schema;

/// A column of a table: its name and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The name, without surrounding blanks.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
}

impl Column {
    /// What is publicly known of the genetic marker that it counts, if it is one.
    #[must_use]
    pub fn marker(&self) -> Option<&Marker> {
        match &self.kind {
            ColumnKind::AlleleCount(marker) => Some(marker),
            _ => None,
        }
    }
}

/// What a column holds, as far as the file says so without a look at its cells.
///
/// # Guarantee
/// No cell decides it. Parquet and .npy state it; a CSV file does not, so there it is not known, and a cell that is no
/// number is an error where a number is required, never a change of mind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers.
    Numeric,
    /// How many copies of an allele a person has: numbers from 0 to 2, whatever the records are.
    AlleleCount(Box<Marker>),
    /// Dates or times.
    Date,
    /// Anything else.
    Text,
    /// The file does not say.
    Unstated,
}

/// The columns a study uses, as positions in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The features: those that are always in the model, then the candidates, each in the order of the table; and after
    /// them the column of sites, if there is one.
    pub features: Vec<usize>,
    /// The response.
    pub response: usize,
    /// The column that says whether a time ended with the event, if the response is a time.
    pub event: Option<usize>,
    /// The column that says whose record it is.
    pub client: Option<usize>,
}

impl Selection {
    /// Gives every column its role.
    ///
    /// # Errors
    /// If names repeat or are absent, or a column cannot play the role the schema gives it; all of it is said at once.
    pub fn choose(columns: &[Column], schema: &Schema) -> Result<Self, ColumnError> {
        let positions = positions_by_name(columns)?;
        let mut problems = absent_columns(columns, schema, &positions);
        let response = positions.get(schema.response().name()).copied();
        let event = schema.response().event_time();
        let event = event.and_then(|event| positions.get(event.column()).copied());
        let client = schema
            .client()
            .and_then(|name| positions.get(name).copied());
        let sites = schema.sites();
        let sites = sites.and_then(|sites| positions.get(sites.name()).copied());
        if let Some(response) = response
            && schema.response().levels().is_none()
        {
            problems.extend(require_numeric(&columns[response], "the response").err());
        }
        let mut features = Vec::new();
        let mut thinned = 0..;
        for (position, column) in columns.iter().enumerate() {
            if [response, event, client, sites].contains(&Some(position)) {
                continue;
            }
            let is_kept = match role_of(column, schema) {
                Role::Named => true,
                // By position among the columns that the schema does not name: a public fact.
                Role::Implied => thinned
                    .next()
                    .is_some_and(|place: u32| place.is_multiple_of(schema.every().get())),
                Role::LeftOut => false,
            };
            if is_kept {
                // Safety of the guarantee: what a column holds may refuse a table but never decide which
                // features there are.
                problems.extend(require_kind(column, schema).err());
                features.push(position);
            }
        }
        // Stable, so that the order of the table stays within both parts.
        features.sort_by_key(|&position| !schema.is_always(&columns[position].name));
        if problems.is_empty() || !features.is_empty() {
            problems.extend(require_bounds(columns, &features, schema).err());
        }
        features.extend(sites);
        problems.extend(repeated_feature(columns, &features, schema));
        match (response, ColumnError::of(problems)) {
            (Some(response), None) => Ok(Self {
                features,
                response,
                event,
                client,
            }),
            (_, Some(problem)) => Err(problem),
            (None, None) => Err(ColumnError::NoHeader),
        }
    }
}

/// What the schema names that is not among `columns`.
fn absent_columns(
    columns: &[Column],
    schema: &Schema,
    positions: &HashMap<&str, usize>,
) -> Vec<ColumnError> {
    let is_by_position = columns
        .iter()
        .enumerate()
        .all(|(at, column)| column.name == format!("x_{at}"));
    let absent = |column: &str, role| match is_by_position {
        true => ColumnError::AbsentPosition {
            column: column.to_owned(),
            role,
            count: columns.len(),
        },
        false => ColumnError::AbsentColumn {
            column: column.to_owned(),
            role,
        },
    };
    let listed = schema.include().into_iter().chain([schema.always()]);
    let features = schema
        .named_features()
        .chain(listed.clone().flat_map(Patterns::names))
        .map(|name| (name, "a feature"));
    let mut seen = HashSet::new();
    let mut problems: Vec<ColumnError> = [(schema.response().name(), "the response")]
        .into_iter()
        .chain(
            schema
                .response()
                .event_time()
                .map(|event| (event.column(), "the event")),
        )
        .chain(schema.client().map(|name| (name, "the client column")))
        .chain(
            schema
                .sites()
                .map(|sites| (sites.name(), "the column of sites")),
        )
        .chain(features)
        .filter(|(name, _)| !positions.contains_key(name) && seen.insert(*name))
        .map(|(name, role)| absent(name, role))
        .collect();
    let patterns = listed.flat_map(Patterns::starred);
    for pattern in patterns.chain(schema.feature_patterns()) {
        if !columns.iter().any(|column| pattern.matches(&column.name)) {
            problems.push(ColumnError::IdlePattern {
                pattern: pattern.as_str().to_owned(),
            });
        }
    }
    let idle = || {
        let lines = schema.bounds_lines();
        lines.filter(|(name, _)| !positions.contains_key(name))
    };
    let first = idle().min_by_key(|(_, line)| *line);
    problems.extend(first.map(|(column, line)| ColumnError::IdleBounds {
        line,
        column: column.to_owned(),
        others: idle().count() - 1,
    }));
    for region in schema.regions() {
        let is_inside =
            |column: &Column| column.marker().is_some_and(|marker| region.holds(marker));
        if !columns.iter().any(is_inside) {
            problems.push(ColumnError::EmptyRegion {
                region: region.as_str().to_owned(),
            });
        }
    }
    problems
}

/// What the schema says about a column that is neither the response nor the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is a feature, by its name.
    Named,
    /// It is a feature, by a pattern or because nothing says otherwise.
    Implied,
    /// It is none.
    LeftOut,
}

pub(crate) fn role_of(column: &Column, schema: &Schema) -> Role {
    let name = &column.name;
    if schema.excludes(name) {
        Role::LeftOut
    } else if schema.names_feature(name) || schema.is_always(name) {
        Role::Named
    } else {
        match schema.include() {
            Some(patterns) if patterns.lists(name) => Role::Named,
            Some(patterns) if !patterns.matches(name) => Role::LeftOut,
            _ if lies_elsewhere(column, schema) => Role::LeftOut,
            _ => Role::Implied,
        }
    }
}

/// Whether the column is a genetic marker outside all regions of the schema.
fn lies_elsewhere(column: &Column, schema: &Schema) -> bool {
    let regions = schema.regions();
    let is_outside = |marker: &Marker| !regions.iter().any(|region| region.holds(marker));
    !regions.is_empty() && column.marker().is_some_and(is_outside)
}

/// The place of each name.
///
/// # Errors
/// If names are absent or repeated; all of it is said at once.
pub fn positions_by_name(columns: &[Column]) -> Result<HashMap<&str, usize>, ColumnError> {
    if columns.is_empty() {
        return Err(ColumnError::NoHeader);
    }
    let mut positions = HashMap::with_capacity(columns.len());
    let mut problems = Vec::new();
    for (position, column) in columns.iter().enumerate() {
        if column.name.is_empty() {
            problems.push(ColumnError::NamelessColumn {
                position: position + 1,
            });
        }
        positions.insert(column.name.as_str(), position);
    }
    let duplicates = duplicate_names(columns).into_iter();
    let duplicates = duplicates.filter(|name| !name.is_empty());
    problems.extend(duplicates.map(|column| ColumnError::DuplicateColumn { column }));
    ColumnError::of(problems).map_or(Ok(positions), Err)
}

/// The names that occur more than once, each once, in the order of the table.
pub(crate) fn duplicate_names(columns: &[Column]) -> Vec<String> {
    let mut seen = HashSet::with_capacity(columns.len());
    let mut duplicates: Vec<String> = Vec::new();
    for column in columns {
        if !seen.insert(column.name.as_str()) && !duplicates.contains(&column.name) {
            duplicates.push(column.name.clone());
        }
    }
    duplicates
}

/// Requires a column that may hold numbers.
///
/// # Errors
/// If its file says that it holds text or dates.
pub fn require_numeric(column: &Column, role: &'static str) -> Result<(), ColumnError> {
    match column.kind {
        ColumnKind::Numeric | ColumnKind::AlleleCount(_) | ColumnKind::Unstated => Ok(()),
        ColumnKind::Date => Err(ColumnError::Date {
            column: column.name.clone(),
            role,
        }),
        ColumnKind::Text => Err(ColumnError::NotNumeric {
            column: column.name.clone(),
            role,
        }),
    }
}

/// Requires a column that can be read as the schema says; levels may be of any kind.
fn require_kind(column: &Column, schema: &Schema) -> Result<(), ColumnError> {
    if let Some(agreed) = schema.marker(&column.name) {
        require_alleles(column, agreed)?;
    }
    match schema.coding_of(&column.name) {
        Some(Coding::Levels(_)) => Ok(()),
        _ => require_numeric(column, "a feature"),
    }
}

/// Requires a column that counts the agreed allele, and says so.
fn require_alleles(column: &Column, agreed: &Marker) -> Result<(), ColumnError> {
    let name = column.name.clone();
    let Some(found) = column.marker() else {
        return Err(ColumnError::UnstatedAlleles { column: name });
    };
    let alleles = |marker: &Marker| (marker.effect_allele.clone(), marker.other_allele.clone());
    if alleles(found) == alleles(agreed) {
        return Ok(());
    }
    Err(ColumnError::OtherAlleles {
        column: name,
        found: alleles(found),
        required: alleles(agreed),
    })
}

fn require_bounds(
    columns: &[Column],
    features: &[usize],
    schema: &Schema,
) -> Result<(), ColumnError> {
    if features.is_empty() {
        return Err(ColumnError::NoFeatures);
    }
    let mut unbounded = features
        .iter()
        .map(|&position| &columns[position].name)
        .filter(|name| schema.coding_of(name).is_none());
    match unbounded.next() {
        None => Ok(()),
        Some(first) => Err(ColumnError::Unbounded {
            first: first.clone(),
            count: 1 + unbounded.count(),
        }),
    }
}

/// A feature that is made of a level or of a gap, and has the name of another one.
fn repeated_feature(
    columns: &[Column],
    features: &[usize],
    schema: &Schema,
) -> Option<ColumnError> {
    let mut seen = HashSet::new();
    let names = features.iter().flat_map(|&at| {
        let name = &columns[at].name;
        schema
            .coding_of(name)
            .map_or_else(Vec::new, |coding| coding.names(name))
    });
    let mut names = names.into_iter();
    let column = names.find(|name| !seen.insert(name.clone()))?;
    Some(ColumnError::DuplicateColumn { column })
}

#[cfg(test)]
mod tests;
