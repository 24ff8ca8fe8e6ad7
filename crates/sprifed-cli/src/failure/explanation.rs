//! Every error of the library, with the options of the command line: the only place that knows both.

use std::borrow::Cow;

use sprifed::{Error, IllegalWorld};
use sprifed_party::{DestinationError, PartyError};
use sprifed_schema::SchemaError;
use sprifed_tables::{DataError, Defect, TableError};

use super::Failure;

/// `error` as the command line says it.
pub(super) fn of(error: &Error) -> Failure {
    Failure::new(
        error.blame(),
        error.code(),
        message_of(error),
        &help_of(error),
    )
}

/// The message, with the names of options where the error is about what they were given.
fn message_of(error: &Error) -> String {
    match error {
        Error::NoSchema => {
            "no schema was given; required: --schema FILE.toml with public bounds. They cannot be read off the data: \
             the largest value of a column is the value of one record, and a bound that moves when one record changes \
             gives that record away, noise or not"
                .to_owned()
        }
        Error::ParticipationOfCurator => {
            "--quorum and --colluders were given, but a curator adds all the noise alone".to_owned()
        }
        Error::ParticipationOfTrustees => {
            "--quorum and --colluders were given, but three trustees deal the noise, and one of them may collude"
                .to_owned()
        }
        Error::TwoSplits { clients, column } => format!(
            "--clients {clients} was given, but the schema says that the column `{column}` names the client"
        ),
        Error::DropoutsOfCurator => {
            "--dropouts requires --backend secure-sum or trustees".to_owned()
        }
        _ => error.to_string(),
    }
}

fn help_of(error: &Error) -> Cow<'static, str> {
    let data = match error {
        Error::Data(error) => Some(error),
        Error::Party(PartyError::Data(error)) => Some(&**error),
        _ => None,
    };
    if let Some(help) = data.and_then(help_with_text) {
        return help;
    }
    Cow::Borrowed(match error {
        Error::Data(DataError::Schema(SchemaError::OtherTarget { .. })) => {
            "change --target, or `response.name` in the schema; nothing was spent"
        }
        Error::NoSchema => {
            "run `sprifed schema draft DATA --out schema.toml`, replace every FILL_IN by a number known without \
             looking at the records, and pass --schema schema.toml; nothing was spent"
        }
        Error::ParticipationOfCurator | Error::ParticipationOfTrustees => {
            "add --backend secure-sum or remove them; nothing was spent"
        }
        Error::Participation(_) | Error::Backend(_) | Error::NoAgreement(_) | Error::NoSetup(_) => {
            "correct --clients, --quorum or --colluders; nothing was spent"
        }
        Error::TwoSplits { .. } => {
            "remove --clients, or `record.client` from the schema; nothing was spent"
        }
        Error::Overdrawn { .. } => {
            "raise --epsilon or --delta, or lower --sparsity; nothing was spent"
        }
        Error::OverBudget { .. } => "ask for a larger --epsilon; nothing was spent",
        Error::Destination(DestinationError::Exists { .. }) => {
            "choose another name, or pass --force where the command has it; nothing was spent"
        }
        Error::MalformedModel { .. } => "give a file that `sprifed fit` wrote",
        Error::ExactSparsity { .. } => "correct --sparsity",
        Error::DropoutsOfCurator => "add --backend secure-sum or trustees, or remove it",
        Error::Dropouts(_) => "correct --dropouts",
        Error::World(error) => help_with_world(error),
        Error::NothingToScore => "name a column that holds responses with --score",
        Error::RehearsalKey { .. } => {
            "ask for an identity made without --simulate, or add --simulate-noise for a rehearsal"
        }
        _ => return error.advice(),
    })
}

/// The options of a table of text, if the error is about its separators or decimals.
fn help_with_text(error: &DataError) -> Option<Cow<'static, str>> {
    let DataError::Table(error) = error else {
        return None;
    };
    let has = |problems: &[sprifed_tables::CellProblem], defect: Defect| {
        problems.iter().any(|problem| problem.defect == defect)
    };
    Some(match error {
        TableError::OtherSeparator { separator: '\t', .. } => {
            "pass --separator tab; nothing was spent".into()
        }
        TableError::OtherSeparator { separator, .. } => {
            format!("pass --separator '{separator}'; nothing was spent").into()
        }
        TableError::DecimalSeparator => "pass --separator ';' too; nothing was spent".into(),
        TableError::Cells { problems } if has(problems, Defect::DecimalComma) => {
            "pass --decimal ',' if all numbers have decimal commas; otherwise correct the table; nothing was spent".into()
        }
        TableError::Cells { problems } if has(problems, Defect::Point) => {
            "leave --decimal out, or correct the table; nothing was spent".into()
        }
        _ => return None,
    })
}

const fn help_with_world(error: &IllegalWorld) -> &'static str {
    match error {
        IllegalWorld::Records(_) => "correct --records",
        IllegalWorld::Sparsity { .. } => "correct --sparsity or --features",
        IllegalWorld::Support { .. } => "correct --support",
        IllegalWorld::Clients { .. } => "correct --clients or --records",
        IllegalWorld::TooLarge => "lower --records or --features",
        IllegalWorld::PopulationR2(_) => "correct --population-r2",
        IllegalWorld::ErrorStd(_) => "correct --error-std",
        IllegalWorld::Sites { .. } => "correct --sites, --site-r2 or --population-r2",
        IllegalWorld::OutcomeWith { .. } => {
            "leave it out, or use --outcome linear; --prevalence and --log-odds-std say how well the odds are known"
        }
        IllegalWorld::Odds { .. } => "correct --log-odds-std or --prevalence",
        IllegalWorld::Hazards { .. } => "correct --log-hazard-std or --event-share",
        IllegalWorld::OutcomeOfContender => "use grad, sieve or argmax, without --tune",
        IllegalWorld::SitesOfPaper => "leave --sites out, or use --reading clean",
        IllegalWorld::SitesOfContender => {
            "leave --sites out, or use argmax, sieve or grad without --dropouts and --tune"
        }
        IllegalWorld::Correlation(_) | IllegalWorld::CorrelationRange(_) => "correct --correlation",
    }
}
