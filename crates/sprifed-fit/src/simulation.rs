//! What repeated trials on generated data say, and under which guarantee.

use serde_json::{Value, json};
use sprifed_privacy::{
    ApproxDp, ClientsRun, Currency, Delta, GuaranteeFacts, GuaranteeMoment, GuaranteeTable,
    NoiseOrigin, PrivacyUnit, Relation, Spending,
};
use sprifed_simulate::Summary;

use crate::backend::Backend;
use crate::failure::Failure;
use crate::world::WorldSize;

/// What the references promise.
pub const NOT_PRIVATE_REFERENCE: &str =
    "NOT PRIVATE: the records themselves were used, without noise";

/// Trials that were asked for.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The name of the procedure.
    pub procedure: String,
    /// Who adds up.
    pub backend: Backend,
    /// The share of clients that leaves each sum.
    pub dropouts: f64,
    /// The data.
    pub world: WorldSize,
    /// How many trials.
    pub trials: u64,
    /// The seed of the first.
    pub seed: u64,
}

impl Simulation {
    /// The trials and what they came out to.
    #[must_use]
    pub fn to_json(&self, guarantee: Value, summary: &Summary, seconds: f64) -> Value {
        json!({
            "procedure": self.procedure, "backend": self.backend.words(), "dropouts": self.dropouts,
            "records": self.world.records, "clients": self.world.clients(),
            "features": self.world.features, "sparsity": self.world.sparsity,
            "trials": self.trials, "seed": self.seed,
            "guarantee": guarantee,
            "recovered": summary.recovered, "recovered_share": summary.recovered_share,
            "test_mse": summary.test_mse, "test_r2": summary.test_r2,
            "null_mse": summary.null_mse, "seconds_per_trial": seconds,
        })
    }
}

/// The refusal of dropouts where there are no clients that could leave.
#[must_use]
pub fn nobody_leaves_a_curator() -> Failure {
    Failure::usage(
        "sprifed::simulate::dropouts",
        "--dropouts was given, but nobody leaves a curator".to_owned(),
        "add --backend secure-sum, or remove it",
    )
}

/// What one run with certified noise would promise if the noise were secret.
#[must_use]
pub fn certified_guarantee(
    spending: &Spending,
    origin: NoiseOrigin,
    delta: Delta,
    relation: Relation,
) -> Value {
    let guarantee = spending.to_approx_dp(delta);
    let epsilon = guarantee.map(ApproxDp::epsilon);
    let mu = spending.sums().and_then(|sums| sums.mu().ok());
    let statement = GuaranteeTable::new(&GuaranteeFacts {
        cost: guarantee,
        moment: GuaranteeMoment::Final,
        is_secret: false,
        unit: PrivacyUnit::Record,
        relation,
        origin,
        clients: ClientsRun::InOneProcess,
        several_records: None,
        currency: mu
            .filter(|_| spending.selections().is_empty())
            .map(Currency::Gaussian),
        verified_from: None,
    });
    json!({
        "mode": "certified", "noise": "simulated", "unit": "record",
        "neighbours": relation, "epsilon": epsilon, "delta": delta,
        "mu": mu, "selections": spending.selections().len(), "statement": statement,
    })
}
