//! The figures of test error over p and over n.

use sprifed_recovery::CertifiedProcedure;

use super::recovery::{PUBLISHED, paper_world, with_ours};
use super::{ERRORS, READING};
use crate::cell::{Cell, Noise};
use crate::experiment::{Conditions, Experiment, ExperimentError, Work};
use crate::numbers::shown;
use crate::row::Row;
use crate::verdict::{Evidence, Outcome, Verdict};

pub(super) const OVER_FEATURES: Experiment = Experiment {
    name: "perf-a",
    title: "Test error over p, s = 5, n = 2000",
    claim: "The test MSE of SPriFed-OMP is almost constant in p and close to zero; DP-SGD's is orders larger, DP-GCD's in between; at \
            (4.94, 1e-4).",
    setting: READING,
    work: Work::Cells(over_features),
    figures: &[ERRORS],
    metrics: &["test MSE", "recovered"],
    judge: judge_over_features,
};

pub(super) const OVER_RECORDS: Experiment = Experiment {
    name: "perf-b",
    title: "Test error over n, s = 5, p = 2500",
    claim: "The test MSE of both SPriFed versions gets very close to zero as n grows and beats DP-SGD and DP-GCD at every n; at \
            (4.94, 1e-4).",
    work: Work::Cells(over_records),
    judge: judge_over_records,
    ..OVER_FEATURES
};

const FEATURES: [usize; 5] = [2500, 4000, 6000, 8000, 10_000];
const RECORDS: [usize; 5] = [400, 800, 1200, 1600, 2000];

fn over_features(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    let mut cells = Vec::new();
    for features in FEATURES {
        let axis = ("features", features as f64);
        add(
            &mut cells,
            conditions,
            (2000, features),
            axis,
            "s = 5, n = 2000",
        )?;
    }
    Ok(cells)
}

fn over_records(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    let mut cells = Vec::new();
    for records in RECORDS {
        let axis = ("records", records as f64);
        add(
            &mut cells,
            conditions,
            (records, 2500),
            axis,
            "s = 5, p = 2500",
        )?;
    }
    Ok(cells)
}

fn add(
    cells: &mut Vec<Cell>,
    conditions: &Conditions,
    (records, features): (usize, usize),
    axis: (&'static str, f64),
    panel: &str,
) -> Result<(), ExperimentError> {
    if !conditions.admits(records, features) {
        return Ok(());
    }
    for contender in PUBLISHED {
        cells.push(Cell {
            panel: panel.to_owned(),
            contender,
            axis,
            world: paper_world(records, features, 5, 0.001),
            noise: Noise::paper(5, 4.94)?,
            paper: Vec::new(),
            independent: Vec::new(),
            trials: conditions.trials_for(records, features),
        });
    }
    let ours = [CertifiedProcedure::Sieve, CertifiedProcedure::Grad];
    with_ours(cells, panel, axis.1, &ours)
}

fn median(row: &Row) -> f64 {
    row.median.unwrap_or(row.value)
}

fn judge_over_features(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let at = |p: f64| evidence.at("s = 5, n = 2000", "paper-omp", p, "test MSE");
    let (Some(first), Some(last)) = (at(2500.0), at(10_000.0)) else {
        return Verdict::not_run();
    };
    let mse = |row: &Row| shown(median(row), "test MSE");
    let growth = median(last) / median(first);
    let outcome = if growth < 1.1 && median(last) < 0.05 {
        Outcome::Reproduced
    } else {
        Outcome::NotReproduced
    };
    let first_sentence = format!(
        "The median test MSE of OMP goes from {} at p = 2500 to {} at p = 10000, where predicting zero has {}: it is \
         neither constant nor close to zero, because in the only reading that fits Table 1 the response is nearly a \
         sign, which no linear model predicts.",
        mse(first),
        mse(last),
        shown(last.null.unwrap_or(1.0), "test MSE"),
    );
    Verdict::new(
        outcome,
        format!("{first_sentence} {}", evidence.privacy_sentence()),
    )
}

fn judge_over_records(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let at = |series, n: f64| evidence.at("s = 5, p = 2500", series, n, "test MSE");
    let (Some(omp), Some(grad)) = (at("paper-omp", 2000.0), at("paper-grad", 2000.0)) else {
        return Verdict::not_run();
    };
    let close = median(omp).max(median(grad)) < 0.05;
    let mse = |row: &Row| shown(median(row), "test MSE");
    let sentence = format!(
        "At n = 2000 the median test MSE is {} (OMP) and {} (GRAD), not close to zero; predicting zero has {}.",
        mse(omp),
        mse(grad),
        shown(omp.null.unwrap_or(1.0), "test MSE"),
    );
    let beaten: Vec<String> = ["paper-dp-sgd", "paper-dp-gcd"]
        .into_iter()
        .filter_map(|name| at(name, 2000.0))
        .map(|row| format!("{} {}", row.series, mse(row)))
        .collect();
    let beside = if beaten.is_empty() {
        String::new()
    } else {
        format!(" The baselines have {} there.", beaten.join(" and "))
    };
    let outcome = if close {
        Outcome::Reproduced
    } else {
        Outcome::NotReproduced
    };
    Verdict::new(outcome, sentence + &beside)
}
