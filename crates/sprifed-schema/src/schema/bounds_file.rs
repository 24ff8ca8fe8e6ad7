//! Public bounds of many columns, as a CSV file beside the schema: `column,lower,upper[,center,scale,missing_value]`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::file::FeatureTable;
use crate::error::SchemaError;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    column: String,
    lower: f64,
    upper: f64,
    #[serde(default)]
    center: Option<f64>,
    #[serde(default)]
    scale: Option<f64>,
    #[serde(default)]
    missing_value: Option<f64>,
}

/// The bounds of columns, by the name of the column, and the line where each stands.
#[derive(Debug, Default)]
pub(super) struct BoundsFile {
    pub(super) tables: BTreeMap<String, FeatureTable>,
    pub(super) lines: BTreeMap<String, u64>,
}

/// The bounds in `text`.
///
/// # Errors
/// With the line, if the text is no such table or names a column twice.
pub(super) fn parse(text: &str) -> Result<BoundsFile, SchemaError> {
    let refuse = |line: u64, problem: String| SchemaError::BoundsFile { line, problem };
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut bounds = BoundsFile::default();
    for (at, line) in reader.deserialize::<Line>().enumerate() {
        let line = line.map_err(|error| {
            let number = error.position().map_or(1, csv::Position::line);
            let problem = match error.kind() {
                csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
                csv::ErrorKind::UnequalLengths {
                    expected_len, len, ..
                } => format!("it has {len} fields, the header has {expected_len}"),
                _ => "it cannot be split into fields".to_owned(),
            };
            refuse(number, problem)
        })?;
        let number = at as u64 + 2;
        let table = FeatureTable {
            lower: Some(line.lower),
            upper: Some(line.upper),
            center: line.center,
            scale: line.scale,
            missing_value: line.missing_value,
            ..FeatureTable::default()
        };
        if line.column.is_empty() {
            return Err(refuse(number, "it names no column".to_owned()));
        }
        if bounds.lines.insert(line.column.clone(), number).is_some() {
            let problem = format!("it names the column `{}` again", line.column);
            return Err(refuse(number, problem));
        }
        bounds.tables.insert(line.column, table);
    }
    Ok(bounds)
}
