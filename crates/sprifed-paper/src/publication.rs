//! Experiments from the first cell to the page, in one folder.

use std::fs;
use std::path::Path;

use crate::answer::ExperimentsAnswer;
use crate::catalogue::catalogue;
use crate::experiment::{Conditions, Experiment, ExperimentError};
use crate::page::experiments_page;
use crate::run::run;
use crate::store::Store;

/// The file of rows, verdicts and conditions.
const RESULTS: &str = "results.json";

/// Measures `chosen`, as far as `folder` does not know the rows yet, and writes rows, figures and the page. `watch` gets
/// the number of the experiment, from one on, and what is being measured.
///
/// # Errors
/// When an experiment or the disk refuses. What was measured is kept.
pub fn run_all(
    chosen: &[Experiment],
    conditions: &Conditions,
    folder: &Path,
    watch: &mut dyn FnMut(usize, &str),
) -> Result<ExperimentsAnswer, ExperimentError> {
    let mut store = Store::open(folder)?;
    for (number, experiment) in (1..).zip(chosen) {
        let mut watch = |words: &str| watch(number, words);
        run(experiment, conditions, &mut store, &mut watch)?;
    }
    let shown = shown(chosen, &store);
    let answer = ExperimentsAnswer::of(&shown, &store, conditions);
    publish(&shown, &store, conditions, &answer)?;
    Ok(answer)
}

/// Writes figures and the page again from the rows in `folder`, and measures nothing: the conditions stay those of the run.
///
/// # Errors
/// When the rows cannot be read or the disk refuses.
pub fn publish_again(
    folder: &Path,
    conditions: &Conditions,
) -> Result<ExperimentsAnswer, ExperimentError> {
    let store = Store::open(folder)?;
    let shown = shown(&[], &store);
    let mut answer = ExperimentsAnswer::of(&shown, &store, conditions);
    let written = fs::read_to_string(folder.join(RESULTS)).unwrap_or_default();
    answer.keep_conditions(&written);
    publish(&shown, &store, conditions, &answer)?;
    Ok(answer)
}

/// What was chosen, and what the folder has rows of.
fn shown(chosen: &[Experiment], store: &Store) -> Vec<Experiment> {
    let is_shown = |experiment: &Experiment| {
        chosen.iter().any(|one| one.name == experiment.name)
            || !store.of(experiment.name).is_empty()
    };
    catalogue().into_iter().filter(is_shown).collect()
}

fn publish(
    shown: &[Experiment],
    store: &Store,
    conditions: &Conditions,
    answer: &ExperimentsAnswer,
) -> Result<(), ExperimentError> {
    let (page, figures) = experiments_page(shown, store.rows(), conditions);
    store.write("report.html", &page)?;
    for (name, svg) in figures {
        store.write(&format!("figures/{name}"), &svg)?;
    }
    // Numbers, text and lists: there is nothing that JSON could not hold.
    let results = serde_json::to_string(answer).unwrap_or_default() + "\n";
    store.write(RESULTS, &results)
}
