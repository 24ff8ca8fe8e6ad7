//! The public plan of argmax OMP, and what its run depends on of it.

use sprifed_privacy::{Mu, RangeBound, Rounding, SelectionPurchase};
use sprifed_query::{Plan, PlanError, PlannedStep, PlannedSum, SCALE_BUCKETS};

use crate::clipping::{clipped_variance, kept_signal};
use crate::opening::OpeningCosts;
use crate::setting::{Intercept, Setting};

/// Shares of ρ.
const SCALE_SHARE: f64 = 0.03;
const UPDATE_SHARE: f64 = 0.27;
const FINAL_SHARE: f64 = 0.13;
const MEAN_SHARE: f64 = 0.01;
const JOINT_SHARE: f64 = 0.05;
const ROW_SCALE_SHARE: f64 = 0.003;

/// Clips of features and residuals that are tried for a score, in units of their scale.
const SCORE_CLIPS: [f64; 7] = [0.7, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0];

/// The clips of features and residuals that separate the largest score most clearly from its noise.
///
/// # Why
/// A score's signal per record is k(b)/b · k(q)/q of the covariance; its variance is that of the
/// clipped products, and the largest of p Gumbel variables of scale β adds about β ln p, which
/// for a choice of cost ρ has the square ln p / (4ρ) up to a constant.
pub(super) fn score_clips(setting: &Setting) -> Result<(f64, f64), PlanError> {
    let choice_rho = choice_rho(setting, setting.least_rho()?);
    let records = f64::from(setting.n_records);
    let noise = libm::log(f64::from(setting.n_candidates())) / (4.0 * choice_rho);
    let quality = |(feature, residual): (f64, f64)| {
        let signal = kept_signal(feature) / feature * kept_signal(residual) / residual;
        let spread = noise + records * clipped_variance(feature) * clipped_variance(residual);
        spread / (signal * signal)
    };
    let pairs = SCORE_CLIPS
        .iter()
        .flat_map(|b| SCORE_CLIPS.iter().map(move |q| (*b, *q)));
    let best = pairs.min_by(|left, right| quality(*left).total_cmp(&quality(*right)));
    Ok(best.unwrap_or((1.0, 1.0)))
}

/// The ρ of one choice when all steps together cost `total`.
fn choice_rho(setting: &Setting, total: f64) -> f64 {
    let mut others = SCALE_SHARE + UPDATE_SHARE + FINAL_SHARE;
    others += if setting.intercept == Intercept::Estimated {
        MEAN_SHARE
    } else {
        0.0
    };
    others += if setting.feature_scale.is_none() {
        ROW_SCALE_SHARE
    } else {
        0.0
    };
    others += if setting.always > 0 { JOINT_SHARE } else { 0.0 };
    total * (1.0 - others) / f64::from(setting.sparsity)
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
    let gaussian = |share: f64, times: f64| Mu::try_from((2.0 * total * share / times).sqrt());
    let with_mean = setting.intercept == Intercept::Estimated;
    let range = RangeBound::try_from((8.0 * choice_rho(setting, total)).sqrt())?;
    let costs = OpeningCosts {
        scale: gaussian(
            SCALE_SHARE,
            picks + if setting.always > 0 { 2.0 } else { 1.0 },
        )?,
        mean: gaussian(MEAN_SHARE, 1.0)?,
        row_scale: gaussian(ROW_SCALE_SHARE, 1.0)?,
    };
    let last_cost = gaussian(FINAL_SHARE, 1.0)?;
    setting.check_always(last_cost)?;
    let always = setting.always as usize;
    let mut steps = setting.opening_steps(costs)?;
    if always > 0 {
        let (entries, cost) = (setting.joint_entries(always), gaussian(JOINT_SHARE, 1.0)?);
        let blocks = vec![planner.ball("second moment", entries, cost, Rounding::Dithered)?];
        let purpose = "second moments of the features of every model".to_owned();
        steps.push(PlannedStep::Sum(PlannedSum { purpose, blocks }));
    }
    for pick in 0..setting.sparsity {
        let number = pick + 1;
        if pick > 0 || always > 0 {
            let rounding = setting.count_rounding();
            let blocks = vec![planner.ball("scale", SCALE_BUCKETS, costs.scale, rounding)?];
            let purpose = format!("residual scale before pick {number}");
            steps.push(PlannedStep::Sum(PlannedSum { purpose, blocks }));
        }
        let candidates = (setting.n_candidates() - pick) as usize;
        let choice = planner.choice(&format!("pick {number}"), candidates, range)?;
        steps.push(PlannedStep::Choice(choice));
        let entries = 2 * (number as usize + always + usize::from(with_mean));
        let cost = gaussian(UPDATE_SHARE, picks)?;
        let update = planner.ball("support update", entries, cost, Rounding::Dithered)?;
        let purpose = format!("support update of pick {number}");
        steps.push(PlannedStep::Sum(PlannedSum {
            purpose,
            blocks: vec![update],
        }));
    }
    let scale = planner.ball(
        "scale",
        SCALE_BUCKETS,
        costs.scale,
        setting.count_rounding(),
    )?;
    let entries = setting.joint_entries(always + setting.sparsity as usize);
    let moments = planner.ball("second moment", entries, last_cost, Rounding::Dithered)?;
    for (purpose, block) in [
        ("residual scale after the last pick", scale),
        ("second moments of the support", moments),
    ] {
        let (purpose, blocks) = (purpose.to_owned(), vec![block]);
        steps.push(PlannedStep::Sum(PlannedSum { purpose, blocks }));
    }
    Ok(setting.plan("argmax OMP", steps))
}

/// The noise of a plan of argmax OMP, as far as p-values and the clip of the last question depend on it.
#[derive(Clone, Debug)]
pub(super) struct PlannedNoise {
    pub(super) choices: Vec<SelectionPurchase>,
    /// The standard deviation of the noise on the last question, in normalised units.
    pub(super) last: f64,
}

impl PlannedNoise {
    pub(super) fn of(setting: &Setting) -> Result<Self, PlanError> {
        let plan = plan_argmax(setting)?;
        let choice = |step: &PlannedStep| match step {
            PlannedStep::Choice(choice) => Some(choice.purchase),
            PlannedStep::Sum(_) => None,
        };
        let last = match plan.steps.last() {
            Some(PlannedStep::Sum(sum)) => sum.blocks.first(),
            _ => None,
        };
        let shares = setting.origin.most_shares();
        Ok(Self {
            choices: plan.steps.iter().filter_map(choice).collect(),
            last: last.map_or(f64::INFINITY, |block| block.noise_std_dev(shares)),
        })
    }
}
