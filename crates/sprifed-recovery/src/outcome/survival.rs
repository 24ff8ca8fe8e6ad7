//! Times to an event: what is asked before and after the linear procedure, and what that may cost.
//!
//! # Why
//! The score of the partial likelihood at zero is Σ x·(δ − Λ(t)). So the linear procedure selects features for the
//! martingale residual δ − Λ(t), and only Λ is asked before (docs/proofs/event_times.md). After it, two steps of Newton's
//! method with a hazard of its own each make the coefficients those of Cox's model.

use sprifed_privacy::{IllegalQuantity, Mu, Rounding};
use sprifed_query::{PlanError, PlannedStep, PlannedSum, Question, ReleasedModel, TIME_BINS};

use super::newton;
use super::{GRADIENT_SHARE, Outcome};
use crate::setting::{Setting, share_of};

pub(crate) mod baseline;
mod cox;
pub(crate) mod following;

/// The name of the blocks of events in bins.
pub const EVENTS_BLOCK: &str = "events in bins";

/// The name of the blocks of what left in bins.
const LEFT_BLOCK: &str = "left in bins";

/// How many steps the refit has.
const STEPS: u32 = 2;

/// Shares of the budget, in μ² or ρ: of the first question for the times, of those with weights, and of the scores.
const FIRST_SHARE: f64 = 0.02;
const WEIGHTED_SHARE: f64 = 0.05;
const SCORES_SHARE: f64 = 0.05;

impl Outcome {
    /// The share of the budget, in μ² or ρ, that is not the linear procedure's.
    pub(crate) const fn reserved_share(self) -> f64 {
        match self {
            Self::Linear | Self::Binary => 0.0,
            Self::Survival => FIRST_SHARE + WEIGHTED_SHARE + SCORES_SHARE,
        }
    }

    /// How many sums come after those of the linear procedure.
    pub(super) const fn steps_after_procedure(self) -> usize {
        match self {
            Self::Linear | Self::Binary => 0,
            Self::Survival => 2 * STEPS as usize,
        }
    }
}

impl Setting {
    /// `steps` of a linear procedure that keeps at most so many features, with what is asked before and after them. All
    /// together cost `total`, of which the procedure spends what [`Outcome::reserved_share`] leaves.
    pub(crate) fn with_event_times(
        &self,
        total: Mu,
        n_features: usize,
        steps: Vec<PlannedStep>,
    ) -> Result<Vec<PlannedStep>, PlanError> {
        if self.outcome != Outcome::Survival {
            return Ok(steps);
        }
        let sum =
            |purpose: String, blocks| PlannedStep::Sum(PlannedSum::new(purpose.clone(), blocks));
        let half = |share: f64, times: u32| share_of(total, share / 2.0, times);
        let times = |cost: Mu, left: Rounding| -> Result<_, PlanError> {
            let (planner, counts) = (self.planner(), self.count_rounding());
            Ok(vec![
                planner.ball(EVENTS_BLOCK, TIME_BINS, cost, counts)?,
                planner.ball(LEFT_BLOCK, TIME_BINS, cost, left)?,
            ])
        };
        let mut first = times(half(FIRST_SHARE, 1)?, self.count_rounding())?;
        if !self.column_scales.is_empty() {
            let rest = share_of(total, 1.0 - self.outcome.reserved_share(), 1)?;
            first.extend(self.column_blocks(share_of(rest, Self::column_share(), 1)?)?);
        }
        let mut all = vec![sum("times to the event".to_owned(), first)];
        all.extend(steps);
        let (gradient, curvature) = score_costs(total)?;
        for step in 1..=STEPS {
            let weighted = times(half(WEIGHTED_SHARE, STEPS)?, Rounding::Dithered)?;
            all.push(sum(
                format!("times to the event, records by their risk, step {step}"),
                weighted,
            ));
            let score = newton::blocks(self, n_features, gradient, curvature)?;
            all.push(sum(
                format!("score of the kept features, step {step}"),
                score,
            ));
        }
        Ok(all)
    }
}

/// What the score and the curvature of one step may cost.
fn score_costs(total: Mu) -> Result<(Mu, Mu), IllegalQuantity> {
    Ok((
        share_of(total, SCORES_SHARE * GRADIENT_SHARE, STEPS)?,
        share_of(total, SCORES_SHARE * (1.0 - GRADIENT_SHARE), STEPS)?,
    ))
}

/// The questions for the times: each record counts by its risk under a model, or as one without a model.
fn questions(risk: Option<ReleasedModel>) -> Vec<Question> {
    vec![Question::EventsInBins, Question::LeftInBins { risk }]
}
