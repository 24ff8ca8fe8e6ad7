//! Every error of the library, with the options of the command line: the only place that knows both.

use std::borrow::Cow;

use sprifed::{Backend, Error, IllegalWorld};
use sprifed_recovery::{CertifiedProcedure, Needs};
use sprifed_schema::{PLACEHOLDER, SchemaError};
use sprifed_tables::DataError;

use super::Failure;
use crate::choices::listed;

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
        Error::TwoSplits { clients, column } => format!(
            "--clients {clients} was given, but the schema says that the column `{column}` names the client"
        ),
        Error::DropoutsOfCurator => "--dropouts requires --backend secure-sum".to_owned(),
        _ => error.to_string(),
    }
}

fn help_of(error: &Error) -> Cow<'static, str> {
    Cow::Borrowed(match error {
        Error::Party(error) => return error.help().into(),
        Error::Quantity(_) | Error::Fraction(_) => "correct the value; nothing was spent",
        Error::Participation(_) => "change --clients, --quorum or --colluders; nothing was spent",
        Error::Unplannable(_) | Error::Uncertifiable(_) => {
            "change the numbers of the plan; nothing was spent"
        }
        Error::Plan(_) => "change the budget, the sparsity or the size; nothing was spent",
        Error::Agreement(_) => "correct the numbers of the study; nothing was spent",
        Error::Trial(_) => "simulated trials spend nothing; try another seed or size",
        Error::Method(_) => "simulated trials spend nothing; try another procedure",
        Error::Data(error) => help_with_data(error),
        Error::NoSchema => {
            "run `sprifed schema draft DATA --out schema.toml`, replace every FILL_IN by a number known without \
             looking at the records, and pass --schema schema.toml; nothing was spent"
        }
        Error::ParticipationOfCurator => {
            "add --backend secure-sum or remove them; nothing was spent"
        }
        Error::Backend(_) | Error::NoAgreement(_) | Error::NoSetup(_) => {
            "correct --clients, --quorum or --colluders; nothing was spent"
        }
        Error::TwoSplits { .. } => {
            "remove --clients, or `record.client` from the schema; nothing was spent"
        }
        Error::NeedsChoices { .. } => {
            let procedures = CertifiedProcedure::on_sums().map(CertifiedProcedure::name);
            let backends = Backend::answering(Needs::Choices).map(Backend::text);
            let (procedures, backends) = (listed(procedures), listed(backends));
            return format!(
                "use --procedure {procedures}, or --backend {backends}; nothing was spent"
            )
            .into();
        }
        Error::Overdrawn { .. } => {
            "raise --epsilon or --delta, or lower --sparsity; nothing was spent"
        }
        Error::OverBudget { .. } => "ask for a larger --epsilon; nothing was spent",
        Error::TooLarge { .. } => "use a smaller table; nothing was spent",
        Error::Modulus(_) => "use a smaller study; nothing was spent",
        Error::Records(_) | Error::Curator(_) => "report this; nothing was spent",
        Error::Unwritable(_) => "report this",
        Error::Ended { .. } => "the run ended without a model",
        Error::MalformedModel { .. } => "give a file that `sprifed fit` wrote",
        Error::UnreadableReceipt { .. } => "name the file that a fit or a study wrote",
        Error::WrongReceipt { .. } => "ask the person who gave it to you for the original",
        Error::Contradiction { .. } => {
            "do not believe this receipt; ask for the file that the fit wrote"
        }
        Error::WrongTranscript { .. } => {
            "use the transcript.json that a party of the study has beside its receipt"
        }
        Error::ExactSparsity { .. } => "correct --sparsity",
        Error::SinglePrecision => "divide the column, or the response, by a constant",
        Error::NoRecords(_) => "give at least one record and one feature",
        Error::Repeated(_) => "fit once with values chosen before; nothing was spent",
        Error::DropoutsOfCurator => "add --backend secure-sum, or remove it",
        Error::Dropouts(_) => "correct --dropouts",
        Error::World(error) => help_with_world(error),
        Error::NothingToScore => "name a column that holds responses with --score",
        Error::AbsentColumns { .. } => "give a table with columns of exactly these names",
        Error::RehearsalKey { .. } => {
            "ask for an identity made without --simulate, or add --simulate-noise for a rehearsal"
        }
        Error::TwoParties { .. } => "ask one of them to choose another name",
        Error::StudyLedger(_) => "report this",
    })
}

fn help_with_data(error: &DataError) -> &'static str {
    match error {
        DataError::File(_) => "check the path, its permissions and the machine; nothing was spent",
        DataError::Schema(SchemaError::OtherTarget { .. }) => {
            "change --target, or `response.name` in the schema; nothing was spent"
        }
        DataError::Schema(error) if error.to_string().contains(PLACEHOLDER) => {
            "replace every FILL_IN by a number known without looking at the records; nothing was spent"
        }
        DataError::Schema(_) => "correct the schema as said above; nothing was spent",
        _ => "correct the table or the schema as said above; nothing was spent",
    }
}

const fn help_with_world(error: &IllegalWorld) -> &'static str {
    match error {
        IllegalWorld::Records(_) => "correct --records",
        IllegalWorld::Sparsity { .. } => "correct --sparsity or --features",
        IllegalWorld::Clients { .. } => "correct --clients or --records",
        IllegalWorld::TooLarge => "lower --records or --features",
        IllegalWorld::PopulationR2(_) => "correct --population-r2",
        IllegalWorld::ErrorStd(_) => "correct --error-std",
        IllegalWorld::Correlation(_) | IllegalWorld::CorrelationRange(_) => "correct --correlation",
    }
}
