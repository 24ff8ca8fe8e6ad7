//! What the paper's recovery theorems ask for in a generated world.

use core::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{ApproxDp, IllegalQuantity, Mu, Relation};
use sprifed_simulate::{Unexplained, WorldRequest};

use crate::theory::{Situation, Wording, gradient_recovery, omp_recovery};

/// What the two recovery theorems say of one generated world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RecoveryTheorems {
    /// What is assumed of the world.
    pub assumes: &'static str,
    /// SPriFed-OMP, Theorem 7.
    pub omp: TheoremVerdict,
    /// SPriFed-OMP-GRAD, Theorem 8.
    pub grad: TheoremVerdict,
}

/// What one theorem says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TheoremVerdict {
    /// Whether its conditions hold.
    pub holds: bool,
    /// How many records it asks for; none if no number is enough.
    pub required_records: Option<f64>,
}

impl RecoveryTheorems {
    /// The conditions of the two theorems for a world, in units of one standard deviation, at a budget
    /// that is split as the paper splits it.
    ///
    /// # Errors
    /// When a share of the budget is too small to be a μ.
    pub fn of(
        budget: ApproxDp,
        world: &WorldRequest,
        relation: Relation,
    ) -> Result<Self, IllegalQuantity> {
        let total = Mu::largest_within(budget)?;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let sparsity = f64::from(count(world.support));
        let norm = (5.0 * sparsity).sqrt();
        let error = match world.unexplained {
            Unexplained::ErrorStdDev(error) => error,
            Unexplained::PopulationR2(share) => norm * ((1.0 - share) / share).sqrt(),
        };
        let doubled = f64::from(relation.sum_moves_by());
        let situation = Situation {
            n_records: count(world.records),
            n_features: count(world.features),
            sparsity: count(world.support),
            isometry_constant: 0.1,
            residual_std_dev: error,
            model_norm: norm,
            smallest_coefficient: 1.0,
            largest_coefficient: 3.0,
            feature_bound: 1.0,
            response_bound: norm,
            per_vector: Mu::try_from(total.get() / sparsity.sqrt() / doubled)?,
            per_support: Mu::try_from(0.05 * total.get() / sparsity.sqrt() / doubled)?,
            failure_probability: 0.01,
        };
        let omp = omp_recovery(&situation, Wording::Stated);
        let gradient = gradient_recovery(&situation, Wording::Stated);
        let verdict = |holds, records: f64| TheoremVerdict {
            holds,
            required_records: records.is_finite().then_some(records),
        };
        Ok(Self {
            assumes: "coefficients between 1 and 3, restricted isometry constant 0.1, features within \
                      one standard deviation",
            omp: verdict(omp.holds(), omp.required_records()),
            grad: verdict(gradient.holds(), gradient.required_records()),
        })
    }
}

impl fmt::Display for RecoveryTheorems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = |verdict: TheoremVerdict| {
            verdict.required_records.map_or_else(
                || "no number of".to_owned(),
                |records| format!("{records:.1e}"),
            )
        };
        write!(
            formatter,
            "the paper's theorems ({}) ask for {} records (OMP, Theorem 7) and {} (GRAD, Theorem 8): \
             they are sufficient, not necessary",
            self.assumes,
            records(self.omp),
            records(self.grad),
        )
    }
}
