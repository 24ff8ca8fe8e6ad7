//! What experiments came out to, for programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::{Conditions, Experiment, Size};
use crate::row::Row;
use crate::store::Store;
use crate::verdict::Outcome;

/// Experiments that were judged.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExperimentsAnswer {
    /// The version of the sources.
    pub commit: String,
    /// The seed of the first trial.
    pub seed: u64,
    /// Trials of every cell, if a number was given.
    pub trials: Option<u64>,
    /// How large the run is.
    pub size: Size,
    /// Whether real data were there.
    pub real_data: bool,
    /// The experiments, each with its verdict.
    pub experiments: Vec<JudgedExperiment>,
    /// The file of the page.
    pub page: &'static str,
    /// The file of the rows.
    pub cells: &'static str,
}

/// An experiment with its verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JudgedExperiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What the paper says, or what ours asks.
    pub claim: &'static str,
    /// The settings, for a reader.
    pub setting: &'static str,
    /// How it came out.
    pub outcome: Outcome,
    /// Why.
    pub verdict: String,
    /// What was measured.
    pub rows: Vec<Row>,
}

/// The experiments that there are.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExperimentList {
    /// The experiments, in the order of the page.
    pub experiments: Vec<ListedExperiment>,
}

/// An experiment of the list.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ListedExperiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What the paper says, or what ours asks.
    pub claim: &'static str,
}

/// The conditions of an earlier run, as its file of results has them.
#[derive(Deserialize)]
struct WrittenConditions {
    commit: String,
    seed: u64,
    trials: Option<u64>,
    size: Size,
    real_data: bool,
}

impl ExperimentsAnswer {
    /// Takes over the conditions of the run that wrote `results`, if it is a file of results.
    pub fn keep_conditions(&mut self, results: &str) {
        if let Ok(written) = serde_json::from_str::<WrittenConditions>(results) {
            self.commit = written.commit;
            self.seed = written.seed;
            self.trials = written.trials;
            self.size = written.size;
            self.real_data = written.real_data;
        }
    }

    /// The verdicts of `shown` on the rows of `store`.
    #[must_use]
    pub fn of(shown: &[Experiment], store: &Store, conditions: &Conditions) -> Self {
        let judged = shown.iter().map(|experiment| {
            let rows = store.of(experiment.name);
            let verdict = (experiment.judge)(&rows);
            JudgedExperiment {
                name: experiment.name,
                title: experiment.title,
                claim: experiment.claim,
                setting: experiment.setting,
                outcome: verdict.outcome,
                verdict: verdict.sentences,
                rows,
            }
        });
        Self {
            commit: conditions.commit.clone(),
            seed: conditions.seed,
            trials: conditions.trials,
            size: conditions.size,
            real_data: conditions.data.is_some(),
            experiments: judged.collect(),
            page: "report.html",
            cells: Store::ROWS,
        }
    }
}

impl ExperimentList {
    /// The list of `all`.
    #[must_use]
    pub fn of(all: &[Experiment]) -> Self {
        let listed = all.iter().map(|experiment| ListedExperiment {
            name: experiment.name,
            title: experiment.title,
            claim: experiment.claim,
        });
        Self {
            experiments: listed.collect(),
        }
    }
}
