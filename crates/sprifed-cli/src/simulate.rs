//! `simulate`: repeated trials on generated data.

use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};
use sprifed_fit::{
    NOT_PRIVATE_REFERENCE, Simulation, certified_guarantee, nobody_leaves_a_curator,
};
use sprifed_paper::{
    AnyMethod, Baseline, Contender, NamedContender, PaperAlgorithm, RecoveryTheorems,
};
use sprifed_privacy::{ApproxDp, Delta, Epsilon, Mu, NoiseOrigin, shown_to};
use sprifed_simulate::{Absence, Certified, Method as _, Summary};

use crate::account::parse_quantity;
use crate::baseline_arguments::{BaselineArguments, NoiseKind, parameters_of};
use crate::contender_arguments::contenders;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::study_arguments::{BackendArguments, RelationName, WorldArguments};

mod tuned;

/// `simulate`.
#[derive(Args, Debug)]
pub(crate) struct Simulate {
    /// The procedure.
    #[arg(long, value_parser = contenders())]
    procedure: NamedContender,
    #[command(flatten)]
    backend: BackendArguments,
    /// Of secure sums: the share of clients that leaves each sum, half of them before they upload.
    #[arg(long, default_value_t = 0.0)]
    dropouts: f64,
    #[command(flatten)]
    world: WorldArguments,
    #[command(flatten)]
    baseline: BaselineArguments,
    /// Baselines: look for parameters among this many candidates, for free as in the paper and, with
    /// certified noise, also within the budget. Two rows are reported.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    tune: Option<u32>,
    /// Epsilon of the budget; for certified procedures.
    #[arg(long, value_parser = parse_quantity::<Epsilon>, default_value = "5.34", allow_negative_numbers = true)]
    epsilon: Epsilon,
    /// Delta of the budget.
    #[arg(long, value_parser = parse_quantity::<Delta>, default_value = "1e-4", allow_negative_numbers = true)]
    delta: Delta,
    /// Which data sets count as neighbours.
    #[arg(long, value_enum, default_value = "zero-out")]
    neighbours: RelationName,
    /// mu_p of the paper's procedures [default: 0.543 up to 5 active features, 0.4 above].
    #[arg(long, value_parser = parse_quantity::<Mu>, allow_negative_numbers = true)]
    mu_p: Option<Mu>,
    /// mu_s of the paper's procedures.
    #[arg(long, value_parser = parse_quantity::<Mu>, default_value = "0.02", allow_negative_numbers = true)]
    mu_s: Mu,
    /// How many trials.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,
    /// The seed of the first trial; trial k uses seed + k.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Simulate {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let request = self.world.request()?;
        let method = self.method()?;
        if let Some(count) = self.tune {
            return self.run_tuned(&method, count, output);
        }
        let progress = Progress::start("trials", self.trials);
        let start = Instant::now();
        let mut outcomes = Vec::new();
        for trial in 0..self.trials {
            outcomes.push(method.run(request, self.seed.wrapping_add(trial))?);
            progress.advance();
        }
        progress.finish();
        let seconds = start.elapsed().as_secs_f64() / outcomes.len().max(1) as f64;
        let summary = Summary::of(&outcomes, request.sparsity);
        let answer = self.to_json(&method, &summary, seconds)?;
        output.answer(&answer, |answer| self.to_text(answer, &summary, seconds));
        Ok(())
    }

    fn method(&self) -> Result<AnyMethod, Failure> {
        let request = self.world.request()?;
        let budget = ApproxDp::new(self.epsilon, self.delta);
        let relation = self.neighbours.relation();
        if let NoiseOrigin::Shares(participation) =
            self.backend.request().origin(self.world.clients())?
        {
            let Some(procedure) = self
                .procedure
                .contender
                .procedure()
                .filter(|_| self.tune.is_none())
            else {
                return Err(Failure::usage(
                    "sprifed::simulate::backend",
                    format!(
                        "{} has no certified noise, or is tuned",
                        self.procedure.name
                    ),
                    "use the backend curator, or a certified procedure without --tune",
                ));
            };
            let absence = self.absence()?;
            return Ok(AnyMethod::federated(
                procedure,
                &request,
                budget,
                relation,
                participation,
                absence,
            )?);
        }
        if self.dropouts != 0.0 {
            return Err(nobody_leaves_a_curator());
        }
        if let Some((baseline, noise)) = self.baseline.read(self.procedure, request.sparsity)? {
            return Ok(match noise {
                NoiseKind::Certified => AnyMethod::baseline(baseline, &request, budget, relation)?,
                NoiseKind::Paper => {
                    let per_vector = self.per_vector()?;
                    AnyMethod::paper_baseline(baseline, &request, per_vector, self.mu_s)?
                }
            });
        }
        match self.procedure.contender {
            Contender::Certified(procedure) => {
                Ok(AnyMethod::certified(procedure, &request, budget, relation)?)
            }
            Contender::Paper(algorithm) => {
                let per_vector = self.per_vector()?;
                Ok(AnyMethod::paper(
                    algorithm, &request, per_vector, self.mu_s,
                )?)
            }
            Contender::NonPrivate(reference) => Ok(AnyMethod::Reference(reference)),
            Contender::PaperDpSgd | Contender::PaperDpGcd => {
                unreachable!("baselines were read above")
            }
        }
    }

    fn absence(&self) -> Result<Absence, Failure> {
        Absence::of(self.dropouts).map_err(|error| {
            Failure::usage(
                "sprifed::simulate::dropouts",
                error.to_string(),
                "correct --dropouts",
            )
        })
    }

    fn per_vector(&self) -> Result<Mu, Failure> {
        let usual = if self.world.sparsity <= 5 { 0.543 } else { 0.4 };
        Ok(self.mu_p.map_or_else(|| Mu::try_from(usual), Ok)?)
    }

    fn to_json(
        &self,
        method: &AnyMethod,
        summary: &Summary,
        seconds: f64,
    ) -> Result<Value, Failure> {
        let guarantee = match method {
            AnyMethod::Certified(Certified { plan, .. }) | AnyMethod::Baseline { plan, .. } => {
                let relation = self.neighbours.relation();
                certified_guarantee(&plan.spending()?, plan.origin, self.delta, relation)
            }
            AnyMethod::Paper { .. } => self.paper_guarantee()?,
            AnyMethod::PaperBaseline { baseline, .. } => self.paper_baseline_guarantee(baseline)?,
            AnyMethod::Reference(_) => json!({
                "mode": "non-private",
                "statement": NOT_PRIVATE_REFERENCE,
            }),
        };
        let simulation = Simulation {
            procedure: self.procedure.name.to_owned(),
            backend: self.backend.backend.backend(),
            dropouts: self.dropouts,
            world: self.world.size(),
            trials: self.trials,
            seed: self.seed,
        };
        let mut answer = simulation.to_json(guarantee, summary, seconds);
        if let AnyMethod::Baseline { baseline, .. } | AnyMethod::PaperBaseline { baseline, .. } =
            method
        {
            answer["parameters"] = parameters_of(baseline);
        }
        if let Some(theorems) = self.theorems()? {
            answer["theorem"] = json!(theorems);
        }
        Ok(answer)
    }

    /// What the paper's recovery theorems say of this world, for the algorithms that they are about.
    fn theorems(&self) -> Result<Option<RecoveryTheorems>, Failure> {
        if !self.procedure.contender.has_recovery_theorem() {
            return Ok(None);
        }
        let budget = ApproxDp::new(self.epsilon, self.delta);
        let relation = self.neighbours.relation();
        let theorems = RecoveryTheorems::of(budget, &self.world.request()?, relation)?;
        Ok(Some(theorems))
    }

    fn paper_guarantee(&self) -> Result<Value, Failure> {
        let per_vector = self.per_vector()?;
        let nominal = sprifed_privacy::paper::NominalCounts {
            sparsity: u32::try_from(self.world.sparsity).unwrap_or(u32::MAX),
            per_vector,
            per_support: self.mu_s,
        }
        .theorem()?;
        let claimed = nominal.to_approx_dp(self.delta).epsilon();
        let delivered = match self.procedure.contender {
            Contender::Paper(PaperAlgorithm::Grad) => unbounded(),
            _ => self.delivered(per_vector)?,
        };
        Ok(json!({
            "mode": "paper-compatible",
            "label": "NOMINAL (paper formula, not a DP guarantee)",
            "claimed": { "mu": nominal, "epsilon": claimed, "delta": self.delta },
            "delivered": delivered,
        }))
    }

    /// What the paper's formula gives for a baseline: T·μ_p² for DP-SGD, scaled to s·μ_p², beside
    /// 2s·μ_s² for its refit; 2T·μ_p² for DP-GCD.
    fn paper_baseline_guarantee(&self, baseline: &Baseline) -> Result<Value, Failure> {
        let per_vector = self.per_vector()?.get();
        let sparsity = self.world.sparsity as f64;
        let square = match baseline {
            Baseline::DpSgd(_) => sparsity * (per_vector.powi(2) + 2.0 * self.mu_s.get().powi(2)),
            Baseline::DpGcd(parameters) => 2.0 * f64::from(parameters.steps) * per_vector.powi(2),
        };
        let nominal = Mu::try_from(square.sqrt())?;
        Ok(json!({
            "mode": "paper-compatible",
            "label": "NOMINAL (paper formula, not a DP guarantee): NOT PRIVATE",
            "claimed": {
                "mu": nominal, "epsilon": nominal.to_approx_dp(self.delta).epsilon(),
                "delta": self.delta,
            },
            "delivered": unbounded(),
        }))
    }

    fn delivered(&self, per_vector: Mu) -> Result<Value, Failure> {
        let claim = sprifed_privacy::paper::Claim {
            sparsity: u32::try_from(self.world.sparsity).ok(),
            shares: (per_vector.get(), self.mu_s.get()),
            ..sprifed_privacy::paper::claims()[0]
        };
        let Some(mu) = claim.delivered_zero_out()? else {
            return Ok(Value::Null);
        };
        let twice = Mu::try_from(2.0 * mu.get())?;
        let priced = |mu: Mu| json!({ "mu": mu, "epsilon": mu.to_approx_dp(self.delta).epsilon() });
        Ok(json!({ "zero-out": priced(mu), "replace-one": priced(twice) }))
    }

    fn to_text(&self, answer: &Value, summary: &Summary, seconds: f64) -> String {
        let guarantee = &answer["guarantee"];
        let statement = guarantee["statement"].as_str().map_or_else(
            || {
                format!(
                    "{}: claimed epsilon {}; delivered {} (zero-out), {} (replace-one), at delta {}",
                    guarantee["label"].as_str().unwrap_or_default(),
                    epsilon_of(&guarantee["claimed"]),
                    epsilon_of(&guarantee["delivered"]["zero-out"]),
                    epsilon_of(&guarantee["delivered"]["replace-one"]),
                    self.delta,
                )
            },
            str::to_owned,
        );
        let theorems = self.theorems().ok().flatten();
        let theorems = theorems.map_or_else(String::new, |words| format!("\n{words}"));
        format!(
            "{statement}\n\n\
             recovered   {:.2} of {} features on average (share {:.3}, standard error {:.3})\n\
             test MSE    mean {:.4}, median {:.4}; predicting zero: {:.4}\n\
             test R2     mean {:.3}, median {:.3}; predicting zero: 0\n\
             {} trials of n = {}, p = {}; {seconds:.2} s each{theorems}",
            summary.recovered.mean,
            self.world.sparsity,
            summary.recovered_share.mean,
            summary.recovered_share.std_error,
            summary.test_mse.mean,
            summary.test_mse.median,
            summary.null_mse,
            summary.test_r2.mean,
            summary.test_r2.median,
            self.trials,
            self.world.records,
            self.world.features,
        )
    }
}

/// What is delivered where nothing bounds a record.
fn unbounded() -> Value {
    json!({
        "zero-out": null, "replace-one": null,
        "reason": "the residual is not clipped, so one record can move a sum without bound",
    })
}

fn epsilon_of(priced: &Value) -> String {
    priced["epsilon"]
        .as_f64()
        .map_or_else(|| "none".to_owned(), |value| shown_to(value, 2))
}
