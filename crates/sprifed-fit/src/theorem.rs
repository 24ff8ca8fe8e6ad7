//! What the paper's recovery theorem says of the same study, beside the simulation.

use serde_json::{Value, json};
use sprifed_privacy::{Mu, Relation};
use sprifed_query::Plan;
use sprifed_recovery::theory::{Situation, Wording, gradient_recovery, omp_recovery};
use sprifed_simulate::{Unexplained, WorldRequest};

use crate::failure::Failure;

/// The conditions of the two recovery theorems for the simulated world, in units of one standard
/// deviation, at the plan's budget split as the paper splits it.
pub(crate) fn answer(
    plan: &Plan,
    request: &WorldRequest,
    relation: Relation,
) -> Result<Value, Failure> {
    let total = Mu::largest_within(plan.budget)?;
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let sparsity = f64::from(count(request.sparsity));
    let norm = (5.0 * sparsity).sqrt();
    let error = match request.unexplained {
        Unexplained::ErrorStdDev(error) => error,
        Unexplained::PopulationR2(share) => norm * ((1.0 - share) / share).sqrt(),
    };
    let doubled = f64::from(relation.sum_moves_by());
    let situation = Situation {
        n_records: count(request.records),
        n_features: count(request.features),
        sparsity: count(request.sparsity),
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
    let finite = |records: f64| records.is_finite().then_some(records);
    Ok(json!({
        "assumes": "coefficients between 1 and 3, restricted isometry constant 0.1, features within one standard deviation",
        "omp": { "holds": omp.holds(), "required_records": finite(omp.required_records()) },
        "grad": { "holds": gradient.holds(), "required_records": finite(gradient.required_records()) },
    }))
}

/// The same in words.
#[must_use]
pub fn theorem_text(theorem: &Value) -> String {
    let records = |name: &str| {
        theorem[name]["required_records"].as_f64().map_or_else(
            || "no number of".to_owned(),
            |records| format!("{records:.1e}"),
        )
    };
    format!(
        "the paper's theorems ({}) ask for {} records (OMP, Theorem 7) and {} (GRAD, Theorem 8): they are sufficient, not necessary\n",
        theorem["assumes"].as_str().unwrap_or_default(),
        records("omp"),
        records("grad"),
    )
}
