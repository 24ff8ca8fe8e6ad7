//! What a study will ask, cost and probably find, before any record is touched.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, LOG_WRAP_PROBABILITY, Mu, NoiseOrigin, PrivacyUnit, Relation,
    Spending, SumCost, SumSize,
};
use sprifed_query::{Plan, PlannedStep};
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_simulate::{Absence, Certified, Forecast, Mean, WorldRequest, forecast_records};

use crate::backend::BackendRequest;
use crate::error::Error;
use crate::guarantee::Mode;
use crate::secure_sums::SecureSums;
use crate::study::recommended_delta;
use crate::world::WorldSize;

/// A study to be planned.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest {
    /// How features are to be found.
    pub procedure: CertifiedProcedure,
    /// Who adds up.
    pub backend: BackendRequest,
    /// The size of the study, and what is assumed of its data.
    pub world: WorldSize,
    /// Epsilon of the budget.
    pub epsilon: Epsilon,
    /// Delta of the budget; the smaller of 1e-6 and 1/(10 n) by default.
    pub delta: Option<Delta>,
    /// Which data sets count as neighbours.
    pub neighbours: Relation,
}

/// A study that can be afforded.
#[derive(Clone, Debug)]
pub struct Planned {
    request: PlanRequest,
    budget: ApproxDp,
    data: WorldRequest,
    setting: Setting,
    plan: Plan,
    spending: Spending,
}

/// What a study will ask and cost, and what simulation says of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanAnswer {
    /// How features are found.
    pub procedure: CertifiedProcedure,
    /// n: how many records.
    pub records: usize,
    /// How many clients hold them.
    pub clients: usize,
    /// p: how many features.
    pub features: usize,
    /// s: how many of them are chosen.
    pub sparsity: usize,
    /// What the study promises.
    pub guarantee: PlannedGuarantee,
    /// How many sums and choices.
    pub rounds: usize,
    /// How many integers each client sends in all.
    pub integers: u64,
    /// Bits of an integer on the wire.
    pub bits_per_integer: u64,
    /// Bytes that each client sends, without masks' keys and transport.
    pub upload_bytes_per_client: u64,
    /// Every sum and choice.
    pub steps: Vec<StepLine>,
    /// What secure sums need of each party; absent with a curator.
    pub secure_sums: Option<SecureSums>,
    /// What simulation says; absent if none was asked for.
    pub forecast: Option<ForecastAnswer>,
}

/// What a planned study promises with secret noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlannedGuarantee {
    /// Always `certified`.
    pub mode: Mode,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// ε at δ; absent if nothing is asked.
    pub epsilon: Option<Epsilon>,
    /// δ.
    pub delta: Delta,
    /// μ of the sums.
    pub mu: Option<Mu>,
    /// How likely the protocol of secure sums fails, contained in δ.
    pub protocol_failure: f64,
}

/// What simulated studies found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForecastAnswer {
    /// What is assumed of the data.
    pub assumes: &'static str,
    /// The share of the true features that was found.
    pub recovered_share: Mean,
    /// One minus the squared error on new records, relative to predicting zero.
    pub test_r2: Mean,
    /// The records at which 90 % of the features are found on average; absent if more than were tried.
    pub records_for_90_percent: Option<usize>,
    /// Every number of records that was tried, with the share that was found.
    pub tried: Vec<(usize, f64)>,
    /// Simulated studies behind each.
    pub trials: u64,
    /// Seconds of one study; absent where there is no clock.
    pub seconds_per_study: Option<f64>,
}

impl ForecastAnswer {
    /// The answer about `forecast`, of which each study took `seconds`.
    #[must_use]
    pub fn of(forecast: Forecast, seconds: Option<f64>) -> Self {
        Self {
            assumes: "features and model like those of `simulate` with these options",
            recovered_share: forecast.planned.recovered_share,
            test_r2: forecast.planned.test_r2,
            records_for_90_percent: forecast.records_for_90_percent,
            tried: forecast.tried,
            trials: forecast.trials,
            seconds_per_study: seconds,
        }
    }
}

/// One sum or choice of the plan, in words and numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepLine {
    /// Its place.
    pub step: usize,
    /// What it is for.
    pub purpose: String,
    /// `sum` or `choice`.
    pub kind: &'static str,
    /// How many integers each client sends.
    pub integers: u64,
    /// The standard deviation of the noise of each block, in units of the largest contribution.
    pub relative_noise: Vec<f64>,
    /// The share of the budget, as mu of a sum or range of a choice.
    pub cost: f64,
}

impl PlanRequest {
    /// The plan of this study.
    ///
    /// # Errors
    /// When there is none, or it costs more than the budget.
    pub fn plan(self) -> Result<Planned, Error> {
        let data = self.world.request()?;
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
        let records = self.world.records as f64;
        let delta = self.delta.map_or_else(|| recommended_delta(records), Ok)?;
        let budget = ApproxDp::new(self.epsilon, delta);
        let (procedure, relation) = (self.procedure, self.neighbours);
        let backend = self.backend.backend;
        if !backend.answers(procedure.needs()) {
            return Err(Error::NeedsChoices { procedure, backend });
        }
        let certified = match self.backend.origin(self.world.clients())? {
            NoiseOrigin::Curator => Certified::on_curator(procedure, &data, budget, relation)?,
            NoiseOrigin::Shares(participation) => {
                let absence = Absence::NONE;
                Certified::federated(procedure, &data, budget, relation, participation, absence)?
            }
        };
        let Certified { plan, setting, .. } = certified;
        let spending = plan.spending()?;
        let cost = spending.to_approx_dp(budget.delta());
        if cost.is_some_and(|cost| cost.epsilon() > budget.epsilon()) {
            return Err(Error::OverBudget {
                epsilon: budget.epsilon(),
            });
        }
        Ok(Planned {
            request: self,
            budget,
            data,
            setting,
            plan,
            spending,
        })
    }
}

