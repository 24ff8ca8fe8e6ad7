//! What a study will ask, cost and probably find, before any record is touched.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Value, json};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, LOG_WRAP_PROBABILITY, Mu, NoiseOrigin, Relation, Spending, SumCost,
    SumSize,
};
use sprifed_query::{Plan, PlannedStep};
use sprifed_recovery::{CertifiedProcedure, Setting};
use sprifed_simulate::{Absence, Certified, Forecast, WorldRequest, forecast_records};

use crate::backend::BackendRequest;
use crate::failure::Failure;
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

/// One sum or choice of the plan, in words and numbers.
#[derive(Debug, Serialize)]
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
    pub fn plan(self) -> Result<Planned, Failure> {
        let data = self.world.request()?;
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
        let records = self.world.records as f64;
        let delta = self.delta.map_or_else(|| recommended_delta(records), Ok)?;
        let budget = ApproxDp::new(self.epsilon, delta);
        let (procedure, relation) = (self.procedure, self.neighbours);
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
            return Err(Failure::outcome(
                "sprifed::plan::over-budget",
                format!("no plan costs as little as epsilon = {}", budget.epsilon()),
                "ask for a larger epsilon; nothing was spent",
            ));
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
    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Every step of the plan.
    ///
    /// # Errors
    /// When a step has no cost, which planning excludes.
    pub fn steps(&self) -> Result<Vec<StepLine>, Failure> {
        lines(&self.plan)
    }

    /// What simulation says of the study; `watch` hears of every trial and may end it there.
    ///
    /// # Errors
    /// When a trial fails, or `watch` ended it.
    pub fn forecast(
        &self,
        trials: u64,
        watch: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Forecast, Failure> {
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

    /// What secure sums need of each party; none with a curator.
    ///
    /// # Errors
    /// When the parties could not agree on the study.
    pub fn secure_sums(&self) -> Result<Option<SecureSums>, Failure> {
        SecureSums::of(self.request.procedure, &self.setting, &self.plan)
    }

    /// The plan and, if there is one, the forecast with the seconds that one study took.
    ///
    /// # Errors
    /// When the plan's integers do not fit any modulus.
    pub fn to_json(&self, forecast: Option<&(Forecast, f64)>) -> Result<Value, Failure> {
        let Self {
            request,
            budget,
            data,
            plan,
            spending,
            ..
        } = self;
        let delta = budget.delta();
        let bits = bits_per_integer(plan, data)?;
        Ok(json!({
            "procedure": request.procedure,
            "records": data.records, "clients": request.world.clients(),
            "features": data.features, "sparsity": data.sparsity,
            "guarantee": {
                "mode": "certified", "unit": plan.unit, "neighbours": plan.relation,
                "epsilon": spending.to_approx_dp(delta).map(ApproxDp::epsilon), "delta": delta,
                "mu": spending.sums().and_then(|sums| sums.mu().ok()),
                "protocol_failure": spending.sums().map_or(0.0, SumCost::failure),
            },
            "rounds": plan.steps.len(), "integers": plan.coordinates(),
            "bits_per_integer": bits, "upload_bytes_per_client": (plan.coordinates() * bits).div_ceil(8),
            "steps": lines(plan)?,
            "secure_sums": self.secure_sums()?,
            "forecast": forecast.map(|(forecast, seconds)| json!({
                "assumes": "features and model like those of `simulate` with these options",
                "recovered_share": forecast.planned.recovered_share,
                "test_r2": forecast.planned.test_r2,
                "records_for_90_percent": forecast.records_for_90_percent,
                "tried": forecast.tried, "trials": forecast.trials,
                "seconds_per_study": seconds,
            })),
        }))
    }
}

/// The budget with which a curator would add as much noise as all clients together.
///
/// Noise is made for the honest shares that are certain, but everybody who stays adds one.
fn effective(budget: ApproxDp, origin: NoiseOrigin) -> Result<ApproxDp, Failure> {
    let NoiseOrigin::Shares(participation) = origin else {
        return Ok(budget);
    };
    let surplus = f64::from(participation.clients()) / f64::from(participation.honest());
    let mu = Mu::try_from(Mu::largest_within(budget)?.get() / surplus.sqrt())?;
    Ok(mu.to_approx_dp(budget.delta()))
}

/// Every step of `plan`.
fn lines(plan: &Plan) -> Result<Vec<StepLine>, Failure> {
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
fn bits_per_integer(plan: &Plan, request: &WorldRequest) -> Result<u64, Failure> {
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
            let bits = size.plan().map_err(|error| {
                let help = "use a smaller study; nothing was spent";
                Failure::usage("sprifed::plan::modulus", error.to_string(), help)
            })?;
            widest = widest.max(bits.bits);
        }
    }
    Ok(u64::from(widest))
}
