//! `plan`: what a study will ask, cost and probably find, before any record is touched.

use std::ops::ControlFlow;
use std::time::Instant;

use clap::Args;
use serde_json::Value;
use sprifed::{PlanRequest, Planned, SecureSums};
use sprifed_privacy::{Delta, Epsilon, shown_cost, shown_delta};
use sprifed_recovery::CertifiedProcedure;
use sprifed_report::table;
use sprifed_simulate::{Forecast, WorldRequest};

use crate::account::parse_quantity;
use crate::failure::Failure;
use crate::output::Output;
use crate::procedure_arguments::registered;
use crate::progress::Progress;
use crate::study_arguments::{BackendArguments, RelationName, WorldArguments};

/// `plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanStudy {
    /// How features are found.
    #[arg(long, value_parser = registered(), default_value = "grad")]
    procedure: CertifiedProcedure,
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

impl PlanStudy {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let request = self.world.request()?;
        let planned = PlanRequest {
            procedure: self.procedure,
            backend: self.backend.request(),
            world: self.world.size(),
            epsilon: self.epsilon,
            delta: self.delta,
            neighbours: self.neighbours.relation(),
        }
        .plan()?;
        let forecast = self.forecast(&planned)?;
        let answer = planned.to_json(forecast.as_ref())?;
        output.answer(&answer, |answer| self.to_text(answer, &planned, &request));
        Ok(())
    }

    fn forecast(&self, planned: &Planned) -> Result<Option<(Forecast, f64)>, Failure> {
        if self.forecast_trials == 0 {
            return Ok(None);
        }
        let progress = Progress::start("forecast", 8 * self.forecast_trials);
        let start = Instant::now();
        let mut trials = 0.0;
        let forecast = planned.forecast(self.forecast_trials, |_| {
            trials += 1.0;
            progress.advance();
            ControlFlow::Continue(())
        })?;
        progress.finish();
        Ok(Some((
            forecast,
            start.elapsed().as_secs_f64() / f64::max(trials, 1.0),
        )))
    }

    fn to_text(&self, answer: &Value, planned: &Planned, request: &WorldRequest) -> String {
        let plan = planned.plan();
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let guarantee = &answer["guarantee"];
        let mut text = format!(
            "{}: ({}, {})-DP for each {} under {}, {} questions in {} rounds.\n\
             Each client sends {} integers of {} bits in all: {} bytes.\n\n",
            plan.procedure,
            shown_cost(number(&guarantee["epsilon"])),
            shown_delta(number(&guarantee["delta"])),
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
        for line in planned.steps().unwrap_or_default() {
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
                shown_cost(line.cost),
            ]);
        }
        text += &table(&rows);
        if let Ok(Some(sums)) = planned.secure_sums() {
            text += &secure_sums_text(&sums);
        }
        text + &forecast_text(&answer["forecast"], request)
    }
}

fn secure_sums_text(sums: &SecureSums) -> String {
    let (least, most) = (sums.bits.iter().min(), sums.bits.iter().max());
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 bytes")]
    let sent = sums.client.sends_bytes as f64 / 1024.0;
    let probability = sums.failures.availability.for_each_sum;
    let unopened = if probability > 0.0 {
        format!(
            "a sum of enough clients can not be opened and must be repeated with a probability of at most {} for each sum",
            shown_delta(probability)
        )
    } else {
        "a sum of enough clients can always be opened and never must be repeated".to_owned()
    };
    format!(
        "\nsecure sums of {} clients: at least {} stay, at most {} collude, so {} honest shares make the noise;\n\
         {} neighbours, {} shares open a secret, {} confirmations; integers of {} to {} bits\n\
         privacy fails with a probability of at most {} in the study, which is contained in delta\n\
         availability: {unopened}; nothing is revealed then, and it is no part of delta\n\
         accuracy: a sum wraps around and is wrong with a probability of at most {} in the study; it reveals nothing more\n\
         each client sends {sent:.0} KiB in all and computes {:.2} s; the coordinator receives {:.1} MiB and computes \
         {:.1} s\n({})\n",
        sums.clients,
        sums.quorum,
        sums.colluders,
        sums.honest_shares,
        sums.neighbours,
        sums.threshold,
        sums.confirmations,
        least.copied().unwrap_or(0),
        most.copied().unwrap_or(0),
        shown_delta(sums.failures.privacy.in_the_study),
        shown_delta(sums.failures.accuracy.in_the_study),
        sums.client.seconds,
        sums.coordinator.receives_bytes / 1_048_576.0,
        sums.coordinator.seconds,
        sums.seconds_are,
    )
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
