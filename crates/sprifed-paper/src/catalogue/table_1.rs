//! Table 1: what fresh low noise on the chosen features is worth.

use sprifed_recovery::CertifiedProcedure;

use super::recovery::{paper_world, with_ours};
use super::{ERRORS, READING, RECOVERED};
use crate::cell::{Cell, Noise, PaperSays};
use crate::contender::Contender;
use crate::experiment::{Conditions, Experiment, ExperimentError, Work};
use crate::method::PaperAlgorithm;
use crate::numbers::shown;
use crate::row::Row;
use crate::verdict::{Evidence, Outcome, Verdict, distance, with_error};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "table-1",
    title: "Table 1: Enhancement 1, fresh low noise for the chosen features",
    claim: "Without Enhancement 1 (paper-omp-reuse, “high noise”) both the test error and the number of features found get worse at \
            every n, at a guarantee of (5.74, 1e-4).",
    setting: READING,
    work: Work::Cells(cells),
    figures: &[RECOVERED, ERRORS],
    metrics: &["recovered", "test MSE"],
    judge,
};

const PANEL: &str = "p = 10000, s = 10";

/// n; then for low and for high noise: the paper's MSE and recovery, the independent simulation's.
type Line = (usize, [(f64, f64, f64, f64); 2]);

const LINES: [Line; 3] = [
    (2000, [(0.83, 1.0, 0.94, 1.10), (335.84, 0.0, 11.0, 0.72)]),
    (4000, [(0.52, 2.67, 0.53, 4.35), (6.45, 1.67, 1.31, 3.73)]),
    (8000, [(0.35, 7.67, 0.343, 7.55), (0.77, 5.67, 0.42, 7.45)]),
];

fn cells(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    let mut cells = Vec::new();
    for (records, numbers) in LINES {
        if !conditions.admits(records / 2, 10_000) {
            continue;
        }
        let world = paper_world(records, 10_000, 10, 0.001);
        let algorithms = [PaperAlgorithm::Omp, PaperAlgorithm::OmpReusing];
        for (algorithm, (mse, found, other_mse, other_found)) in algorithms.into_iter().zip(numbers)
        {
            cells.push(Cell {
                panel: PANEL.to_owned(),
                contender: Contender::Paper(algorithm),
                axis: ("records", records as f64),
                world,
                noise: Noise::paper(10, 5.74)?,
                paper: vec![
                    ("recovered", PaperSays::Exactly(found)),
                    ("test MSE", PaperSays::Exactly(mse)),
                ],
                independent: vec![("recovered", other_found), ("test MSE", other_mse)],
                trials: conditions.trials_for(records, 10_000),
            });
        }
        let ours = [CertifiedProcedure::SIEVE, CertifiedProcedure::GRAD];
        with_ours(&mut cells, PANEL, records as f64, &ours)?;
    }
    Ok(cells)
}

fn judge(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let pair = |records: f64, metric: &str| {
        let low = evidence.at(PANEL, "paper-omp", records, metric)?;
        let high = evidence.at(PANEL, "paper-omp-reuse", records, metric)?;
        Some((low, high))
    };
    let mut worse_errors = Vec::new();
    for (records, _) in LINES {
        let Some((low, high)) = pair(records as f64, "test MSE") else {
            return Verdict::not_run();
        };
        worse_errors.push(low.median < high.median);
    }
    let Some((low, high)) = pair(8000.0, "recovered") else {
        return Verdict::not_run();
    };
    let finds_more = distance(low, high) > 2.0;
    let median = |row: Option<(&Row, &Row)>| {
        let (low, high) = row.map_or((None, None), |(low, high)| (low.median, high.median));
        let number = |value: Option<f64>| value.map_or("–".to_owned(), |v| shown(v, "test MSE"));
        (number(low), number(high))
    };
    let (low_mse, high_mse) = median(pair(8000.0, "test MSE"));
    let outcome = match (worse_errors.iter().all(|worse| *worse), finds_more) {
        (true, true) => Outcome::Reproduced,
        (true, false) => Outcome::OnlyIf,
        _ => Outcome::NotReproduced,
    };
    let found = format!("{} against {}", with_error(low), with_error(high));
    let sentence = match outcome {
        Outcome::Reproduced => format!(
            "Reproduced in this reading: at n = 8000 the median test MSE is {low_mse} with fresh noise and \
             {high_mse} without, and {found} features are found."
        ),
        Outcome::OnlyIf => format!(
            "Reproduced for the error only, in this reading: at n = 8000 the median test MSE is {low_mse} with \
             fresh noise and {high_mse} without, but the features found do not differ ({found})."
        ),
        _ => format!(
            "Not reproduced: the median test MSE at n = 8000 is {low_mse} with fresh noise and {high_mse} without."
        ),
    };
    Verdict::new(
        outcome,
        format!("{sentence} {}", evidence.privacy_sentence()),
    )
}
