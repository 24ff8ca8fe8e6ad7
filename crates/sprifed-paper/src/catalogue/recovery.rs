//! The figures of features found over n, for s = 5 and s = 10 and p up to 40,000.

use sprifed_recovery::CertifiedProcedure;
use sprifed_simulate::Reference;
use sprifed_simulate::{Correlation, Reading, Unexplained, WorldRequest, WorldSites};

use super::{READING, RECOVERED};
use crate::cell::{Cell, Noise, PaperSays};
use crate::contender::Contender;
use crate::experiment::{Conditions, Experiment, ExperimentError, Work};
use crate::label::Label;
use crate::method::PaperAlgorithm;
use crate::row::Row;
use crate::verdict::{Evidence, Outcome, Verdict, distance, with_error};

const BASE: Experiment = Experiment {
    name: "",
    title: "",
    claim: "",
    setting: READING,
    work: Work::Cells(five_small),
    figures: &[RECOVERED],
    metrics: &["recovered", "test MSE"],
    judge: judge_claim,
};

pub(super) const FIVE_SMALL: Experiment = Experiment {
    name: "recovery-s5-a",
    title: "Features found, s = 5, p = 2500",
    claim: "SPriFed-OMP-GRAD finds 3+ of 5 features at n = 2000, at (4.94, 1e-4). DP-SGD finds none.",
    work: Work::Cells(five_small),
    ..BASE
};

pub(super) const FIVE_LARGE: Experiment = Experiment {
    name: "recovery-s5-b",
    title: "Features found, s = 5, p = 10000",
    claim: "n = 2000 still suffices to find 3 of 5 features, at (4.94, 1e-4).",
    work: Work::Cells(five_large),
    ..BASE
};

pub(super) const TEN_SMALL: Experiment = Experiment {
    name: "recovery-s10-a",
    title: "Features found, s = 10, p = 2500",
    claim: "n = 2000 suffices to find 7+ of 10 features, at (5.34, 1e-4).",
    work: Work::Cells(ten_small),
    ..BASE
};

pub(super) const TEN_LARGE: Experiment = Experiment {
    name: "recovery-s10-b",
    title: "Features found, s = 10, p = 10000",
    claim: "Four times the features need only twice the records: 7+ of 10 at n = 4000, at (5.34, 1e-4).",
    work: Work::Cells(ten_large),
    ..BASE
};

pub(super) const TEN_LARGEST: Experiment = Experiment {
    name: "recovery-s10-c",
    title: "Features found, s = 10, p = 20000 and 40000, error 0.1",
    claim: "n = 8000 suffices to find 7+ of 10 features at both p; and an error of 0.1 instead of 0.001 hurts SPriFed-OMP most.",
    work: Work::Cells(ten_largest),
    judge: judge_largest,
    ..BASE
};

const OMP: Contender = Contender::Paper(PaperAlgorithm::Omp);
const GRAD: Contender = Contender::Paper(PaperAlgorithm::Grad);

/// What the paper's figures compare, with the paper's noise.
pub(super) const PUBLISHED: [Contender; 4] =
    [OMP, GRAD, Contender::PaperDpGcd, Contender::PaperDpSgd];

const RECORDS: [usize; 5] = [500, 1000, 2000, 4000, 8000];

const OURS: [CertifiedProcedure; 3] = [
    CertifiedProcedure::ARGMAX,
    CertifiedProcedure::SIEVE,
    CertifiedProcedure::GRAD,
];

/// A world in the paper's reading.
pub(super) const fn paper_world(
    records: usize,
    features: usize,
    sparsity: usize,
    error: f64,
) -> WorldRequest {
    WorldRequest {
        records,
        test_records: 1000,
        features,
        sparsity,
        support: sparsity,
        correlation: Correlation::None,
        unexplained: Unexplained::ErrorStdDev(error),
        reading: Reading::Paper,
        outcome: sprifed_simulate::WorldOutcome::Linear,
        sites: WorldSites::NONE,
    }
}

