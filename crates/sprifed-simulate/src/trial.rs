//! One trial: a world, a procedure, a curator, a score.

use sprifed_noise::NoiseGenerator;
use sprifed_privacy::{ApproxDp, NoiseOrigin, PrivacyUnit, Relation};
use sprifed_query::{Curator, CuratorError, IllegalRecords, Plan, PlanError, Records};
use sprifed_recovery::{CertifiedProcedure, Fit, Intercept, RunError, Setting};

use crate::world::{World, WorldRequest};

/// Why a trial has no outcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// No plan exists.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The curator refused.
    #[error(transparent)]
    Curator(#[from] CuratorError),
    /// The procedure did not end with a fit.
    #[error(transparent)]
    Run(#[from] RunError<CuratorError>),
    /// The records are not usable.
    #[error(transparent)]
    Records(#[from] IllegalRecords),
}

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The world.
    pub world: WorldRequest,
    /// The procedure.
    pub procedure: CertifiedProcedure,
    /// The budget.
    pub budget: ApproxDp,
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// The public bound on the response.
    pub response_bound: f64,
}

/// How one trial came out.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialOutcome {
    /// The fit.
    pub fit: Fit,
    /// How many true features were found.
    pub recovered: usize,
    /// Mean squared error on new records.
    pub test_mse: f64,
    /// Mean squared error of predicting zero.
    pub null_mse: f64,
}

/// A public bound on the response of a generated world: eight standard deviations of a model with
/// coefficients near two, rounded up to a power of two.
#[must_use]
pub fn default_response_bound(sparsity: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    let wide = 8.0 * (5.0 * sparsity as f64).sqrt();
    wide.log2().ceil().exp2()
}

impl Trial {
    /// What the procedure is planned for.
    ///
    /// # Errors
    /// When the numbers do not fit.
    pub fn setting(&self) -> Result<Setting, PlanError> {
        let fits = |name: &str, number: usize| {
            u32::try_from(number).map_err(|_| PlanError::Request {
                found: format!("{number} {name}"),
                required: "at most 2^32 are possible".to_owned(),
            })
        };
        Ok(Setting {
            n_records: fits("records", self.world.records)?,
            n_features: fits("features", self.world.features)?,
            sparsity: fits("active features", self.world.sparsity)?,
            budget: self.budget,
            relation: self.relation,
            unit: PrivacyUnit::Record,
            origin: NoiseOrigin::Curator,
            response_bound: self.response_bound,
            feature_bound: 8.0,
            feature_scale: Some(1.0),
            intercept: Intercept::Absent,
        })
    }

    /// The public plan.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.procedure.plan(&self.setting()?)
    }

    /// Runs the trial of this seed under `plan`.
    ///
    /// # Errors
    /// When the curator refuses.
    pub fn run(&self, plan: &Plan, seed: u64) -> Result<TrialOutcome, TrialError> {
        let world = World::generate(self.world, seed);
        let records =
            Records::each_a_unit(world.features(), world.responses(), self.world.features)?;
        let generator = NoiseGenerator::simulated(seed ^ 0x5EED_0F01);
        let mut curator = Curator::open(records, plan.clone(), generator)?;
        let fit = self.procedure.run(&self.setting()?, &mut curator, |_| ())?;
        let recovered = world.recovered(&fit.model);
        let (test_mse, null_mse) = world.errors(&fit.model);
        Ok(TrialOutcome { fit, recovered, test_mse, null_mse })
    }
}
