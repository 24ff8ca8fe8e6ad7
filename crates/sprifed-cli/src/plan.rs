//! `plan`: what a study will ask, cost and probably find, before any record is touched.

mod secure_sums;
mod theorem;

use std::time::Instant;

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use sprifed_privacy::{ApproxDp, Delta, Epsilon, LOG_WRAP_PROBABILITY, Mu, NoiseOrigin, SumSize};
use sprifed_query::{Plan, PlannedStep};
use sprifed_recovery::CertifiedProcedure;
use sprifed_simulate::{Absence, Forecast, Method, WorldRequest, forecast_records};

use crate::account::parse_quantity;
use crate::failure::Failure;
use crate::output::{Output, table};
use crate::progress::Progress;
use crate::simulate::ProcedureName;
use crate::study_arguments::{BackendArguments, RelationName, WorldArguments};

/// `plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanStudy {
    /// The certified procedure.
    #[arg(long, value_enum, default_value = "grad")]
    procedure: ProcedureName,
    #[command(flatten)]
    backend: BackendArguments,
    #[command(flatten)]
    world: WorldArguments,
    /// Epsilon of the budget.
    #[arg(long, value_parser = parse_quantity::<Epsilon>, allow_negative_numbers = true)]
    epsilon: Epsilon,
    /// Delta of the budget [default: the smaller of 1e-6 and 1/(10 n)].
    #[arg(long, value_parser = parse_quantity::<Delta>, allow_negative_numbers = true)]
    delta: Option<Delta>,
    /// Which data sets count as neighbours.
    #[arg(long, value_enum, default_value = "zero-out")]
    neighbours: RelationName,
    /// Simulated studies behind each number of the forecast; 0 for none.
    #[arg(long, default_value_t = 6)]
    forecast_trials: u64,
}

/// One sum or choice of the plan, in words and numbers.
#[derive(Debug, Serialize)]
struct StepLine {
    step: usize,
    purpose: String,
    kind: &'static str,
    integers: u64,
    /// The standard deviation of the noise of each block, in units of the largest contribution.
    relative_noise: Vec<f64>,
    /// The share of the budget, as mu of a sum or range of a choice.
    cost: f64,
}

