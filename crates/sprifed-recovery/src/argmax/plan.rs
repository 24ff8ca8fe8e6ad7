//! The public plan of argmax OMP, and what its run depends on of it.

use sprifed_privacy::{Mu, RangeBound, Rounding, SelectionPurchase};
use sprifed_query::{Plan, PlanError, PlannedBlock, PlannedStep, PlannedSum};

use crate::catalogue::Needs;
use crate::floor::best_score_clips;
use crate::opening::OpeningCosts;
use crate::setting::{Intercept, Setting};

/// Shares of ρ.
const SCALE_SHARE: f64 = 0.03;
const UPDATE_SHARE: f64 = 0.27;
const FINAL_SHARE: f64 = 0.13;
const MEAN_SHARE: f64 = 0.01;
const JOINT_SHARE: f64 = 0.05;
const ROW_SCALE_SHARE: f64 = 0.003;

/// Of an outcome whose mean says what its scale is, no residual's scale is asked, and the last share has the refit.
const REFIT_FINAL_SHARE: f64 = 0.15;

/// The shares of all questions for the scale of a residual, and of those after the last pick.
const fn scale_and_final_shares(setting: &Setting) -> (f64, f64) {
    if setting.outcome.has_scale_of_mean() {
        (0.0, REFIT_FINAL_SHARE)
    } else {
        (SCALE_SHARE, FINAL_SHARE)
    }
}

/// The clips of features and residuals of every score, in units of their scale.
pub(super) fn score_clips(setting: &Setting) -> Result<(f64, f64), PlanError> {
    let rho = choice_rho(setting, setting.least_rho()?);
    let (records, features) = (
        f64::from(setting.n_records),
        f64::from(setting.n_candidates()),
    );
    Ok(best_score_clips(records, features, rho))
}

/// The ρ of one choice when all steps together cost `total`.
fn choice_rho(setting: &Setting, total: f64) -> f64 {
    let (scale, last) = scale_and_final_shares(setting);
    let mut others = scale + UPDATE_SHARE + last;
    others += if setting.intercept == Intercept::Estimated {
        MEAN_SHARE
    } else {
        0.0
    };
    others += if setting.asks_row_scale() {
        ROW_SCALE_SHARE
    } else {
        0.0
    };
    others += if setting.asks_joint() {
        JOINT_SHARE
    } else {
        0.0
    };
    others += setting.columns_share();
    let rest = of_procedure(setting, total) * (1.0 - setting.robust_share());
    rest * (1.0 - others) / f64::from(setting.sparsity)
}

/// The part of the ρ `total` that is left for the procedure where something is asked before and after it.
fn of_procedure(setting: &Setting, total: f64) -> f64 {
    total * (1.0 - setting.outcome.reserved_share())
}

/// The plan of argmax OMP.
///
/// # Why
/// The shares are shares of ρ, in which Gaussians cost μ²/2 and a choice of range ε costs ε²/8
/// [CR21, Lemma 3.4]. A ρ that converts to the budget by [CKS20, Prop. 12] is a safe start; where
/// composing privacy losses shows that the plan costs less, it is scaled up to fill the budget.
///
/// # Errors
/// When the sparsity does not suit the features or no grid exists.
pub fn plan_argmax(setting: &Setting) -> Result<Plan, PlanError> {
    setting.fill_budget(|total| plan_of(setting, total))
}

