//! The public schedule of the pooled procedures: rounds, candidates, budget shares.
//!
//! The rounds look at all features twice and then at ever fewer; early rounds get the larger shares
//! because every later estimate is pooled with theirs. Chosen on simulated designs of 2,500 and
//! 10,000 features, five and ten of them active, at ε of 1 and 5.34, and not tuned per design.

use sprifed_privacy::{Mu, Rounding};
use sprifed_query::{Plan, PlanError, PlannedBlock, PlannedStep, PlannedSum};

use crate::opening::OpeningCosts;
use crate::outcome::LastCosts;
use crate::portable::larger;
use crate::setting::{Intercept, Setting, share_of};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// How the model between two rounds is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Working {
    /// From the pooled estimates: no further question, but it assumes weakly correlated features.
    Pooled,
    /// By private least squares on the significant features: for correlated features.
    LeastSquares,
}

impl Working {
    /// Candidates of each round, as a fraction of all features.
    const fn fractions(self) -> &'static [f64] {
        match self {
            Self::Pooled => &[1.0, 1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02],
            Self::LeastSquares => &[1.0, 1.0, 0.6, 0.35, 0.2, 0.08, 0.03],
        }
    }

    /// The ratio of one round's share to the one before.
    const fn decay(self) -> f64 {
        match self {
            Self::Pooled => 0.7,
            Self::LeastSquares => 0.65,
        }
    }
}

/// Shares of μ² that do not go to gradients.
const SCALE_SHARE: f64 = 0.01;
const ROW_SCALE_SHARE: f64 = 0.003;
const MEAN_SHARE: f64 = 0.01;
const WORKING_SHARE: f64 = 0.05;
const FINAL_SHARE: f64 = 0.08;
const JOINT_SHARE: f64 = 0.05;

/// At most this many times the sparsity enter the working model's least squares.
const WORKING_SLACK: f64 = 1.5;

/// At most this many times the sparsity enter the last question.
const FINAL_SLACK: u32 = 3;

/// How many questions for the scale of a residual come before the rounds.
fn scales_before_rounds(setting: &Setting) -> u32 {
    let opening = u32::from(!setting.outcome.has_scale_of_mean());
    opening + u32::from(setting.asks_joint())
}

/// One round of gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Round {
    /// How many candidates.
    pub(crate) candidates: usize,
    /// What its gradient may cost.
    pub(crate) cost: Mu,
}

/// Everything about a pooled run that is public before it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    pub(crate) working: Working,
    pub(crate) rounds: Vec<Round>,
    pub(crate) scale_cost: Mu,
    pub(crate) row_scale_cost: Mu,
    pub(crate) column_cost: Mu,
    pub(crate) mean_cost: Mu,
    pub(crate) working_cost: Mu,
    pub(crate) working_features: usize,
    pub(crate) joint_cost: Mu,
    pub(crate) final_costs: LastCosts,
    /// Of the block for robust intervals, if it is asked.
    pub(crate) robust_cost: Option<Mu>,
    /// Of the candidates: the features of every model come on top.
    pub(crate) final_features: usize,
    /// By how much the clip of the last question is loosened.
    pub(crate) clip_factor: f64,
}