impl PlanStudy {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let request = self.world.request()?;
        let procedure = self.procedure.certified().ok_or_else(|| {
            Failure::usage(
                "sprifed::plan::not-certified",
                format!("{} has no certified plan", self.procedure.words()),
                "choose grad, sieve, argmax, honest-omp or honest-grad",
            )
        })?;
        let budget = ApproxDp::new(self.epsilon, self.delta()?);
        let relation = self.neighbours.relation();
        let method = match self.backend.origin(self.world.clients())? {
            NoiseOrigin::Curator => Method::certified(procedure, &request, budget, relation)?,
            NoiseOrigin::Shares(participation) => {
                let absence = Absence::NONE;
                Method::federated(
                    procedure,
                    &request,
                    budget,
                    relation,
                    participation,
                    absence,
                )?
            }
        };
        let Method::Certified { plan, setting, .. } = &method else {
            unreachable!("certified methods have a plan")
        };
        let cost = plan.spending()?.to_approx_dp(budget.delta());
        if cost.is_some_and(|cost| cost.epsilon() > budget.epsilon()) {
            return Err(Failure::outcome(
                "sprifed::plan::over-budget",
                format!("no plan costs as little as epsilon = {}", budget.epsilon()),
                "ask for a larger epsilon; nothing was spent",
            ));
        }
        let forecast = self.forecast(procedure, request, effective(budget, plan.origin)?)?;
        let mut answer = self.to_json(plan, &request, forecast.as_ref())?;
        answer["secure_sums"] = secure_sums::answer(procedure, setting, plan)?;
        output.answer(&answer, |answer| self.to_text(answer, plan, &request));
        Ok(())
    }

    fn delta(&self) -> Result<Delta, Failure> {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
        let recommended = (0.1 / self.world.records.max(1) as f64).min(1e-6);
        Ok(self
            .delta
            .map_or_else(|| Delta::try_from(recommended), Ok)?)
    }

    fn forecast(
        &self,
        procedure: CertifiedProcedure,
        request: WorldRequest,
        budget: ApproxDp,
    ) -> Result<Option<(Forecast, f64)>, Failure> {
        if self.forecast_trials == 0 {
            return Ok(None);
        }
        let progress = Progress::start("forecast", 8 * self.forecast_trials);
        let start = Instant::now();
        let mut trials = 0.0;
        let forecast = forecast_records(
            procedure,
            request,
            budget,
            self.neighbours.relation(),
            self.forecast_trials,
            |_| {
                trials += 1.0;
                progress.advance();
            },
        )?;
        progress.finish();
        Ok(Some((
            forecast,
            start.elapsed().as_secs_f64() / f64::max(trials, 1.0),
        )))
    }

    fn to_json(
        &self,
        plan: &Plan,
        request: &WorldRequest,
        forecast: Option<&(Forecast, f64)>,
    ) -> Result<Value, Failure> {
        let spending = plan.spending()?;
        let delta = self.delta()?;
        let bits = bits_per_integer(plan, request)?;
        Ok(json!({
            "procedure": self.procedure.words(),
            "records": request.records, "clients": self.world.clients(),
            "features": request.features, "sparsity": request.sparsity,
            "guarantee": {
                "mode": "certified", "unit": plan.unit, "neighbours": plan.relation,
                "epsilon": spending.to_approx_dp(delta).map(ApproxDp::epsilon), "delta": delta,
                "mu": spending.sums().and_then(|sums| sums.mu().ok()),
            },
            "rounds": plan.steps.len(), "integers": plan.coordinates(),
            "bits_per_integer": bits, "upload_bytes_per_client": (plan.coordinates() * bits).div_ceil(8),
            "steps": lines(plan)?,
            "forecast": forecast.map(|(forecast, seconds)| json!({
                "assumes": "features and model like those of `simulate` with these options",
                "recovered_share": forecast.planned.recovered_share,
                "test_r2": forecast.planned.test_r2,
                "records_for_90_percent": forecast.records_for_90_percent,
                "tried": forecast.tried, "trials": forecast.trials,
                "seconds_per_study": seconds,
            })),
            "theorem": theorem::answer(plan, request, self.neighbours.relation())?,
        }))
    }

    fn to_text(&self, answer: &Value, plan: &Plan, request: &WorldRequest) -> String {
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let guarantee = &answer["guarantee"];
        let mut text = format!(
            "{}: ({:.4}, {:e})-DP for each {} under {}, {} questions in {} rounds.\n\
             Each client sends {} integers of {} bits in all: {} bytes.\n\n",
            plan.procedure,
            number(&guarantee["epsilon"]),
            number(&guarantee["delta"]),
            plan.unit.words(),
            plan.relation.words(),
            plan.coordinates(),
            plan.steps.len(),
            plan.coordinates(),
            answer["bits_per_integer"],
            answer["upload_bytes_per_client"],
        );
        let mut rows = vec![
            [
                "step",
                "asks for",
                "integers",
                "noise / largest contribution",
                "mu or range",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        for line in lines(plan).unwrap_or_default() {
            let noise: Vec<String> = line
                .relative_noise
                .iter()
                .map(|n| format!("{n:.1}"))
                .collect();
            rows.push(vec![
                (line.step + 1).to_string(),
                line.purpose,
                line.integers.to_string(),
                noise.join(" | "),
                format!("{:.4}", line.cost),
            ]);
        }
        text += &table(&rows);
        text += &secure_sums::to_text(&answer["secure_sums"]);
        text += &forecast_text(&answer["forecast"], request);
        text + &theorem::to_text(&answer["theorem"])
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

fn forecast_text(forecast: &Value, request: &WorldRequest) -> String {
    if forecast.is_null() {
        return String::new();
    }
    let share = forecast["recovered_share"]["mean"]
        .as_f64()
        .unwrap_or(f64::NAN);
    let error = forecast["recovered_share"]["std_error"]
        .as_f64()
        .unwrap_or(f64::NAN);
    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    let expected = share * request.sparsity as f64;
    let needed = forecast["records_for_90_percent"].as_u64().map_or_else(
        || "more than were tried".to_owned(),
        |records| format!("about {records}"),
    );
    format!(
        "\nforecast ({} simulated studies a point; {}):\n\
         with n = {} expect to find {expected:.1} of {} features (share {share:.2}, standard error {error:.2}), \
         test R2 {:.2} (predicting zero: 0)\n\
         to find 90 % on average you need {needed} records; one study takes {:.2} s here, records in memory\n",
        forecast["trials"],
        forecast["assumes"].as_str().unwrap_or_default(),
        request.records,
        request.sparsity,
        forecast["test_r2"]["median"].as_f64().unwrap_or(f64::NAN),
        forecast["seconds_per_study"].as_f64().unwrap_or(f64::NAN),
    )
}

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
