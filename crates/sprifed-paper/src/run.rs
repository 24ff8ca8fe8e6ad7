//! Runs experiments: one world for each trial, shared by all contenders, and only what is missing.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sprifed_simulate::Method as _;
use sprifed_simulate::{TrialOutcome, World, WorldRequest};

use crate::cell::Cell;
use crate::experiment::{Conditions, Experiment, ExperimentError, Session, Work};
use crate::label::Label;
use crate::method::AnyMethod;
use crate::row::Row;
use crate::store::Store;

#[cfg(test)]
mod tests;

/// The name of a metric, and what a trial says of it.
type Metric = (&'static str, fn(&TrialOutcome) -> f64);

/// Metrics of trials on generated worlds.
const METRICS: [Metric; 3] = [
    ("recovered", recovered),
    ("test MSE", |outcome| outcome.test_mse),
    ("test R2", |outcome| {
        1.0 - outcome.test_mse / outcome.null_mse
    }),
];

/// Worlds up to this many values are generated for several trials at once.
const SHARED_MEMORY: usize = 24_000_000;

/// Runs `experiment` and keeps its rows; `watch` is called after every cell.
///
/// # Errors
/// When a trial fails or a file cannot be used.
pub fn run(
    experiment: &Experiment,
    conditions: &Conditions,
    store: &mut Store,
    watch: &mut dyn FnMut(&str),
) -> Result<(), ExperimentError> {
    let mut session = Session {
        experiment,
        conditions,
        store,
        watch,
    };
    match experiment.work {
        Work::Cells(cells) => session.measure(&cells(conditions)?),
        Work::Own(work) => work(&mut session),
        Work::OnData(work) if conditions.data.is_some() => work(&mut session),
        Work::OnData(_) => {
            let name = experiment.name;
            (session.watch)(&format!(
                "SKIPPED {name}: it needs the real data; pass --data DIR"
            ));
            Ok(())
        }
    }
}

impl Session<'_> {
    /// Measures the cells that the store does not know yet, and drops those no longer requested.
    ///
    /// # Errors
    /// When a trial fails or the store cannot be written.
    pub fn measure(&mut self, cells: &[Cell]) -> Result<(), ExperimentError> {
        let wanted: Vec<Row> = cells.iter().flat_map(|cell| self.rows_of(cell)).collect();
        self.store.retain(self.experiment.name, |row| {
            wanted.iter().any(|wanted| wanted.is_same_cell(row))
        });
        self.measure_more(cells)
    }

    /// Measures the cells that the store does not know yet.
    ///
    /// # Errors
    /// When a trial fails or the store cannot be written.
    pub(crate) fn measure_more(&mut self, cells: &[Cell]) -> Result<(), ExperimentError> {
        let missing: Vec<&Cell> = cells
            .iter()
            .filter(|cell| {
                let rows = self.rows_of(cell);
                rows.iter().any(|row| self.store.known(row).is_none())
            })
            .collect();
        let (known, total) = (cells.len() - missing.len(), cells.len());
        if known > 0 && total > 1 {
            let name = self.experiment.name;
            (self.watch)(&format!(
                "{name}: {known} of {total} cells are there already"
            ));
        }
        for group in by_world(&missing) {
            self.measure_group(&group)?;
        }
        Ok(())
    }

    /// The rows of a cell, still without numbers.
    fn rows_of(&self, cell: &Cell) -> Vec<Row> {
        let of = |(metric, _): &Metric| Row {
            axis: cell.axis.0.to_owned(),
            x: cell.axis.1,
            metric: (*metric).to_owned(),
            trials: cell.trials,
            settings: cell.settings(),
            ..self.row(&cell.panel, &cell.contender.name())
        };
        METRICS.iter().map(of).collect()
    }

    fn measure_group(&mut self, group: &[&Cell]) -> Result<(), ExperimentError> {
        let Some(first) = group.first() else {
            return Ok(());
        };
        let named = |cell: &Cell| {
            let (axis, x) = cell.axis;
            let (panel, contender) = (&cell.panel, cell.contender.name());
            format!(
                "{} | {panel} | {axis} {x} | {contender}",
                self.experiment.name
            )
        };
        let methods = group
            .iter()
            .map(|cell| {
                cell.contender
                    .method(&cell.world, cell.noise)
                    .map_err(|source| ExperimentError::Trial {
                        cell: named(cell),
                        source,
                    })
            })
            .collect::<Result<Vec<AnyMethod>, ExperimentError>>()?;
        let seed = self.conditions.seed;
        let trial = |trial: u64| -> Result<Vec<TrialOutcome>, ExperimentError> {
            let seed = seed.wrapping_add(trial);
            let world = World::generate(first.world, seed);
            let outcome = |(cell, method): (&&Cell, &AnyMethod)| {
                method
                    .run_on(&world, seed)
                    .map_err(|source| ExperimentError::Trial {
                        cell: named(cell),
                        source,
                    })
            };
            group.iter().zip(&methods).map(outcome).collect()
        };
        let outcomes: Vec<Vec<TrialOutcome>> = if size_of(&first.world) <= SHARED_MEMORY {
            (0..first.trials)
                .into_par_iter()
                .map(trial)
                .collect::<Result<_, _>>()?
        } else {
            (0..first.trials).map(trial).collect::<Result<_, _>>()?
        };
        let mut rows = Vec::new();
        for (index, (cell, method)) in group.iter().zip(&methods).enumerate() {
            let label = Label::of(cell, method)?;
            let of_cell: Vec<&TrialOutcome> = outcomes.iter().map(|trial| &trial[index]).collect();
            let null = of_cell.iter().map(|outcome| outcome.null_mse);
            let null_mse = Some(null.sum::<f64>() / of_cell.len().max(1) as f64);
            let filled = self.rows_of(cell).into_iter().zip(METRICS);
            rows.extend(filled.map(|(row, (metric, of))| {
                let values: Vec<f64> = of_cell.iter().map(|outcome| of(outcome)).collect();
                Row {
                    null: match metric {
                        "test MSE" => null_mse,
                        "test R2" => Some(0.0),
                        _ => Some(chance(&cell.world)),
                    },
                    independent: known_of(&cell.independent, metric),
                    ..row
                }
                .with_trials(&values)
                .with_paper(known_of(&cell.paper, metric))
                .with_label(&label)
            }));
        }
        for row in rows.iter().filter(|row| row.metric == METRICS[0].0) {
            let error = row.std_error.unwrap_or(0.0);
            (self.watch)(&format!(
                "{} | {} | {} {} | {}: {:.2} +- {error:.2} in {} trials",
                row.experiment, row.panel, row.axis, row.x, row.series, row.value, row.trials
            ));
        }
        self.store.add(rows)
    }
}

/// What is known of this metric.
fn known_of<T: Copy>(known: &[(&'static str, T)], metric: &str) -> Option<T> {
    let of_metric = known.iter().find(|(name, _)| *name == metric);
    of_metric.map(|(_, value)| *value)
}

/// Features found by picking at random, on average.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 features")]
pub(crate) fn chance(world: &WorldRequest) -> f64 {
    world.sparsity as f64 * world.support as f64 / world.features as f64
}

#[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
fn recovered(outcome: &TrialOutcome) -> f64 {
    outcome.recovered as f64
}

const fn size_of(world: &WorldRequest) -> usize {
    (world.records + world.test_records) * world.features
}

/// Cells that can share worlds, in the order of their first cell.
fn by_world<'a>(cells: &[&'a Cell]) -> Vec<Vec<&'a Cell>> {
    let mut groups: Vec<Vec<&Cell>> = Vec::new();
    for cell in cells {
        let same = |group: &&mut Vec<&Cell>| {
            group[0].world == cell.world && group[0].trials == cell.trials
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
}
