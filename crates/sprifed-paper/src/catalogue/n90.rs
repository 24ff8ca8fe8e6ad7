//! How many records each procedure needs at the same delivered budget.

use sprifed_recovery::CertifiedProcedure;
use sprifed_report::chart::Scale;
use sprifed_simulate::Reference;
use sprifed_simulate::WorldRequest;

use crate::cell::{Cell, Noise};
use crate::comparison::{DP_GCD, DP_SGD, HONEST_GRAD, HONEST_OMP};

use crate::chart::{Drawn, Figure};
use crate::contender::Contender;
use crate::experiment::{Conditions, Experiment, ExperimentError, Session, Size, Work};
use crate::row::Row;
use crate::verdict::{Evidence, Outcome, Verdict, with_error};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "n90",
    title: "Records needed to find nine tenths of the features, at equal delivered ε",
    claim: "Ours: with the same ε really delivered (δ = 1e-4, zero-out), how many records does each procedure need?",
    setting: "Features N(0, 1), coefficients N(2, 1) on a random support, error 0.1. Each procedure is tried at numbers of records a \
              factor 1.25 apart, starting near what was known; n90 is interpolated between the two that enclose 90 %. Error bars: \
              the trials' standard errors carried over the slope between these two, so where that is flat n90 is uncertain. At p = 10000 the paper's algorithms and the baselines need more records than the search holds in memory, \
              so they are run at p = 2500 only.",
    work: Work::Own(measure),
    figures: &[Figure {
        metric: "recovered",
        vertical: "features found",
        drawn: Drawn::Mean,
        across: Scale::Logarithmic,
        up: Scale::Linear,
    }],
    metrics: &["n90"],
    judge,
};

struct Question {
    features: usize,
    sparsity: usize,
    epsilon: f64,
    /// The contenders, and where the search starts.
    starts: &'static [(Contender, usize)],
}

const fn certified(procedure: CertifiedProcedure) -> Contender {
    Contender::Certified(procedure)
}

const QUESTIONS: [Question; 3] = [
    Question {
        features: 2500,
        sparsity: 5,
        epsilon: 5.34,
        starts: &[
            (Contender::NonPrivate(Reference::Omp), 40),
            (certified(CertifiedProcedure::ARGMAX), 100),
            (certified(CertifiedProcedure::SIEVE), 478),
            (certified(CertifiedProcedure::GRAD), 500),
            (certified(HONEST_GRAD), 2800),
            (certified(HONEST_OMP), 4500),
            (certified(DP_GCD), 1600),
            (certified(DP_SGD), 1600),
        ],
    },
    Question {
        features: 2500,
        sparsity: 5,
        epsilon: 1.0,
        starts: &[
            (certified(CertifiedProcedure::ARGMAX), 450),
            (certified(CertifiedProcedure::SIEVE), 1800),
            (certified(CertifiedProcedure::GRAD), 2050),
            (certified(HONEST_GRAD), 17_000),
            (certified(HONEST_OMP), 22_000),
            (certified(DP_GCD), 8000),
            (certified(DP_SGD), 8000),
        ],
    },
    Question {
        features: 10_000,
        sparsity: 10,
        epsilon: 5.34,
        starts: &[
            (Contender::NonPrivate(Reference::Omp), 95),
            (certified(CertifiedProcedure::ARGMAX), 260),
            (certified(CertifiedProcedure::SIEVE), 1400),
            (certified(CertifiedProcedure::GRAD), 1400),
        ],
    },
];

fn measure(session: &mut Session<'_>) -> Result<(), ExperimentError> {
    let conditions = session.conditions.clone();
    for question in QUESTIONS {
        let Question {
            features,
            sparsity,
            epsilon,
            starts,
        } = question;
        let panel = format!("p = {features}, s = {sparsity}, ε = {epsilon}");
        for (contender, start) in starts {
            if conditions.size == Size::Quick && (features > 2500 || *start > 500) {
                continue;
            }
            let at = |records: usize| {
                cell(
                    &conditions,
                    &panel,
                    *contender,
                    (records, features, sparsity),
                    epsilon,
                )
            };
            session.find_n90(*start, &at)?;
        }
    }
    Ok(())
}

fn cell(
    conditions: &Conditions,
    panel: &str,
    contender: Contender,
    (records, features, sparsity): (usize, usize, usize),
    epsilon: f64,
) -> Result<Cell, ExperimentError> {
    let noise = match contender {
        Contender::NonPrivate(Reference::Omp) => Noise::Absent,
        _ => Noise::certified(epsilon)?,
    };
    Ok(Cell {
        panel: panel.to_owned(),
        contender,
        axis: ("records", records as f64),
        world: WorldRequest::clean(records, features, sparsity),
        noise,
        paper: Vec::new(),
        independent: Vec::new(),
        trials: trials_for(conditions, records * features),
    })
}

/// More trials than elsewhere: a number of records is read off the slope between two shares.
fn trials_for(conditions: &Conditions, values: usize) -> u64 {
    match (conditions.trials, conditions.size, values) {
        (None, Size::Full, ..=4_000_000) => 30,
        (None, Size::Full, ..=15_000_000) => 20,
        _ => conditions.trials_for(values, 1),
    }
}

fn judge(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let panel = "p = 2500, s = 5, ε = 5.34";
    let needed = |series: &str| evidence.at(panel, series, 0.0, "n90");
    let (Some(argmax), Some(sieve), Some(honest)) =
        (needed("argmax"), needed("sieve"), needed("honest-grad"))
    else {
        return Verdict::not_run();
    };
    let number = with_error;
    Verdict::new(
        Outcome::Ours,
        format!(
            "At p = 2500, s = 5 and ε = 5.34 the sieve needs {} records and argmax (trusted curator) {}, where the paper's GRAD \
             with certified noise needs {}. All of them deliver the ε that they claim.",
            number(sieve),
            number(argmax),
            number(honest)
        ),
    )
}
