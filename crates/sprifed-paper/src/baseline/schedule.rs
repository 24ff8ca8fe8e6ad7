//! What the questions of a baseline cost, and its plan.

use sprifed_privacy::{Mu, Rounding};
use sprifed_query::{PlanError, PlannedBlock, PlannedStep, PlannedSum, SCALE_BUCKETS};

use super::Baseline;
use sprifed_recovery::OpeningCosts;
use sprifed_recovery::{Intercept, Setting, share_of};

/// Shares of μ² that do not go to gradients of all features.
const SCALE_SHARE: f64 = 0.01;
const ROW_SCALE_SHARE: f64 = 0.003;
const MEAN_SHARE: f64 = 0.01;
const REFIT_SHARE: f64 = 0.08;
/// DP-GCD's second look at the features it picks.
const COORDINATE_SHARE: f64 = 0.1;

/// What each question may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescentCosts {
    gradient: Mu,
    /// Of one coordinate, for DP-GCD.
    coordinate: Option<Mu>,
    opening: OpeningCosts,
    refit: Mu,
}

impl DescentCosts {
    /// The costs of a run that costs `total`.
    pub(super) fn of(setting: &Setting, baseline: &Baseline, total: Mu) -> Result<Self, PlanError> {
        setting.check()?;
        baseline.check()?;
        let mut others = SCALE_SHARE + REFIT_SHARE;
        others += setting.columns_share();
        if setting.asks_row_scale() {
            others += ROW_SCALE_SHARE;
        }
        if setting.intercept == Intercept::Estimated {
            others += MEAN_SHARE;
        }
        let steps = baseline.steps();
        let coordinate = match baseline {
            Baseline::DpSgd(_) => None,
            Baseline::DpGcd(_) => {
                others += COORDINATE_SHARE;
                Some(share_of(total, COORDINATE_SHARE, steps)?)
            }
        };
        Ok(Self {
            gradient: share_of(total, 1.0 - others, steps)?,
            coordinate,
            opening: OpeningCosts {
                scale: share_of(total, SCALE_SHARE, 2)?,
                mean: share_of(total, MEAN_SHARE, 1)?,
                row_scale: share_of(total, ROW_SCALE_SHARE, 1)?,
                columns: share_of(total, Setting::column_share(), 1)?,
            },
            refit: share_of(total, REFIT_SHARE, 1)?,
        })
    }

    /// The planned steps, in the order in which [`super::Descent`] asks.
    pub(super) fn steps(
        &self,
        setting: &Setting,
        baseline: &Baseline,
    ) -> Result<Vec<PlannedStep>, PlanError> {
        let planner = setting.planner();
        let dithered = Rounding::Dithered;
        let mut steps = setting.opening_steps(self.opening)?;
        let gradient = planner.ball(
            "gradient",
            setting.n_features as usize,
            self.gradient,
            dithered,
        )?;
        for number in 1..=baseline.steps() {
            let purpose = format!("gradient of step {number}");
            steps.push(sum(purpose, vec![gradient.clone()]));
            if let Some(cost) = self.coordinate {
                let block = planner.ball("coordinate", 1, cost, dithered)?;
                steps.push(sum(format!("coordinate of step {number}"), vec![block]));
            }
        }
        let scale = planner.ball(
            "scale",
            SCALE_BUCKETS,
            self.opening.scale,
            setting.count_rounding(),
        )?;
        steps.push(sum("residual scale of the support".to_owned(), vec![scale]));
        let entries = setting.moment_entries(setting.sparsity as usize);
        let moments = planner.ball("second moment", entries, self.refit, dithered)?;
        steps.push(sum(
            "second moments of the support".to_owned(),
            vec![moments],
        ));
        Ok(steps)
    }
}

pub(super) fn sum(purpose: String, blocks: Vec<PlannedBlock>) -> PlannedStep {
    PlannedStep::Sum(PlannedSum::new(purpose, blocks))
}
