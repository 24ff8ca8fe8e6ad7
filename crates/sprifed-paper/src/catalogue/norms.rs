//! The figure for Enhancement 2: how large correlations and gradients are, iteration by iteration.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sprifed_query::{LinearModel, Records};
use sprifed_recovery::{correlate, non_private_omp};
use sprifed_report::chart::Scale;
use sprifed_simulate::World;

use super::READING;
use super::recovery::paper_world;
use crate::method::MethodError;

use crate::chart::{Drawn, Figure};
use crate::experiment::{Experiment, ExperimentError, Session, Work};
use crate::label::NO_NOISE;
use crate::row::Row;
use crate::verdict::{Evidence, Outcome, Verdict, with_error};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "norms",
    title: "Enhancement 2: norms of correlations and gradients over iterations",
    claim: "In matching pursuit without noise the norm of the gradient falls over iterations, the norm of XᵀX_j stays constant, and only \
            |X_jᵀy| of the newly chosen feature falls with it: gradients may be clipped more tightly.",
    setting: READING,
    work: Work::Own(measure),
    figures: &[Figure {
        metric: "norm",
        vertical: "norm divided by n",
        drawn: Drawn::Mean,
        across: Scale::Linear,
        up: Scale::Logarithmic,
    }],
    metrics: &["norm"],
    judge,
};

const PANEL: &str = "p = 2500, s = 10, n = 2000";
const RECORDS: usize = 2000;
const FEATURES: usize = 2500;
const SPARSITY: usize = 10;
const SERIES: [&str; 4] = ["gradient", "X'X_j", "X_j'y", "X'y"];

fn measure(session: &mut Session<'_>) -> Result<(), ExperimentError> {
    let trials = session.conditions.trials_for(RECORDS, FEATURES);
    let blank = |session: &Session<'_>, series: &str, iteration: usize| Row {
        axis: "iteration".to_owned(),
        x: iteration as f64,
        metric: "norm".to_owned(),
        trials,
        privacy: NO_NOISE.to_owned(),
        settings: format!(
            "n={RECORDS} p={FEATURES} s={SPARSITY} error=0.001 reading=paper no noise"
        ),
        ..session.row(PANEL, series)
    };
    if session
        .store
        .known(&blank(session, SERIES[0], SPARSITY))
        .is_some()
    {
        return Ok(());
    }
    let seed = session.conditions.seed;
    let norms = (0..trials)
        .into_par_iter()
        .map(|trial| norms_of(seed.wrapping_add(trial)))
        .collect::<Result<Vec<_>, MethodError>>()?;
    let mut rows = Vec::new();
    for (index, series) in SERIES.into_iter().enumerate() {
        for iteration in 1..=SPARSITY {
            let values: Vec<f64> = norms
                .iter()
                .map(|trial| trial[iteration - 1][index])
                .collect();
            rows.push(blank(session, series, iteration).with_trials(&values));
        }
    }
    (session.watch)(&format!("norms: {trials} trials"));
    session.store.add(rows)
}

/// For each iteration: the norms of the gradient before the pick, of XᵀX_j, |X_jᵀy|, and of Xᵀy.
fn norms_of(seed: u64) -> Result<Vec<[f64; 4]>, MethodError> {
    let world = World::generate(paper_world(RECORDS, FEATURES, SPARSITY, 0.001), seed);
    let records = Records::each_a_unit(world.features(), world.responses(), FEATURES)?;
    let responses: Vec<f64> = world.responses().iter().map(|y| f64::from(*y)).collect();
    let along = |weights: &[f64]| correlate(world.features(), weights, FEATURES);
    let response_correlations = along(&responses);
    let picks = non_private_omp(&records, SPARSITY).model.support();
    let mut model = LinearModel {
        intercept: 0.0,
        terms: Vec::new(),
    };
    let mut norms = Vec::new();
    for (index, feature) in picks.iter().enumerate() {
        let residuals: Vec<f64> = records
            .iter()
            .map(|record| model.residual(record))
            .collect();
        let column: Vec<f64> = records
            .iter()
            .map(|record| f64::from(record.features[*feature as usize]))
            .collect();
        norms.push(
            [
                norm(&along(&residuals)),
                norm(&along(&column)),
                response_correlations[*feature as usize].abs(),
                norm(&response_correlations),
            ]
            .map(|norm| norm / RECORDS as f64),
        );
        // The picks of fewer iterations are the first ones of more.
        model = non_private_omp(&records, index + 1).model;
    }
    Ok(norms)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn judge(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let ends = |series: &str| {
        let first = evidence.at(PANEL, series, 1.0, "norm")?;
        let last = evidence.at(PANEL, series, SPARSITY as f64, "norm")?;
        Some((first, last))
    };
    let (Some(gradient), Some(columns), Some(chosen)) =
        (ends("gradient"), ends("X'X_j"), ends("X_j'y"))
    else {
        return Verdict::not_run();
    };
    let falls = |(first, last): (&Row, &Row)| last.value < 0.9 * first.value;
    let constant = |(first, last): (&Row, &Row)| (last.value / first.value - 1.0).abs() < 0.1;
    let holds = falls(gradient) && constant(columns) && falls(chosen);
    let outcome = if holds {
        Outcome::Reproduced
    } else {
        Outcome::NotReproduced
    };
    let from_to =
        |(first, last): (&Row, &Row)| format!("from {} to {}", with_error(first), with_error(last));
    Verdict::new(
        outcome,
        format!(
            "Divided by n, the gradient's norm goes {}, that of XᵀX_j {} and |X_jᵀy| {} over ten iterations. This is about \
             sums over all records: how tightly one record's gradient may be clipped does not follow from it.",
            from_to(gradient),
            from_to(columns),
            from_to(chosen)
        ),
    )
}
