//! `schema draft` and `schema check`: the file of public bounds.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use sprifed::{SchemaCheck, SchemaDraft};
use sprifed_schema::{CheckReport, PLACEHOLDER};
use sprifed_tables::{check, draft_schema_for};

use crate::choices::table_help;
use crate::failure::Failure;
use crate::files::Destination;
use crate::output::{Output, counted};

/// What to do with a schema.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Draft a schema from column names and types, never from values.
    ///
    /// Example: sprifed schema draft data.csv --out schema.toml
    Draft(Draft),
    /// Check a schema, and that it fits a table.
    ///
    /// Example: sprifed schema check schema.toml data.csv
    Check(Check),
}

/// `schema draft`.
#[derive(Args, Debug)]
pub(crate) struct Draft {
    #[arg(help = table_help())]
    data: PathBuf,
    /// Write the draft to this file instead of standard output.
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Replace the file of --out if it exists.
    #[arg(long, requires = "out")]
    force: bool,
}

/// `schema check`.
#[derive(Args, Debug)]
pub(crate) struct Check {
    /// The schema, in TOML.
    schema: PathBuf,
    /// A table that it has to fit.
    data: Option<PathBuf>,
}

/// Does `task`.
pub(crate) fn run(task: &Task, output: &Output) -> Result<(), Failure> {
    match task {
        Task::Draft(draft) => draft.run(output),
        Task::Check(check) => check.run(output),
    }
}

impl Draft {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        let place = self
            .out
            .as_deref()
            .map(|path| Destination::reserve(path, self.force.into(), &[&self.data]))
            .transpose()?;
        let draft = draft_schema_for(&self.data)?;
        let answer = SchemaDraft::of(draft, self.data.clone(), self.out.clone());
        if let Some(place) = place {
            place.write(&answer.schema)?;
        }
        output.answer(&answer, |answer| match &answer.out {
            None => answer.schema.clone(),
            Some(path) => format!(
                "{} written; replace {} {PLACEHOLDER} by numbers known without looking at the records, then: \
                 sprifed schema check {}",
                path.display(),
                answer.to_fill_in,
                path.display()
            ),
        });
        Ok(())
    }
}

impl Check {
    fn run(&self, output: &Output) -> Result<(), Failure> {
        let answer = SchemaCheck::from(check(&self.schema, self.data.as_deref())?);
        output.answer(&answer, |answer| text(&answer.report));
        if answer.usable {
            return Ok(());
        }
        let message = answer.report.problems.join("; ");
        let help = "correct the schema or the table as said above; nothing was spent";
        Err(Failure::usage(
            "sprifed::schema::does-not-fit",
            message,
            help,
        ))
    }
}

fn text(report: &CheckReport) -> String {
    let schema = &report.schema;
    let [lower, upper] = schema.response_bounds;
    let mut text = String::new();
    let verdict = if report.is_usable() {
        "usable"
    } else {
        "NOT usable"
    };
    let _ = writeln!(text, "the schema is {verdict}");
    let _ = writeln!(
        text,
        "response `{}` from {lower} to {upper}, transform {}",
        schema.response,
        schema.transform.text()
    );
    let default = if schema.has_default_bounds {
        "default bounds for the others"
    } else {
        "no default bounds"
    };
    let _ = writeln!(
        text,
        "{} features with bounds of their own, {default}",
        schema.n_named_features
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
        counted(schema.max_per_client as usize, "record", "records"),
        schema.unit.text()
    );
    if let Some(columns) = &report.columns {
        let _ = writeln!(
            text,
            "{} columns, {} of them features",
            columns.n_columns, columns.n_features
        );
        let lists = [
            ("absent from the table", &columns.absent),
            ("text columns left out", &columns.text_left_out),
            ("numeric columns left out", &columns.numeric_left_out),
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
            "{} records of {} clients, {} beyond the cap and not used",
            table.n_records, table.n_clients, table.over_cap
        );
        if table.has_missing_response {
            let _ = writeln!(text, "some records have no response and contribute nothing");
        }
    }
    for problem in &report.problems {
        let _ = writeln!(text, "problem: {problem}");
    }
    text
}
