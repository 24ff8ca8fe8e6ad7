//! The contenders on real data, over trials, with rows that are kept and resumed like all others.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::Prepared;
use super::prepared::Score;
use crate::cell::PaperSays;
use crate::experiment::{ExperimentError, Session};
use crate::label::Label;
use crate::method::{AnyMethod, MethodError};
use crate::row::Row;

/// One line of a table on real data.
pub(crate) struct Entrant<'a> {
    pub(crate) panel: String,
    pub(crate) series: String,
    /// The ε that it is run at, for the axis.
    pub(crate) x: f64,
    pub(crate) sparsity: usize,
    pub(crate) label: Label,
    pub(crate) paper: Option<f64>,
    pub(crate) settings: String,
    /// The records of a trial, made ready, and how they are fitted.
    #[expect(clippy::type_complexity, reason = "one closure, used once")]
    pub(crate) prepare: Box<dyn Fn(u64) -> Result<(Prepared, AnyMethod), MethodError> + Sync + 'a>,
}

/// Scores those that the store does not know yet, with `trials` trials each.
pub(crate) fn score_entrants(
    session: &mut Session<'_>,
    entrants: &[Entrant<'_>],
    trials: u64,
) -> Result<(), ExperimentError> {
    for entrant in entrants {
        let blank = |metric: &str| Row {
            axis: "ε".to_owned(),
            x: entrant.x,
            metric: metric.to_owned(),
            trials,
            settings: entrant.settings.clone(),
            ..session.row(&entrant.panel, &entrant.series)
        };
        let (mse, r2) = (blank("test MSE"), blank("test R2"));
        if session.store.known(&mse).is_some() && session.store.known(&r2).is_some() {
            continue;
        }
        let seed = session.conditions.seed;
        let scores = (0..trials)
            .into_par_iter()
            .map(|trial| {
                let seed = seed.wrapping_add(trial);
                let (prepared, method) = (entrant.prepare)(seed)?;
                prepared.score(&method, entrant.sparsity, seed ^ 0x5EED_0F02)
            })
            .collect::<Result<Vec<Score>, MethodError>>()
            .map_err(|source| ExperimentError::Trial {
                cell: format!("{} | {}", entrant.panel, entrant.series),
                source,
            })?;
        let errors: Vec<f64> = scores.iter().map(|score| score.mse).collect();
        let shares: Vec<f64> = scores
            .iter()
            .map(|score| 1.0 - score.mse / score.null)
            .collect();
        let null = scores.iter().map(|score| score.null).sum::<f64>() / scores.len().max(1) as f64;
        let mse = Row {
            null: Some(null),
            ..mse
        }
        .with_trials(&errors)
        .with_paper(entrant.paper.map(PaperSays::Exactly))
        .with_label(&entrant.label);
        let r2 = Row {
            null: Some(0.0),
            ..r2
        }
        .with_trials(&shares)
        .with_label(&entrant.label);
        (session.watch)(&format!(
            "{} | {} | {}: MSE {:.4} (null {null:.4}), median R2 {:.3} in {trials} trials",
            mse.experiment,
            mse.panel,
            mse.series,
            mse.median.unwrap_or(mse.value),
            r2.median.unwrap_or(r2.value)
        ));
        session.store.add(vec![mse, r2])?;
    }
    Ok(())
}
