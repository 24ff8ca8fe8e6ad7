//! `audit`: fits of neighbouring tables, many times, and what can be told apart.

use std::ops::RangeInclusive;

use clap::Args;
use sprifed_paper::{
    Audit as AuditRequest, AuditAnswer, AuditError, AuditVerdict, Contender, NamedContender,
};
use sprifed_privacy::{ApproxDp, Delta, Epsilon, PrivacyUnit, Relation};

use crate::account::{parse_epsilon, parse_quantity};
use crate::choices::{contenders, listed, relations, units};
use crate::failure::{Explained, Failure};
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
    #[arg(long, value_parser = parse_epsilon, default_value = "3", allow_negative_numbers = true)]
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

impl Audit {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let progress = Progress::start("fits", 2 * u64::from(self.trials));
        let answer = self.request().run(&|| progress.advance());
        progress.finish();
        let answer = answer.explained()?;
        output.answer(&answer, AuditAnswer::text);
        match answer.verdict {
            AuditVerdict::Consistent => Ok(()),
            AuditVerdict::Violated => Err(Failure::outcome(
                "sprifed::audit::violated",
                "the trials contradict the claimed guarantee".to_owned(),
                "do not release results of this version; report the command and its output",
            )),
        }
    }

    /// What is asked, without the command line.
    fn request(&self) -> AuditRequest {
        AuditRequest {
            contender: self.procedure,
            unit: self.unit,
            relation: self.neighbours,
            backend: self.backend.request(),
            clients: self.clients,
            budget: ApproxDp::new(self.epsilon, self.delta),
            units: self.units,
            features: self.features,
            sparsity: self.sparsity,
            trials: self.trials,
            level: self.level,
            seed: self.seed,
        }
    }
}

impl<T> Explained<T> for Result<T, AuditError> {
    fn explained(self) -> Result<T, Failure> {
        self.map_err(|error| {
            let message = error.to_string();
            let (code, message, help) = match error {
                AuditError::Library(error) => return error.into(),
                AuditError::NoGuarantee { .. } => {
                    let help = format!("pass --procedure {}", listed(with_guarantee()));
                    return Failure::usage("sprifed::audit::procedure", message, &help);
                }
                AuditError::Level { found } => (
                    "sprifed::audit::level",
                    format!("--level is {found}"),
                    "pass a level above 0.5 and below 1, such as 0.95",
                ),
                AuditError::NeedsChoices { .. } => (
                    "sprifed::audit::backend",
                    message,
                    "pass --backend curator, or another procedure",
                ),
            };
            Failure::usage(code, message, help)
        })
    }
}

/// The names of the procedures whose noise is certified, each once.
fn with_guarantee() -> impl Iterator<Item = &'static str> {
    let own_name = |named: &NamedContender| {
        let procedure = named.contender.procedure();
        procedure.is_some_and(|procedure| procedure.name() == named.name)
    };
    Contender::named().filter(own_name).map(|named| named.name)
}
