//! `plan`: what a study will ask, cost and probably find, before any record is touched.

use std::ops::ControlFlow;
use std::time::Instant;

use clap::Args;
use sprifed::{ForecastAnswer, PlanAnswer, PlanRequest, Planned, SecureSums};
use sprifed_privacy::{Delta, Epsilon, Relation, shown_cost, shown_delta};
use sprifed_recovery::CertifiedProcedure;
use sprifed_report::table;

use crate::account::parse_quantity;
use crate::choices::{procedures, relations};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::study_arguments::{BackendArguments, WorldArguments};

/// `plan`.
#[derive(Args, Debug)]
pub(crate) struct PlanStudy {
    /// How features are found.
    #[arg(long, value_parser = procedures(), default_value = "grad")]
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
    #[arg(long, value_parser = relations(), default_value = "zero-out")]
    neighbours: Relation,
    /// Simulated studies behind each number of the forecast; 0 for none.
    #[arg(long, default_value_t = 6)]
    forecast_trials: u64,
}

impl PlanStudy {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let planned = PlanRequest {
            procedure: self.procedure,
            backend: self.backend.request(),
            world: self.world.size(),
            epsilon: self.epsilon,
            delta: self.delta,
            neighbours: self.neighbours,
        }
        .plan()?;
        let answer = planned.answer(self.forecast(&planned)?)?;
        output.answer(&answer, to_text);
        Ok(())
    }

    fn forecast(&self, planned: &Planned) -> Result<Option<ForecastAnswer>, Failure> {
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
        let seconds = start.elapsed().as_secs_f64() / f64::max(trials, 1.0);
        Ok(Some(ForecastAnswer::of(forecast, Some(seconds))))
    }
}

fn to_text(answer: &PlanAnswer) -> String {
    let guarantee = &answer.guarantee;
    let mut text = format!(
        "{}: ({}, {})-DP for each {} under {}, {} questions in {} rounds.\n\
         Each client sends {} integers of {} bits in all: {} bytes.\n\n",
        answer.procedure,
        shown_cost(guarantee.epsilon.map_or(0.0, Epsilon::get)),
        shown_delta(guarantee.delta.get()),
        guarantee.unit.text(),
        guarantee.neighbours.text(),
        answer.integers,
        answer.rounds,
        answer.integers,
        answer.bits_per_integer,
        answer.upload_bytes_per_client,
    );
    let heading = [
        "step",
        "asks for",
        "integers",
        "noise / largest contribution",
        "mu or range",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for line in &answer.steps {
        let noise = line.relative_noise.iter().map(|n| format!("{n:.1}"));
        rows.push(vec![
            (line.step + 1).to_string(),
            line.purpose.clone(),
            line.integers.to_string(),
            noise.collect::<Vec<_>>().join(" | "),
            shown_cost(line.cost),
        ]);
    }
    text += &table(&rows);
    if let Some(sums) = &answer.secure_sums {
        text += &secure_sums_text(sums);
    }
    if let Some(forecast) = &answer.forecast {
        text += &forecast_text(forecast, answer);
    }
    text
}

fn secure_sums_text(sums: &SecureSums) -> String {
    let (least, most) = (sums.bits.iter().min(), sums.bits.iter().max());
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 bytes")]
    let sent = sums.client.sends_bytes as f64 / 1024.0;
    let probability = sums.failures.availability.for_each_sum;
    let unopened = if probability > 0.0 {
        format!(
            "a sum of enough clients cannot be opened and must be repeated with a probability of at most {} for each sum",
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

fn forecast_text(forecast: &ForecastAnswer, answer: &PlanAnswer) -> String {
    let share = forecast.recovered_share;
    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    let expected = share.mean * answer.sparsity as f64;
    let needed = forecast.records_for_90_percent.map_or_else(
        || "more than were tried".to_owned(),
        |records| format!("about {records}"),
    );
    format!(
        "\nforecast ({} simulated studies a point; {}):\n\
         with n = {} expect to find {expected:.1} of {} features (share {:.2}, standard error {:.2}), \
         test R2 {:.2} (predicting zero: 0)\n\
         to find 90 % on average you need {needed} records; one study takes {:.2} s here, records in memory\n",
        forecast.trials,
        forecast.assumes,
        answer.records,
        answer.sparsity,
        share.mean,
        share.std_error,
        forecast.test_r2.median,
        forecast.seconds_per_study.unwrap_or(f64::NAN),
    )
}
