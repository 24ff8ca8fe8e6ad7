//! `schema draft` and `schema check`: the file of public bounds.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use sprifed::{SchemaCheck, SchemaDraft};
use sprifed_party::Destination;
use sprifed_schema::PLACEHOLDER;
use sprifed_tables::{check, draft_schema_for};

use crate::choices::table_help;
use crate::failure::Failure;
use crate::output::Output;
use crate::table_arguments::TableArguments;

/// What to do with a schema.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Draft a schema from the header of a table; no cell is read.
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
    #[command(flatten)]
    reading: TableArguments,
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
    #[command(flatten)]
    reading: TableArguments,
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
        let taken: Vec<&Path> = self.reading.table(&self.data).paths().collect();
        let place = self
            .out
            .as_deref()
            .map(|path| Destination::reserve(path, self.force.into(), &taken))
            .transpose()?;
        let draft = draft_schema_for(self.reading.table(&self.data))?;
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
        let table = self.data.as_deref().map(|path| self.reading.table(path));
        let answer = SchemaCheck::from(check(&self.schema, table)?);
        output.answer(&answer, SchemaCheck::text);
        if answer.usable {
            return Ok(());
        }
        let message = match answer.report.problems.as_slice() {
            [one] => one.clone(),
            several => format!("{} problems; all are listed above", several.len()),
        };
        let help = "correct the schema or the table as said above; nothing was spent";
        Err(Failure::usage(
            "sprifed::schema::does-not-fit",
            message,
            help,
        ))
    }
}