/// The plan that costs ρ = `total` by zCDP.
fn plan_of(setting: &Setting, total: f64) -> Result<Plan, PlanError> {
    let planner = setting.planner();
    let picks = f64::from(setting.sparsity);
    let robust = setting.robust_share();
    let all = of_procedure(setting, total);
    let rest = all * (1.0 - robust);
    let gaussian = |share: f64, times: f64| Mu::try_from((2.0 * rest * share / times).sqrt());
    let robust_cost = setting
        .robust
        .then(|| Mu::try_from((2.0 * all * robust).sqrt()))
        .transpose()?;
    let range = RangeBound::try_from((8.0 * choice_rho(setting, total)).sqrt())?;
    let costs = OpeningCosts {
        scale: gaussian(
            SCALE_SHARE,
            picks + if setting.asks_joint() { 2.0 } else { 1.0 },
        )?,
        mean: gaussian(MEAN_SHARE, 1.0)?,
        row_scale: gaussian(ROW_SCALE_SHARE, 1.0)?,
        columns: gaussian(Setting::column_share(), 1.0)?,
    };
    let asks_scale = !setting.outcome.has_scale_of_mean();
    let last_costs = setting.last_costs(gaussian(scale_and_final_shares(setting).1, 1.0)?)?;
    setting.check_always(last_costs.moments)?;
    let mut steps = setting.opening_steps(costs)?;
    if setting.asks_joint() {
        let (entries, cost) = (setting.first_joint_entries(), gaussian(JOINT_SHARE, 1.0)?);
        let blocks = vec![planner.ball("second moment", entries, cost, Rounding::Dithered)?];
        let purpose = format!("second moments of {}", setting.first_joint_subject());
        steps.push(PlannedStep::Sum(PlannedSum::new(purpose, blocks)));
    }
    for pick in 0..setting.sparsity {
        let number = pick + 1;
        if asks_scale && (pick > 0 || setting.asks_joint()) {
            let blocks = vec![setting.scale_block(costs.scale)?];
            let purpose = format!("residual scale before pick {number}");
            steps.push(PlannedStep::Sum(PlannedSum::new(purpose, blocks)));
        }
        let candidates = (setting.n_candidates() - pick) as usize;
        let choice = planner.choice(&format!("pick {number}"), candidates, range)?;
        steps.push(PlannedStep::Choice(choice));
        // As many as there are where the widest groups are picked; where others are, the rest is zero.
        let rows = setting.groups.widest() as usize + 1;
        let entries = rows * (setting.most_features(number) + setting.constant().entries());
        let cost = gaussian(UPDATE_SHARE, picks)?;
        let update = planner.ball("support update", entries, cost, Rounding::Dithered)?;
        let purpose = format!("support update of pick {number}");
        steps.push(PlannedStep::Sum(PlannedSum::new(purpose, vec![update])));
    }
    let sum = |purpose: &str, blocks| PlannedStep::Sum(PlannedSum::new(purpose.to_owned(), blocks));
    if asks_scale {
        let scale = setting.scale_block(costs.scale)?;
        steps.push(sum("residual scale after the last pick", vec![scale]));
    }
    let asked = setting.most_features(setting.sparsity);
    let moments = setting.last_blocks(asked, last_costs.moments, robust_cost)?;
    steps.push(sum("second moments of the support", moments));
    steps.extend(setting.refit_step(asked, last_costs)?);
    let steps = setting.with_event_times(Mu::try_from((2.0 * total).sqrt())?, asked, steps)?;
    Ok(setting.plan("argmax OMP", steps))
}

/// The noise of a plan of argmax OMP, as far as p-values and the clip of the last question depend on it.
#[derive(Clone, Debug)]
pub(super) struct PlannedNoise {
    pub(super) choices: Vec<SelectionPurchase>,
    /// The blocks of the last question.
    pub(super) last: Vec<PlannedBlock>,
    /// How many records would do, if there are too few.
    pub(super) too_few: Option<u64>,
}

impl PlannedNoise {
    pub(super) fn of(setting: &Setting) -> Result<Self, PlanError> {
        let plan = plan_argmax(setting)?;
        let choice = |step: &PlannedStep| match step {
            PlannedStep::Choice(choice) => Some(choice.purchase),
            PlannedStep::Sum(_) => None,
        };
        let after = setting.outcome.steps_after_moments();
        let last = match plan.steps.iter().rev().nth(after) {
            Some(PlannedStep::Sum(sum)) => sum.blocks.clone(),
            _ => Vec::new(),
        };
        Ok(Self {
            too_few: setting.too_few_records(Needs::Choices, &plan)?,
            choices: plan.steps.iter().filter_map(choice).collect(),
            last,
        })
    }
}
