//! Certified plans for the paper's algorithms: their questions, with the noise that a budget buys.

use sprifed_privacy::{Algorithm, IllegalQuantity, IntegerBounds, Mu, Reading, Relation, RunShape};
use sprifed_query::{Plan, PlanError, PlannedBlock, PlannedStep, PlannedSum};

use sprifed_recovery::portable::larger;
use sprifed_recovery::{Intercept, Setting};

/// The share of μ² for the support rows.
///
/// # Why
/// The paper's own μ_s/μ_p = 0.02/0.4 gives them 0.2 % at s = 10. Recovery is the same with 2 % and
/// 5 %; with 5 % the coefficients are better.
const SUPPORT_SHARE: f64 = 0.05;

/// The plan of honest SPriFed-OMP [SPRIFED, Algorithm 3]: s + 1 sums.
///
/// # Guarantee
/// The plan costs at most the budget, under the setting's relation.
///
/// # Why
/// Only needed coordinates are queried, so that μ² is μ_p²(s − s(s−1)/(2p)) + μ_s²(s+3)/2; see
/// [`Reading::Needed`].
///
/// # Errors
/// When the setting does not suit the algorithm or no grid exists.
pub fn plan_honest_omp(setting: &Setting) -> Result<Plan, PlanError> {
    let blocks = Blocks::of(setting, Algorithm::Omp)?;
    let first = blocks.vector("response correlation", setting.n_features)?;
    let mut steps = vec![sum("response correlation".to_owned(), vec![first])];
    for pick in 1..=setting.sparsity {
        let mut asked = Vec::new();
        if pick < setting.sparsity {
            asked.push(blocks.vector("feature correlation", setting.n_features - pick)?);
        }
        asked.extend(blocks.support_row(pick)?);
        steps.push(sum(format!("correlations of pick {pick}"), asked));
    }
    Ok(setting.plan("SPriFed-OMP, honest noise", steps))
}

/// The plan of honest SPriFed-OMP-GRAD [SPRIFED, Algorithm 4]: 2s sums.
///
/// # Guarantee
/// The plan costs at most the budget, under the setting's relation.
///
/// # Why
/// As [`plan_honest_omp`]; the residual's clip replaces B_C, so the bound holds for every record
/// and every model.
///
/// # Errors
/// When the setting does not suit the algorithm or no grid exists.
pub fn plan_honest_gradient(setting: &Setting) -> Result<Plan, PlanError> {
    let blocks = Blocks::of(setting, Algorithm::Grad)?;
    let mut steps = Vec::new();
    for pick in 1..=setting.sparsity {
        let gradient = blocks.vector("gradient", setting.n_features - (pick - 1))?;
        steps.push(sum(format!("gradient before pick {pick}"), vec![gradient]));
        let row = blocks.support_row(pick)?;
        steps.push(sum(format!("support row of pick {pick}"), row.into()));
    }
    Ok(setting.plan("SPriFed-OMP-GRAD, honest noise", steps))
}

/// The plan of honest SPriFed-OMP without Enhancement 1: s + 1 vectors over all features.
///
/// # Guarantee
/// The plan costs at most the budget, under the setting's relation.
///
/// # Errors
/// When the setting does not suit the algorithm or no grid exists.
pub fn plan_honest_reusing(setting: &Setting) -> Result<Plan, PlanError> {
    check(setting)?;
    let vectors = f64::from(setting.sparsity + 1);
    let cost = Mu::try_from(setting.total_mu()?.get() / vectors.sqrt())?;
    let features = setting.n_features;
    let steps = (0..=setting.sparsity).map(|pick| {
        let (name, purpose) = match pick {
            0 => ("response correlation", "response correlation".to_owned()),
            _ => (
                "feature correlation",
                format!("correlations of pick {pick}"),
            ),
        };
        Ok(sum(purpose, vec![boxed(setting, name, features, 0, cost)?]))
    });
    let steps = steps.collect::<Result<_, PlanError>>()?;
    Ok(setting.plan("SPriFed-OMP without Enhancement 1, honest noise", steps))
}

/// Makes blocks whose noise is √p/μ_p or √s/μ_s times the bound of a coordinate.
struct Blocks<'a> {
    setting: &'a Setting,
    per_vector: Mu,
    per_support: Mu,
}

