//! What is said of a schema, for programs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_schema::{CheckReport, PLACEHOLDER};

/// A drafted schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SchemaDraft {
    /// The table that it is for.
    pub data: PathBuf,
    /// The file it was written to.
    pub out: Option<PathBuf>,
    /// The draft, in TOML.
    pub schema: String,
    /// How many numbers the user has to fill in.
    pub to_fill_in: usize,
}

impl SchemaDraft {
    /// The draft `schema` for the table at `data`.
    #[must_use]
    pub fn of(schema: String, data: PathBuf, out: Option<PathBuf>) -> Self {
        let is_blank = |line: &&str| !line.starts_with('#') && line.contains(PLACEHOLDER);
        let to_fill_in = schema.lines().filter(is_blank).count();
        Self {
            data,
            out,
            schema,
            to_fill_in,
        }
    }
}

/// A schema that was checked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SchemaCheck {
    /// Whether a fit can use it.
    pub usable: bool,
    /// What was found.
    pub report: CheckReport,
}

impl From<CheckReport> for SchemaCheck {
    fn from(report: CheckReport) -> Self {
        Self {
            usable: report.is_usable(),
            report,
        }
    }
}
