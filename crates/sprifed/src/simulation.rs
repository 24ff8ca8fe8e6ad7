//! What repeated trials on generated data say, and under which guarantee.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, ClientsRun, Currency, Delta, Epsilon, GuaranteeFacts, GuaranteeMoment,
    GuaranteeTable, Mu, NoiseOrigin, PrivacyUnit, Relation, Spending,
};
use sprifed_query::PlanError;
use sprifed_recovery::{CertifiedProcedure, InferenceMethod, Setting};
use sprifed_simulate::{Mean, Summary};

use crate::backend::Backend;
use crate::guarantee::Mode;
use crate::planning::KeptFeatures;
use crate::world::WorldSize;

/// Trials that were asked for.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The name of the procedure.
    pub procedure: String,
    /// Who adds up.
    pub backend: Backend,
    /// The share of clients that leaves each sum.
    pub dropouts: f64,
    /// By which records features are chosen, and by which their coefficients are estimated.
    pub inference: InferenceMethod,
    /// How a certified procedure seeks features; none for anything else.
    pub seeking: Option<Seeking>,
    /// The data.
    pub world: WorldSize,
    /// How many trials.
    pub trials: u64,
    /// The seed of the first.
    pub seed: u64,
}

/// How a certified procedure seeks features in each trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Seeking {
    /// Which of the features that were sought are kept.
    pub keep: KeptFeatures,
    /// The fewest records with which the procedure seeks features. With fewer no feature is sought and each model is the
    /// mean, unless exactly so many features are asked for.
    pub fewest_records: u64,
}

impl Seeking {
    /// How `procedure` seeks features in this setting.
    ///
    /// # Errors
    /// When no plan exists.
    pub fn of(procedure: CertifiedProcedure, setting: &Setting) -> Result<Self, PlanError> {
        Ok(Self {
            keep: setting.choice.into(),
            fewest_records: procedure.fewest_records(setting)?,
        })
    }
}

/// The trials and what they came out to. `G` is what one run promises.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SimulationAnswer<G> {
    /// The name of the procedure.
    pub procedure: String,
    /// Who adds up.
    pub backend: Backend,
    /// The share of clients that leaves each sum.
    pub dropouts: f64,
    /// By which records features are chosen, and by which their coefficients are estimated.
    pub inference: InferenceMethod,
    /// How a certified procedure seeks features; absent for anything else.
    #[serde(flatten)]
    pub seeking: Option<Seeking>,
    /// n: how many records.
    pub records: usize,
    /// How many clients hold them.
    pub clients: usize,
    /// p: how many features.
    pub features: usize,
    /// s: how many of them are sought at most.
    pub sparsity: usize,
    /// How many of them are true.
    pub support: usize,
    /// How many trials.
    pub trials: u64,
    /// The seed of the first.
    pub seed: u64,
    /// What one run promises.
    pub guarantee: G,
    /// True features that were kept.
    pub recovered: Mean,
    /// The same as a share of all true features.
    pub recovered_share: Mean,
    /// Kept features.
    pub kept: Mean,
    /// The share of the kept features that is not true; zero in a trial that kept none.
    pub false_share: Mean,
    /// The share of the reported intervals, over all kept features, that contain the coefficient of the best linear
    /// prediction by the kept features; absent if no interval was reported.
    pub coverage: Option<Mean>,
    /// The width of these intervals, in the units of the generated data.
    pub width: Option<Mean>,
    /// Mean squared error on new records; of zeros and ones, that of the probability, the Brier score; of
    /// times, that of the probability that the first of two records has its event first.
    pub test_mse: Mean,
    /// One minus that, relative to predicting zero, or the share of ones, or a half.
    pub test_r2: Mean,
    /// Mean squared error of predicting zero, or the share of ones, or a half.
    pub null_mse: f64,
    /// Of the deviance that the true model explains, the share that the model explains: of zeros and ones, or of which of two
    /// records has its event first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviance_share: Option<Mean>,
    /// Of zeros and ones: how often a one has a larger predictor than a zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<Mean>,
    /// Of times: how often the record of the larger predictor has its event first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concordance: Option<Mean>,
    /// Seconds of one trial; absent where there is no clock.
    pub seconds_per_trial: Option<f64>,
}

impl Simulation {
    /// The trials and what they came out to.
    #[must_use]
    pub fn answer<G>(
        &self,
        guarantee: G,
        summary: &Summary,
        seconds: Option<f64>,
    ) -> SimulationAnswer<G> {
        let Summary {
            recovered,
            recovered_share,
            kept,
            false_share,
            coverage,
            width,
            test_mse,
            test_r2,
            null_mse,
            deviance_share,
            auc,
            concordance,
        } = *summary;
        SimulationAnswer {
            procedure: self.procedure.clone(),
            backend: self.backend,
            dropouts: self.dropouts,
            inference: self.inference,
            seeking: self.seeking,
            records: self.world.records,
            clients: self.world.clients(),
            features: self.world.features,
            sparsity: self.world.sparsity,
            support: self.world.support(),
            trials: self.trials,
            seed: self.seed,
            guarantee,
            recovered,
            recovered_share,
            kept,
            false_share,
            coverage,
            width,
            test_mse,
            test_r2,
            null_mse,
            deviance_share,
            auc,
            concordance,
            seconds_per_trial: seconds,
        }
    }
}

/// What one run with certified noise would promise if the noise were secret.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrialGuarantee {
    /// Always `certified`.
    pub mode: Mode,
    /// Always `simulated`: NOT PRIVATE.
    pub noise: Provenance,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// ε at δ.
    pub epsilon: Option<Epsilon>,
    /// δ.
    pub delta: Delta,
    /// μ of the sums.
    pub mu: Option<Mu>,
    /// How many kinds of choices were made.
    pub selections: usize,
    /// All of it, as a table.
    pub statement: String,
}

impl TrialGuarantee {
    /// The guarantee of one run that spends `spending`.
    #[must_use]
    pub fn of(spending: &Spending, origin: NoiseOrigin, delta: Delta, relation: Relation) -> Self {
        let cost = spending.to_approx_dp(delta);
        let mu = spending.sums().and_then(|sums| sums.mu().ok());
        let statement = GuaranteeTable::new(&GuaranteeFacts {
            cost,
            moment: GuaranteeMoment::Final,
            is_secret: false,
            unit: PrivacyUnit::Record,
            relation,
            origin,
            trustees: None,
            clients: ClientsRun::InOneProcess,
            several_records: None,
            n_sites: 0,
            currency: mu
                .filter(|_| spending.selections().is_empty())
                .map(Currency::Gaussian),
            verified_from: None,
        });
        Self {
            mode: Mode::Certified,
            noise: Provenance::Simulated,
            unit: PrivacyUnit::Record,
            neighbours: relation,
            epsilon: cost.map(ApproxDp::epsilon),
            delta,
            mu,
            selections: spending.selections().len(),
            statement: statement.to_string(),
        }
    }
}

/// What the references promise: nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoGuarantee {
    /// Always `non-private`.
    pub mode: &'static str,
    /// Why.
    pub statement: &'static str,
}

impl NoGuarantee {
    /// What a run on the records themselves promises.
    pub const REFERENCE: Self = Self {
        mode: "non-private",
        statement: "NOT PRIVATE: the records themselves were used, without noise",
    };
}
