//! `audit`: fits of neighbouring tables, many times, and what can be told apart.

use std::ops::RangeInclusive;

use clap::Args;
use serde::Serialize;
use sprifed::Backend;
use sprifed_paper::{NamedContender, intercept_of};
use sprifed_privacy::{
    ApproxDp, Delta, Epsilon, NoiseOrigin, PrivacyUnit, Relation, shown_cost, shown_delta,
};
use sprifed_recovery::Needs;
use sprifed_report::table;
use sprifed_simulate::{AuditOutcome, AuditPoint, AuditRequest};

use crate::account::parse_quantity;
use crate::choices::{contenders, relations, units};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::study_arguments::BackendArguments;

/// `audit`.
#[derive(Args, Debug)]
pub(crate) struct Audit {
    /// The procedure, which must claim a guarantee.
    #[arg(long, value_parser = contenders(), default_value = "grad")]
    procedure: NamedContender,
    /// Whose presence is protected.
    #[arg(long, value_parser = units(), default_value = "record")]
    unit: PrivacyUnit,
    /// Which data sets count as neighbours.
    #[arg(long, value_parser = relations(), default_value = "zero-out")]
    neighbours: Relation,
    #[command(flatten)]
    backend: BackendArguments,
    /// Of secure sums: how many parties hold the records. With --unit client each unit is a party.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    clients: u32,
    /// Epsilon of the budget of one fit.
    #[arg(long, value_parser = parse_quantity::<Epsilon>, default_value = "3", allow_negative_numbers = true)]
    epsilon: Epsilon,
    /// Delta of the budget.
    #[arg(long, value_parser = parse_quantity::<Delta>, default_value = "1e-6", allow_negative_numbers = true)]
    delta: Delta,
    /// How many privacy units each table has.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(4..=1_000_000))]
    units: u32,
    /// How many features.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    features: u32,
    /// How many of them are chosen.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    sparsity: u32,
    /// How often each of the two tables is fitted, at least 20. More trials find smaller leaks and take longer.
    #[arg(long, default_value_t = 500, value_parser = parse_trials)]
    trials: u32,
    /// The confidence level: a correct system is flagged with a probability of at most one minus this.
    #[arg(long, default_value_t = 0.95)]
    level: f64,
    /// The seed of all trials.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn parse_trials(text: &str) -> Result<u32, String> {
    let trials = text.parse().ok().filter(|trials| TRIALS.contains(trials));
    trials.ok_or_else(|| {
        let (least, most) = (TRIALS.start(), TRIALS.end());
        format!("a whole number from {least} to {most} is required")
    })
}

/// How many trials an audit may have: with fewer no bound says anything.
const TRIALS: RangeInclusive<u32> = 20..=1_000_000;

/// The answer as JSON.
#[derive(Debug, Serialize)]
struct Answer {
    procedure: String,
    unit: PrivacyUnit,
    neighbours: Relation,
    backend: Backend,
    trials: u32,
    level: f64,
    seed: u64,
    at_budget: Point,
    at_best: Point,
    verdict: &'static str,
}

#[derive(Debug, Serialize)]
struct Point {
    delta: f64,
    claimed_epsilon: f64,
    least_epsilon: f64,
}

impl From<AuditPoint> for Point {
    fn from(point: AuditPoint) -> Self {
        Self {
            delta: point.delta,
            claimed_epsilon: point.claim,
            least_epsilon: point.bound,
        }
    }
}

impl Audit {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let request = self.request()?;
        let progress = Progress::start("fits", 2 * u64::from(self.trials));
        let found = request.run(&|| progress.advance());
        progress.finish();
        let found = found?;
        output.answer(&self.answer(&found), to_text);
        if found.is_violated() {
            return Err(Failure::outcome(
                "sprifed::audit::violated",
                "the trials contradict the claimed guarantee".to_owned(),
                "do not release results of this version; report the command and its output",
            ));
        }
        Ok(())
    }

    fn request(&self) -> Result<AuditRequest, Failure> {
        let Some(procedure) = self.procedure.contender.procedure() else {
            return Err(Failure::usage(
                "sprifed::audit::procedure",
                format!("{} claims no guarantee to audit", self.procedure.name),
                "pass --procedure grad, sieve, argmax, honest-omp, honest-grad, dp-sgd or dp-gcd",
            ));
        };
        if !(self.level > 0.5 && self.level < 1.0) {
            return Err(Failure::usage(
                "sprifed::audit::level",
                format!("--level is {}", self.level),
                "pass a level above 0.5 and below 1, such as 0.95",
            ));
        }
        let clients = match self.unit {
            PrivacyUnit::Record => self.clients.min(self.units),
            PrivacyUnit::Client => self.units,
        };
        let origin: NoiseOrigin = self.backend.request().origin(clients as usize)?;
        if procedure.needs() == Needs::Choices && origin != NoiseOrigin::Curator {
            return Err(Failure::usage(
                "sprifed::audit::backend",
                format!("{procedure} needs a backend that never shows scores"),
                "pass --backend curator, or another procedure",
            ));
        }
        Ok(AuditRequest {
            procedure,
            intercept: intercept_of(procedure),
            unit: self.unit,
            relation: self.neighbours,
            origin,
            budget: ApproxDp::new(self.epsilon, self.delta),
            units: self.units,
            features: self.features,
            sparsity: self.sparsity,
            trials: self.trials,
            false_alarm: 1.0 - self.level,
            seed: self.seed,
        })
    }

    fn answer(&self, found: &AuditOutcome) -> Answer {
        Answer {
            procedure: self.procedure.name.to_owned(),
            unit: self.unit,
            neighbours: self.neighbours,
            backend: self.backend.backend,
            trials: self.trials,
            level: self.level,
            seed: self.seed,
            at_budget: found.at_budget.into(),
            at_best: found.at_best.into(),
            verdict: if found.is_violated() {
                "VIOLATED"
            } else {
                "consistent"
            },
        }
    }
}

/// A delta for people: a decimal fraction, unless it is very small.
fn delta_words(delta: f64) -> String {
    if delta < 1e-3 {
        shown_delta(delta)
    } else {
        shown_cost(delta)
    }
}

/// A lower bound for people: four decimals, rounded down.
fn shown_bound(bound: f64) -> String {
    ((bound * 1e4).floor() / 1e4).to_string()
}

fn to_text(answer: &Answer) -> String {
    let row = |point: &Point| {
        vec![
            delta_words(point.delta),
            shown_cost(point.claimed_epsilon),
            shown_bound(point.least_epsilon),
        ]
    };
    let heading = ["delta", "claimed epsilon", "epsilon at least"];
    let rows = [
        heading.map(str::to_owned).to_vec(),
        row(&answer.at_budget),
        row(&answer.at_best),
    ];
    format!(
        "Verdict   {}\nAudited   {}, {} unit, {}, backend {}\nTrials    {} fits of each of two \
         neighbouring tables\nLevel     {}: a correct system passes with at least this \
         probability\n\n{}\nThe first row is the budget's delta, the second the delta at which the \
         tables are told apart best.\nA bound below its claim proves nothing; one above its claim \
         shows a bug.",
        answer.verdict,
        answer.procedure,
        answer.unit.text(),
        answer.neighbours.text(),
        answer.backend.text(),
        answer.trials,
        answer.level,
        table(&rows),
    )
}