impl Planned {
    /// What simulation says of the study; `watch` hears of every trial and may end it there.
    ///
    /// # Errors
    /// When a trial fails, or `watch` ended it.
    pub fn forecast(
        &self,
        trials: u64,
        watch: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Forecast, Error> {
        let PlanRequest {
            procedure,
            neighbours,
            ..
        } = self.request;
        let (data, budget) = (self.data, effective(self.budget, self.plan.origin)?);
        Ok(forecast_records(
            procedure, data, budget, neighbours, trials, watch,
        )?)
    }

    /// The plan and, if there is one, the forecast.
    ///
    /// # Errors
    /// When the plan's integers do not fit any modulus, or the parties could not agree on the study.
    pub fn answer(&self, forecast: Option<ForecastAnswer>) -> Result<PlanAnswer, Error> {
        let Self {
            request,
            budget,
            data,
            plan,
            spending,
            setting,
        } = self;
        let delta = budget.delta();
        let bits = bits_per_integer(plan, data)?;
        Ok(PlanAnswer {
            procedure: request.procedure,
            records: data.records,
            clients: request.world.clients(),
            features: data.features,
            sparsity: data.sparsity,
            guarantee: PlannedGuarantee {
                mode: Mode::Certified,
                unit: plan.unit,
                neighbours: plan.relation,
                epsilon: spending.to_approx_dp(delta).map(ApproxDp::epsilon),
                delta,
                mu: spending.sums().and_then(|sums| sums.mu().ok()),
                protocol_failure: spending.sums().map_or(0.0, SumCost::failure),
            },
            rounds: plan.steps.len(),
            integers: plan.coordinates(),
            bits_per_integer: bits,
            upload_bytes_per_client: (plan.coordinates() * bits).div_ceil(8),
            steps: lines(plan)?,
            secure_sums: SecureSums::of(request.procedure, setting, plan)?,
            forecast,
        })
    }
}

/// The budget with which a curator would add as much noise as all clients together.
///
/// Noise is made for the honest shares that are certain, but every party that stays adds one.
fn effective(budget: ApproxDp, origin: NoiseOrigin) -> Result<ApproxDp, Error> {
    let NoiseOrigin::Shares(participation) = origin else {
        return Ok(budget);
    };
    let surplus = f64::from(participation.clients()) / f64::from(participation.honest());
    let mu = Mu::try_from(Mu::largest_within(budget)?.get() / surplus.sqrt())?;
    Ok(mu.to_approx_dp(budget.delta()))
}

/// Every step of `plan`.
fn lines(plan: &Plan) -> Result<Vec<StepLine>, Error> {
    let line = |(step, planned): (usize, &PlannedStep)| match planned {
        PlannedStep::Sum(sum) => {
            let cost = sum.to_sum_plan().cost(plan.origin, plan.relation)?;
            let noise = sum.blocks.iter().map(|planned| {
                let variance = planned.block.share_variance.to_f64();
                (variance * f64::from(plan.origin.most_shares())).sqrt() / planned.steps
            });
            Ok(StepLine {
                step,
                purpose: sum.purpose.clone(),
                kind: "sum",
                integers: sum.to_sum_plan().coordinates(),
                relative_noise: noise.collect(),
                cost: cost.mu()?.get(),
            })
        }
        PlannedStep::Choice(choice) => {
            let (numerator, denominator) = choice.purchase.noise_rate;
            let rate = f64::from(numerator) / f64::from(denominator);
            let moves = f64::from(plan.relation.sum_moves_by() * choice.purchase.score_bound);
            Ok(StepLine {
                step,
                purpose: choice.purpose.clone(),
                kind: "choice",
                integers: u64::from(choice.purchase.candidates),
                // The standard deviation of a Gumbel variable is π/√6 times its scale.
                relative_noise: vec![1.2825 / rate / f64::from(choice.purchase.score_bound)],
                cost: 2.0 * rate * moves + 4.0 * rate,
            })
        }
    };
    plan.steps.iter().enumerate().map(line).collect()
}

/// Bits of an integer on the wire if every record's client added its share of the noise.
fn bits_per_integer(plan: &Plan, request: &WorldRequest) -> Result<u64, Error> {
    // A curator's noise is planned in one piece; clients would share it.
    let records = u32::try_from(request.records).unwrap_or(u32::MAX);
    let (clients, pieces) = match plan.origin {
        NoiseOrigin::Curator => (records, records),
        NoiseOrigin::Shares(participation) => (participation.clients(), 1),
    };
    let mut widest = 1;
    for step in &plan.steps {
        let PlannedStep::Sum(sum) = step else {
            continue;
        };
        for planned in &sum.blocks {
            let size = SumSize {
                largest_sum: u128::from(records)
                    * u128::from(planned.block.bounds.coordinate_bound()),
                shares: clients,
                share_variance: planned.block.share_variance.to_f64() / f64::from(pieces),
                coordinates: plan.coordinates(),
                log_wrap_probability: LOG_WRAP_PROBABILITY,
            };
            widest = widest.max(size.plan()?.bits);
        }
    }
    Ok(u64::from(widest))
}
