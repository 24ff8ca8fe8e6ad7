//! What is said of a schema, for programs.

use std::fmt::Write as _;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::counted;
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

impl SchemaCheck {
    /// What was found, for a person.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.report)
    }
}

/// What was found, for a person.
fn text_of(report: &CheckReport) -> String {
    let schema = &report.schema;
    let [lower, upper] = schema.response_bounds;
    let mut text = String::new();
    let verdict = if report.is_usable() {
        "usable"
    } else {
        "NOT usable"
    };
    let _ = writeln!(text, "the schema is {verdict}");
    let _ = match (
        &schema.response_levels,
        &schema.response_event,
        schema.response_horizon,
    ) {
        (None, Some(event), Some(horizon)) => writeln!(
            text,
            "response: times `{}` up to the horizon {horizon}, with the event in `{event}`",
            schema.response
        ),
        (None, ..) => writeln!(
            text,
            "response `{}` from {lower} to {upper}, transform {}",
            schema.response,
            schema.transform.text()
        ),
        (Some([zero, one]), ..) => writeln!(
            text,
            "response `{}` with the levels `{zero}` and `{one}`, of which `{one}` is the event",
            schema.response
        ),
    };
    let default = if schema.has_default_bounds {
        "default bounds for the others"
    } else {
        "no default bounds"
    };
    let _ = writeln!(
        text,
        "{} with bounds of their own, {default}",
        counted(schema.n_named_features, "feature", "features")
    );
    let client = schema
        .client
        .as_ref()
        .map_or("none: one record per client".to_owned(), |name| {
            format!("`{name}`")
        });
    let _ = writeln!(
        text,
        "client column {client}; at most {} per client; the guarantee is for each {}",
        counted(schema.max_per_client, "record", "records"),
        schema.unit.text()
    );
    if let Some(columns) = &report.columns {
        let _ = writeln!(
            text,
            "{} in the table, {} for the model",
            counted(columns.n_columns, "column", "columns"),
            counted(columns.n_features, "feature", "features")
        );
        let lists = [
            ("absent from the table", &columns.absent),
            ("always in the model", &columns.always),
            ("columns left out", &columns.left_out),
            ("names that occur more than once", &columns.duplicates),
            (
                "excluded names and patterns that match nothing",
                &columns.idle_excludes,
            ),
        ];
        for (what, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
            let listed = names
                .iter()
                .take(10)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            let more = if names.len() > 10 { ", …" } else { "" };
            let _ = writeln!(text, "{what} ({}): {listed}{more}", names.len());
        }
    }
    if let Some(table) = &report.table {
        let _ = writeln!(
            text,
            "{} of {}, {} beyond the cap and not used",
            counted(table.n_records, "record", "records"),
            counted(table.n_clients, "client", "clients"),
            table.over_cap
        );
        for (count, words) in [
            (
                table.unmatched,
                "without a row in the table of --phenotypes",
            ),
            (table.extra_samples, "of --phenotypes alone, left out"),
        ] {
            if count > 0 {
                let _ = writeln!(text, "{} {words}", counted(count, "sample", "samples"));
            }
        }
        for site in &table.sites {
            let _ = writeln!(text, "{site}");
        }
        if table.has_missing_response {
            let _ = writeln!(text, "some records have no response and contribute nothing");
        }
    }
    for problem in &report.problems {
        let _ = writeln!(text, "problem: {problem}");
    }
    text
}