/// Adds ours and the non-private reference to the world of the last cell, at the ε that the paper's
/// noise delivers there.
pub(super) fn with_ours(
    cells: &mut Vec<Cell>,
    panel: &str,
    x: f64,
    procedures: &[CertifiedProcedure],
) -> Result<(), ExperimentError> {
    let Some(last) = cells.last().cloned() else {
        return Ok(());
    };
    let epsilon = Label::delivered(last.world.sparsity)?;
    let like_last = |contender, noise| Cell {
        panel: panel.to_owned(),
        contender,
        axis: (last.axis.0, x),
        noise,
        paper: Vec::new(),
        independent: Vec::new(),
        ..last.clone()
    };
    for procedure in procedures {
        let noise = Noise::certified(epsilon)?;
        cells.push(like_last(Contender::Certified(*procedure), noise));
    }
    cells.push(like_last(
        Contender::NonPrivate(Reference::Omp),
        Noise::Absent,
    ));
    Ok(())
}

/// What the paper and the independent simulation say of GRAD and OMP at one n.
struct Known {
    records: usize,
    paper: Option<PaperSays>,
    grad: f64,
    omp: f64,
}

struct Sweep<'a> {
    features: usize,
    sparsity: usize,
    error: f64,
    claimed: f64,
    records: &'a [usize],
    known: &'a [Known],
    published: &'a [Contender],
    ours: &'a [CertifiedProcedure],
}

impl Sweep<'_> {
    fn cells(&self, conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
        let panel = format!(
            "p = {}, s = {}, error {}",
            self.features, self.sparsity, self.error
        );
        let mut cells = Vec::new();
        for records in self.records {
            if !conditions.admits(*records, self.features) {
                continue;
            }
            let known = self.known.iter().find(|known| known.records == *records);
            for contender in self.published {
                let contender = *contender;
                let is_grad = contender == GRAD;
                let independent = match contender {
                    GRAD => known.map(|known| known.grad),
                    OMP => known.map(|known| known.omp),
                    _ => None,
                };
                let paper = known.and_then(|known| known.paper).filter(|_| is_grad);
                cells.push(Cell {
                    panel: panel.clone(),
                    contender,
                    axis: ("records", *records as f64),
                    world: paper_world(*records, self.features, self.sparsity, self.error),
                    noise: Noise::paper(self.sparsity, self.claimed)?,
                    paper: paper.map(|says| ("recovered", says)).into_iter().collect(),
                    independent: independent
                        .map(|value| ("recovered", value))
                        .into_iter()
                        .collect(),
                    trials: conditions.trials_for(*records, self.features),
                });
            }
            with_ours(&mut cells, &panel, *records as f64, self.ours)?;
        }
        Ok(cells)
    }
}

const fn known(records: usize, says: PaperSays, grad: f64, omp: f64) -> Known {
    Known {
        records,
        paper: Some(says),
        grad,
        omp,
    }
}

fn five_small(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    Sweep {
        features: 2500,
        sparsity: 5,
        error: 0.001,
        claimed: 4.94,
        records: &RECORDS,
        known: &[known(2000, PaperSays::AtLeast(3.0), 4.35, 3.98)],
        published: &PUBLISHED,
        ours: &OURS,
    }
    .cells(conditions)
}

fn five_large(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    Sweep {
        features: 10_000,
        sparsity: 5,
        error: 0.001,
        claimed: 4.94,
        records: &RECORDS,
        known: &[known(2000, PaperSays::Exactly(3.0), 3.02, 2.05)],
        published: &PUBLISHED,
        ours: &OURS[1..],
    }
    .cells(conditions)
}

fn ten_small(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    Sweep {
        features: 2500,
        sparsity: 10,
        error: 0.001,
        claimed: 5.34,
        records: &RECORDS,
        known: &[known(2000, PaperSays::AtLeast(7.0), 6.85, 4.83)],
        published: &PUBLISHED,
        ours: &OURS,
    }
    .cells(conditions)
}

fn ten_large(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    Sweep {
        features: 10_000,
        sparsity: 10,
        error: 0.001,
        claimed: 5.34,
        records: &RECORDS,
        known: &[known(4000, PaperSays::AtLeast(7.0), 6.83, 4.35)],
        published: &PUBLISHED,
        ours: &OURS[1..],
    }
    .cells(conditions)
}

