//! Which columns of a table play which role, decided from names, types and the schema alone.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::error::ColumnError;
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

/// What a column holds.
///
/// Parquet and .npy state it. A CSV file does not, so there the first few records decide; text that
/// turns up later in a numeric column is an error, not a change of mind. A study in which clients
/// must agree on the features should list them in `features.include`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers.
    Numeric,
    /// Anything else.
    Text,
}

/// The columns a study uses, as positions in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The features, in the order of the table.
    pub features: Vec<usize>,
    /// The response.
    pub response: usize,
    /// The column that says whose record it is.
    pub client: Option<usize>,
}

impl Selection {
    /// Gives every column its role.
    ///
    /// # Errors
    /// If names repeat or are absent, or a column cannot play the role the schema gives it.
    pub fn choose(columns: &[Column], schema: &Schema) -> Result<Self, ColumnError> {
        let positions = positions_by_name(columns)?;
        let place = |column: &str, role| {
            positions
                .get(column)
                .copied()
                .ok_or_else(|| ColumnError::AbsentColumn {
                    column: column.to_owned(),
                    role,
                })
        };
        let response = place(schema.response().name(), "the response")?;
        require_numeric(&columns[response], "the response")?;
        let client = schema
            .client()
            .map(|name| place(name, "the client column"))
            .transpose()?;
        for name in schema.named_features() {
            place(name, "a feature")?;
        }
        for name in schema.include().into_iter().flat_map(Patterns::names) {
            place(name, "a feature")?;
        }
        for pattern in schema.include().map_or(&[][..], Patterns::starred) {
            if !columns.iter().any(|column| pattern.matches(&column.name)) {
                return Err(ColumnError::IdlePattern {
                    pattern: pattern.as_str().to_owned(),
                });
            }
        }
        let mut features = Vec::new();
        for (position, column) in columns.iter().enumerate() {
            if position == response || Some(position) == client {
                continue;
            }
            match role_of(column, schema) {
                // Safety of the guarantee: whether a column looks like text is a statistic of the
                // records, so it may refuse a table but never decide which features there are.
                Role::Named | Role::Implied => {
                    require_numeric(column, "a feature")?;
                    features.push(position);
                }
                Role::LeftOut => {}
            }
        }
        require_bounds(columns, &features, schema)?;
        Ok(Self {
            features,
            response,
            client,
        })
    }
}

/// What the schema says about a column that is neither the response nor the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is a feature, by name or by pattern.
    Named,
    /// It is a feature, because nothing says otherwise.
    Implied,
    /// It is none.
    LeftOut,
}

pub(crate) fn role_of(column: &Column, schema: &Schema) -> Role {
    if schema.excludes(&column.name) {
        Role::LeftOut
    } else if schema.names_feature(&column.name) {
        Role::Named
    } else {
        match schema.include() {
            None => Role::Implied,
            Some(patterns) if patterns.matches(&column.name) => Role::Named,
            Some(_) => Role::LeftOut,
        }
    }
}

/// The place of each name.
///
/// # Errors
/// If names are absent or repeated.
pub fn positions_by_name(columns: &[Column]) -> Result<HashMap<&str, usize>, ColumnError> {
    if columns.is_empty() {
        return Err(ColumnError::NoHeader);
    }
    let mut positions = HashMap::with_capacity(columns.len());
    for (position, column) in columns.iter().enumerate() {
        if column.name.is_empty() {
            return Err(ColumnError::NamelessColumn {
                position: position + 1,
            });
        }
        if positions.insert(column.name.as_str(), position).is_some() {
            return Err(ColumnError::DuplicateColumn {
                column: column.name.clone(),
            });
        }
    }
    Ok(positions)
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

/// Requires a column that holds numbers.
///
/// # Errors
/// If it holds text.
pub fn require_numeric(column: &Column, role: &'static str) -> Result<(), ColumnError> {
    match column.kind {
        ColumnKind::Numeric => Ok(()),
        ColumnKind::Text => Err(ColumnError::NotNumeric {
            column: column.name.clone(),
            role,
        }),
    }
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
        .filter(|name| schema.units_of(name).is_none());
    match unbounded.next() {
        None => Ok(()),
        Some(first) => Err(ColumnError::Unbounded {
            first: first.clone(),
            count: 1 + unbounded.count(),
        }),
    }
}

#[cfg(test)]
mod tests;
