//! MADELON with the paper's settings.

use super::survival::{Problem, SETTING, entrants, judge_scores};
use crate::experiment::{Experiment, ExperimentError, Session, Work};
use crate::real::{Split, madelon, score_entrants};
use crate::row::Row;
use crate::verdict::Verdict;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "madelon",
    title: "MADELON: test error",
    claim: "With 300 records of 500 features at (8.38, 1e-3) the test MSE is 0.27 for SPriFed-OMP-GRAD, 1.55 for SPriFed-OMP, 1.23 for DP-GCD and \
            105.73 for DP-SGD.",
    setting: SETTING,
    work: Work::OnData(measure),
    figures: &[],
    metrics: &["test MSE", "test R2"],
    judge,
};

fn measure(session: &mut Session<'_>) -> Result<(), ExperimentError> {
    let Some(folder) = session.conditions.data.clone() else {
        return Ok(());
    };
    let (train, valid) = madelon(&folder.join("madelon"))?;
    let problem = Problem {
        name: "madelon",
        papers: [1.55, 0.27, 1.23, 105.73],
        response: (0.0, 1.0),
        public: (0.0, 999.0),
        split: Box::new(move |seed| {
            let order = sprifed_simulate::shuffled(train.n_records(), seed);
            Split {
                train: train.rows(&order[..300.min(order.len())]),
                test: valid.clone(),
            }
        }),
    };
    let trials = session.conditions.trials_for(300, 500);
    score_entrants(session, &entrants(&problem)?, trials)
}

fn judge(rows: &[Row]) -> Verdict {
    judge_scores(rows, &["madelon"])
}