impl Schedule {
    /// The schedule for `setting`.
    ///
    /// # Errors
    /// When the sparsity does not suit the features.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of features, rounded down"
    )]
    pub fn of(setting: &Setting, working: Working) -> Result<Self, PlanError> {
        setting.check()?;
        let (total, robust_cost) =
            setting.without_robust(setting.of_procedure(setting.total_mu()?)?)?;
        let sparsity = setting.sparsity as usize;
        let features = setting.n_candidates() as usize;
        let fractions = working.fractions();
        let rounds = fractions.len() as u32;
        let mut others = SCALE_SHARE + FINAL_SHARE;
        others += if setting.asks_row_scale() {
            ROW_SCALE_SHARE
        } else {
            0.0
        };
        others += if setting.intercept == Intercept::Estimated {
            MEAN_SHARE
        } else {
            0.0
        };
        others += if working == Working::LeastSquares {
            WORKING_SHARE
        } else {
            0.0
        };
        others += if setting.asks_joint() {
            JOINT_SHARE
        } else {
            0.0
        };
        others += setting.columns_share();
        let decayed = |weight: &f64| Some(weight * working.decay());
        let weights: Vec<f64> = core::iter::successors(Some(1.0), decayed)
            .take(fractions.len())
            .collect();
        let weight: f64 = weights.iter().sum();
        let mut most = features;
        let mut planned = Vec::new();
        for (fraction, share) in fractions.iter().zip(weights) {
            let wanted = (fraction * f64::from(setting.n_candidates())) as usize;
            most = most.min(wanted.max(4 * sparsity));
            let cost = share_of(total, share / weight * (1.0 - others), 1)?;
            planned.push(Round {
                candidates: most,
                cost,
            });
        }
        let final_costs = setting.last_costs(share_of(total, FINAL_SHARE, 1)?)?;
        setting.check_always(final_costs.moments)?;
        let told_apart = setting.told_apart(final_costs.moments) - f64::from(setting.always);
        let final_features = (larger(told_apart, 0.0) as usize)
            .clamp(sparsity, FINAL_SLACK as usize * sparsity)
            .min(most);
        let mut schedule = Self {
            working,
            rounds: planned,
            scale_cost: share_of(total, SCALE_SHARE, rounds + scales_before_rounds(setting))?,
            row_scale_cost: share_of(total, ROW_SCALE_SHARE, 1)?,
            column_cost: share_of(total, Setting::column_share(), 1)?,
            mean_cost: share_of(total, MEAN_SHARE, 1)?,
            working_cost: share_of(total, WORKING_SHARE, rounds - 1)?,
            working_features: ((WORKING_SLACK * f64::from(setting.sparsity)) as usize).max(1),
            joint_cost: share_of(total, JOINT_SHARE, 1)?,
            final_costs,
            robust_cost,
            final_features,
            clip_factor: 1.0,
        };
        schedule.clip_factor = schedule.planned_clip_factor(setting)?;
        Ok(schedule)
    }

    /// The plan of the run.
    ///
    /// # Errors
    /// When no grid exists.
    pub fn plan(&self, setting: &Setting) -> Result<Plan, PlanError> {
        let planner = setting.planner();
        let mut steps = setting.opening_steps(OpeningCosts {
            scale: self.scale_cost,
            mean: self.mean_cost,
            row_scale: self.row_scale_cost,
            columns: self.column_cost,
        })?;
        let always = setting.always as usize;
        if setting.asks_joint() {
            steps.extend(self.joint_sums(setting)?);
        }
        let last = self.rounds.len() - 1;
        for (index, round) in self.rounds.iter().enumerate() {
            let number = index + 1;
            let coordinates = always + round.candidates;
            let gradient = planner.ball("gradient", coordinates, round.cost, Rounding::Dithered)?;
            let scale = setting.scale_block(self.scale_cost)?;
            steps.push(PlannedStep::Sum(PlannedSum::new(
                format!("residual gradient and scale, round {number}"),
                vec![gradient, scale],
            )));
            if self.working == Working::LeastSquares && index < last {
                let entries = setting.moment_entries(always + self.working_features);
                let block = planner.ball(
                    "second moment",
                    entries,
                    self.working_cost,
                    Rounding::Dithered,
                )?;
                let purpose = format!("second moments of the working model, round {number}");
                steps.push(PlannedStep::Sum(PlannedSum::new(purpose, vec![block])));
            }
        }
        steps.push(PlannedStep::Sum(PlannedSum::new(
            "second moments of the finalists".to_owned(),
            self.last_blocks(setting)?,
        )));
        let most_kept = always + setting.sparsity as usize;
        steps.extend(setting.refit_step(most_kept, self.final_costs)?);
        let steps = setting.with_event_times(setting.total_mu()?, most_kept, steps)?;
        let procedure = match self.working {
            Working::Pooled => "sieve",
            Working::LeastSquares => "certified GRAD",
        };
        Ok(setting.plan(procedure, steps))
    }

    /// The blocks of the last sum.
    fn last_blocks(&self, setting: &Setting) -> Result<Vec<PlannedBlock>, PlanError> {
        let asked = setting.always as usize + self.final_features;
        setting.last_blocks(asked, self.final_costs.moments, self.robust_cost)
    }

    fn planned_clip_factor(&self, setting: &Setting) -> Result<f64, PlanError> {
        let asked = setting.always as usize + self.final_features;
        Ok(setting.planned_clip_factor(asked, &self.last_blocks(setting)?))
    }

    /// The first sums about the sites and the features of every model: their second moments, and the scale
    /// of what they leave.
    fn joint_sums(&self, setting: &Setting) -> Result<[PlannedStep; 2], PlanError> {
        let entries = setting.first_joint_entries();
        let (cost, dithered) = (self.joint_cost, Rounding::Dithered);
        let planner = setting.planner();
        let moments = planner.ball("second moment", entries, cost, dithered)?;
        let scale = setting.scale_block(self.scale_cost)?;
        let subject = setting.first_joint_subject();
        let sum = |what: &str, block| {
            let (purpose, blocks) = (format!("{what} of {subject}"), vec![block]);
            PlannedStep::Sum(PlannedSum::new(purpose, blocks))
        };
        Ok([sum("second moments", moments), sum("residual scale", scale)])
    }
}