/// p up to 40000 with error 0.1, and p = 10000 with the smaller error too, to separate the effects
/// of p and the error.
fn ten_largest(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    let at_least = |grad, omp| [known(8000, PaperSays::AtLeast(7.0), grad, omp)];
    let (twenty, forty) = (at_least(7.69, 6.00), at_least(6.62, 3.92));
    let sweeps: [(usize, f64, &[Known]); 4] = [
        (10_000, SMALL_ERROR, &[]),
        (10_000, LARGE_ERROR, &[]),
        (20_000, LARGE_ERROR, &twenty),
        (40_000, LARGE_ERROR, &forty),
    ];
    let mut cells = Vec::new();
    for (features, error, known) in sweeps {
        let sweep = Sweep {
            features,
            sparsity: 10,
            error,
            claimed: 5.34,
            records: &[8000],
            known,
            published: &PUBLISHED[..3],
            ours: &OURS[1..2],
        };
        cells.extend(sweep.cells(conditions)?.into_iter().map(|cell| Cell {
            panel: error_panel(error),
            axis: ("features", features as f64),
            ..cell
        }));
    }
    Ok(cells)
}

const SMALL_ERROR: f64 = 0.001;
const LARGE_ERROR: f64 = 0.1;

fn error_panel(error: f64) -> String {
    format!("s = 10, n = 8000, error {error}")
}

/// The claim is the paper's bound or value on features found by GRAD.
fn judge_claim(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let claimed: Vec<&Row> = evidence
        .of("recovered")
        .filter(|row| row.paper.is_some())
        .collect();
    let Some(row) = claimed.first() else {
        return Verdict::not_run();
    };
    let (agree, all) = evidence.agreement_with_paper("recovered");
    let same = |series: &str| evidence.at(&row.panel, series, row.x, "recovered");
    let beside: Vec<String> = ["paper-omp", "paper-dp-gcd", "sieve"]
        .into_iter()
        .filter_map(same)
        .map(|row| format!("{} {}", row.series, with_error(row)))
        .collect();
    let (found, records) = (with_error(row), row.x);
    let beside = beside.join(", ");
    let (outcome, start) = if agree == all {
        (
            Outcome::OnlyIf,
            "Reproduced only if the data are read as the setting says",
        )
    } else {
        (
            Outcome::NotReproduced,
            "Not reproduced even if the data are read as the setting says",
        )
    };
    let descent = same("paper-dp-sgd").map_or_else(String::new, |row| {
        format!(
            "; DP-SGD, which finds none in the paper, finds {}",
            with_error(row)
        )
    });
    let first = format!(
        "{start}: GRAD as published finds {found} at n = {records} (beside it {beside}, ours at the ε that the paper's OMP delivers{descent})."
    );
    Verdict::new(outcome, format!("{first} {}", evidence.privacy_sentence()))
}

/// The first claim as above; the second by comparing the two errors at the same p.
fn judge_largest(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let omp = |error: f64| evidence.at(&error_panel(error), "paper-omp", 10_000.0, "recovered");
    let claimed: Vec<&Row> = evidence
        .of("recovered")
        .filter(|row| row.paper.is_some())
        .collect();
    let (Some(small), Some(large), [_, ..]) =
        (omp(SMALL_ERROR), omp(LARGE_ERROR), claimed.as_slice())
    else {
        return Verdict::not_run();
    };
    let (agree, all) = evidence.agreement_with_paper("recovered");
    let hurts = distance(small, large) > 2.0;
    let found: Vec<String> = claimed.iter().map(|row| with_error(row)).collect();
    let first = format!(
        "GRAD finds {} at p = 20000 and 40000 with n = 8000, where the paper says 7+.",
        found.join(" and ")
    );
    let second = format!(
        "With p = 10000 and n = 8000 kept, OMP finds {} at error 0.001 and {} at error 0.1: {}",
        with_error(small),
        with_error(large),
        if hurts {
            "the error does hurt it."
        } else {
            "the error is not the cause of the drop, the number of features is."
        }
    );
    let outcome = match (agree == all, hurts) {
        (true, true) => Outcome::Reproduced,
        (true, false) => Outcome::OnlyIf,
        _ => Outcome::NotReproduced,
    };
    Verdict::new(outcome, format!("{first} {second}"))
}
