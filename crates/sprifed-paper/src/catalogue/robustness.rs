//! What correlation between features does to each procedure.

use sprifed_report::chart::Scale;
use sprifed_simulate::Reference;
use sprifed_simulate::{Correlation, WorldRequest};

use crate::cell::{Cell, Noise};

use crate::chart::{Drawn, Figure};
use crate::contender::Contender;
use crate::experiment::{Conditions, Experiment, ExperimentError, Work};
use crate::row::Row;
use crate::verdict::{Evidence, Outcome, Verdict, with_error};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "robustness",
    title: "Robustness to correlated features",
    claim: "Ours: how much of the support is found when neighbouring features are correlated?",
    setting: "p = 2500, s = 5, n = 1500, ε = 5.34 at δ = 1e-4 under zero-out, error 0.1. Neighbours at distance d have correlation ρ^d; in \
              the second panel every two features have the same correlation.",
    work: Work::Cells(cells),
    figures: &[Figure {
        metric: "recovered",
        vertical: "features found",
        drawn: Drawn::Mean,
        across: Scale::Linear,
        up: Scale::Linear,
    }],
    metrics: &["recovered", "test R2"],
    judge,
};

const NEIGHBOURS: &str = "neighbours";

fn cells(conditions: &Conditions) -> Result<Vec<Cell>, ExperimentError> {
    let mut cells = Vec::new();
    let mut designs = vec![(NEIGHBOURS, 0.0, Correlation::None)];
    designs.extend([0.5, 0.9].map(|by| (NEIGHBOURS, by, Correlation::Autoregressive(by))));
    designs.extend([0.3, 0.6].map(|by| ("all equal", by, Correlation::Equal(by))));
    for (panel, by, correlation) in designs {
        let world = WorldRequest {
            correlation,
            ..WorldRequest::clean(1500, 2500, 5)
        };
        let base = |contender, noise| Cell {
            panel: panel.to_owned(),
            contender,
            axis: ("correlation", by),
            world,
            noise,
            paper: Vec::new(),
            independent: Vec::new(),
            trials: conditions.trials_for(world.records, world.features),
        };
        for contender in Contender::CERTIFIED {
            cells.push(base(contender, Noise::certified(5.34)?));
        }
        cells.push(base(Contender::NonPrivate(Reference::Omp), Noise::Absent));
    }
    Ok(cells)
}

fn judge(rows: &[Row]) -> Verdict {
    let evidence = Evidence(rows);
    let at = |series| evidence.at(NEIGHBOURS, series, 0.9, "recovered");
    let (Some(argmax), Some(grad), Some(sieve)) = (at("argmax"), at("grad"), at("sieve")) else {
        return Verdict::not_run();
    };
    Verdict::new(
        Outcome::Ours,
        format!(
            "At ρ = 0.9 argmax finds {} of 5, certified GRAD {} and the sieve {}. With nearly copied neighbours use the first two.",
            with_error(argmax),
            with_error(grad),
            with_error(sieve)
        ),
    )
}
