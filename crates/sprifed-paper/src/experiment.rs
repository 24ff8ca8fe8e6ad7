//! An experiment as data: what the paper claims, what is measured, and how it is judged.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_privacy::IllegalQuantity;
use sprifed_tables::DataError;

use crate::cell::Cell;
use crate::chart::Figure;
use crate::method::MethodError;
use crate::row::Row;
use crate::store::Store;
use crate::verdict::Verdict;

/// One table or figure.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What the paper says, or what ours asks.
    pub claim: &'static str,
    /// The settings, for a reader.
    pub setting: &'static str,
    /// What is measured.
    pub work: Work,
    /// What is drawn: one chart for each panel and entry.
    pub(crate) figures: &'static [Figure],
    /// The metrics of the table under the figures.
    pub(crate) metrics: &'static [&'static str],
    /// How the rows are judged.
    pub judge: fn(&[Row]) -> Verdict,
}

/// What an experiment measures.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Trials of cells.
    Cells(fn(&Conditions) -> Result<Vec<Cell>, ExperimentError>),
    /// Something of its own, which adds rows to the session.
    Own(fn(&mut Session<'_>) -> Result<(), ExperimentError>),
    /// The same, on files of `--data`; skipped, loudly, without them.
    OnData(fn(&mut Session<'_>) -> Result<(), ExperimentError>),
}

/// How large the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Everything that the page is about.
    Full,
    /// Small cells and two trials, to see that everything runs: not for conclusions.
    Quick,
}

/// Under which conditions experiments run.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// How large.
    pub size: Size,
    /// Trials of every cell, if not the planned number.
    pub trials: Option<u64>,
    /// The seed of the first trial; trial k uses seed + k.
    pub seed: u64,
    /// The folder with the real data, if there is one.
    pub data: Option<PathBuf>,
    /// The version of the program.
    pub commit: String,
}

/// One run of one experiment: where its rows are stored and which function is notified.
pub struct Session<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The conditions.
    pub conditions: &'a Conditions,
    /// Where rows go.
    pub store: &'a mut Store,
    /// Called after every finished or skipped cell.
    pub watch: &'a mut dyn FnMut(&str),
}

/// Why an experiment has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A trial failed.
    #[error("{cell}: {source}")]
    Trial {
        /// Which cell.
        cell: String,
        /// Why.
        source: MethodError,
    },
    /// A constant is not a legal quantity.
    #[error(transparent)]
    Quantity(#[from] IllegalQuantity),
    /// A privacy label could not be computed.
    #[error(transparent)]
    Label(#[from] MethodError),
    /// A table of `--data` cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file cannot be read or written.
    #[error("`{}` cannot be used: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The CSV file of results is not one of ours.
    #[error("`{}` holds no rows of experiments: {reason}; move it away or name another folder", path.display())]
    Rows {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A data file has another shape than expected.
    #[error("`{}` {problem}", path.display())]
    Shape {
        /// Which file.
        path: PathBuf,
        /// What was found and what is required.
        problem: String,
    },
}

impl Conditions {
    /// How many trials a cell of `records` × `features` gets: fewer where they are expensive.
    #[must_use]
    pub fn trials_for(&self, records: usize, features: usize) -> u64 {
        if let Some(trials) = self.trials {
            return trials;
        }
        match (self.size, records * features) {
            (Size::Quick, _) => 2,
            (Size::Full, ..=10_000_000) => 10,
            (Size::Full, ..=100_000_000) => 8,
            (Size::Full, _) => 5,
        }
    }

    /// Whether a cell of this size belongs to the run.
    #[must_use]
    pub fn admits(&self, records: usize, features: usize) -> bool {
        match self.size {
            Size::Full => true,
            Size::Quick => records * features <= 10_000_000,
        }
    }
}

impl core::fmt::Debug for Session<'_> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_struct("Session")
            .field("experiment", &self.experiment.name)
            .finish_non_exhaustive()
    }
}

impl Session<'_> {
    /// An empty row of this experiment.
    #[must_use]
    pub fn row(&self, panel: &str, series: &str) -> Row {
        Row {
            experiment: self.experiment.name.to_owned(),
            panel: panel.to_owned(),
            series: series.to_owned(),
            seed: self.conditions.seed,
            commit: self.conditions.commit.clone(),
            ..Row::default()
        }
    }
}