impl<'a> Blocks<'a> {
    /// The μ_p and μ_s with which a whole run costs the setting's budget.
    fn of(setting: &'a Setting, algorithm: Algorithm) -> Result<Self, PlanError> {
        check(setting)?;
        let (s, p) = (f64::from(setting.sparsity), f64::from(setting.n_features));
        let vectors = s - s * (s - 1.0) / (2.0 * p);
        let rows = (s + 3.0) / 2.0;
        let ratio = (SUPPORT_SHARE / (1.0 - SUPPORT_SHARE) * vectors / rows).sqrt();
        let unscaled = RunShape {
            algorithm,
            features: setting.n_features,
            sparsity: setting.sparsity,
            per_vector: Mu::try_from(1.0)?,
            per_support: Mu::try_from(ratio)?,
        };
        // The planner doubles the noise itself where the relation asks for it.
        let total = unscaled.total(Reading::Needed, Relation::ZeroOut)?;
        let scale = setting.total_mu()?.get() / total.get();
        Ok(Self {
            setting,
            per_vector: Mu::try_from(scale)?,
            per_support: Mu::try_from(scale * ratio)?,
        })
    }

    fn vector(&self, name: &str, coordinates: u32) -> Result<PlannedBlock, PlanError> {
        let cost = part_of(self.per_vector, coordinates, self.setting.n_features)?;
        boxed(self.setting, name, coordinates, 0, cost)
    }

    /// x_l·y and x_l·x_S for a support of `size` features, the square last.
    fn support_row(&self, size: u32) -> Result<[PlannedBlock; 2], PlanError> {
        let response = part_of(self.per_support, 1, self.setting.sparsity)?;
        let row = part_of(self.per_support, size, self.setting.sparsity)?;
        Ok([
            boxed(self.setting, "support response", 1, 0, response)?,
            boxed(self.setting, "support row", size, 1, row)?,
        ])
    }
}

/// A planned box on a grid so fine that the rounding of all records adds at most 1.25 % to the
/// variance.
///
/// # Guarantee
/// It costs at most `cost`.
///
/// # Why
/// A planner's grid is made for rounding once in each noise share; a curator adds one share to the
/// roundings of all records. Bound and standard deviation are multiplied by the same whole number,
/// which leaves their ratio and lowers what discreteness costs.
fn boxed(
    setting: &Setting,
    name: &str,
    coordinates: u32,
    squares: u32,
    cost: Mu,
) -> Result<PlannedBlock, PlanError> {
    let mut planned = setting
        .planner()
        .boxed(name, coordinates as usize, squares, cost)?;
    let variance =
        planned.block.share_variance.to_f64() * f64::from(setting.origin.certain_shares());
    // A rounding has variance at most 1/4.
    let wanted = ROUNDING_SHARE * f64::from(setting.n_records) / variance;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least one and at most 65,536: a share has variance at least 25"
    )]
    let finer = larger(wanted.sqrt().ceil(), 1.0) as u32;
    if let IntegerBounds::Box { bound, squares } = planned.block.bounds {
        let bound = bound * u64::from(finer);
        planned.block.bounds = IntegerBounds::Box { bound, squares };
        planned.block.share_variance = planned.block.share_variance.times(finer)?.times(finer)?;
        planned.steps *= f64::from(finer);
    }
    Ok(planned)
}

/// One quarter over the share of the variance that rounding may add.
const ROUNDING_SHARE: f64 = 20.0;

/// What `coordinates` cost when `all` of them cost `whole`.
fn part_of(whole: Mu, coordinates: u32, all: u32) -> Result<Mu, IllegalQuantity> {
    Mu::try_from(whole.get() * (f64::from(coordinates) / f64::from(all)).sqrt())
}

fn sum(purpose: String, blocks: Vec<PlannedBlock>) -> PlannedStep {
    PlannedStep::Sum(PlannedSum::new(purpose, blocks))
}

fn check(setting: &Setting) -> Result<(), PlanError> {
    setting.check()?;
    if setting.intercept == Intercept::Estimated {
        return Err(PlanError::Request {
            found: "an intercept is to be estimated".to_owned(),
            required: "the paper's algorithms have none; centre the response".to_owned(),
        });
    }
    Ok(())
}
