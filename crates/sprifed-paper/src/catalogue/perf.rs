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
    let ours = [CertifiedProcedure::SIEVE, CertifiedProcedure::GRAD];
    with_ours(cells, panel, axis.1, &ours)
}

fn median(row: &Row) -> f64 {
    row.median.unwrap_or(row.value)
}

/// The baselines of the paper at this place, as a sentence.
fn baselines(evidence: Evidence<'_>, panel: &str, x: f64) -> String {
    let found: Vec<String> = ["paper-dp-gcd", "paper-dp-sgd"]
        .into_iter()
        .filter_map(|series| evidence.at(panel, series, x, "test MSE"))
        .map(|row| format!("{} {}", row.series, shown(median(row), "test MSE")))
        .collect();
    format!(
        "The paper's baselines, with its noise and parameters that suit them, have {} there.",
        found.join(" and ")
    )
}

fn judge_over_features(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let panel = "s = 5, n = 2000";
    let at = |p: f64| evidence.at(panel, "paper-omp", p, "test MSE");
    let (Some(first), Some(last)) = (at(2500.0), at(10_000.0)) else {
        return Verdict::not_run();
    };
    let mse = |row: &Row| shown(median(row), "test MSE");
    let is_constant = median(last) / median(first) < 1.1;
    let is_close = median(last) < CLOSE_TO_ZERO;
    let outcome = if is_constant && is_close {
        Outcome::Reproduced
    } else {
        Outcome::NotReproduced
    };
    let first_sentence = format!(
        "The median test MSE of OMP goes from {} at p = 2500 to {} at p = 10000, where predicting zero has {}: in the only reading that fits \
         Table 1 the response is nearly a sign, which no linear model predicts closely.",
        mse(first),
        mse(last),
        shown(last.null.unwrap_or(1.0), "test MSE"),
    );
    Verdict::new(
        outcome,
        format!("{first_sentence} {}", baselines(evidence, panel, 10_000.0)),
    )
}

fn judge_over_records(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let panel = "s = 5, p = 2500";
    let at = |series, n: f64| evidence.at(panel, series, n, "test MSE");
    let (Some(omp), Some(grad)) = (at("paper-omp", 2000.0), at("paper-grad", 2000.0)) else {
        return Verdict::not_run();
    };
    let is_close = median(omp).max(median(grad)) < CLOSE_TO_ZERO;
    let beats = |n: &usize| {
        let of = |series| at(series, *n as f64).map(median);
        let best = of("paper-omp")
            .into_iter()
            .chain(of("paper-grad"))
            .fold(f64::INFINITY, f64::min);
        let others = of("paper-dp-gcd").into_iter().chain(of("paper-dp-sgd"));
        others.fold(f64::INFINITY, f64::min) > best
    };
    let always = RECORDS.iter().all(beats);
    let mse = |row: &Row| shown(median(row), "test MSE");
    let sentence = format!(
        "At n = 2000 the median test MSE is {} (OMP) and {} (GRAD), where predicting zero has {}: not close to zero.",
        mse(omp),
        mse(grad),
        shown(omp.null.unwrap_or(1.0), "test MSE"),
    );
    let outcome = if is_close && always {
        Outcome::Reproduced
    } else {
        Outcome::NotReproduced
    };
    Verdict::new(
        outcome,
        format!("{sentence} {}", baselines(evidence, panel, 2000.0)),
    )
}

/// What may be called close to zero where predicting zero has one.
const CLOSE_TO_ZERO: f64 = 0.05;
