//! Every error with its exception and with the keywords of Python: the only place that knows both.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::PyType;
use sprifed::{Backend, Error, IllegalWorld};
use sprifed_recovery::{CertifiedProcedure, Needs};
use sprifed_schema::{PLACEHOLDER, SchemaError as PublicBoundsError};
use sprifed_tables::DataError as TableError;

use super::{BudgetError, DataError, ReceiptError, Refusal, SchemaError, StudyError};

/// The exception that `refusal` becomes.
pub(super) fn class_of<'py>(py: Python<'py>, refusal: &Refusal) -> Bound<'py, PyType> {
    match refusal {
        Refusal::Library(error) => class_of_error(py, error),
        Refusal::NotANumber { .. } | Refusal::NothingToCompose | Refusal::Unentered(_) => {
            py.get_type::<BudgetError>()
        }
        Refusal::Pickle { .. } | Refusal::EarlierReceipt(_) => py.get_type::<ReceiptError>(),
        Refusal::Columns { .. } | Refusal::Labels | Refusal::Alignment => {
            py.get_type::<DataError>()
        }
        Refusal::SchemaChoice { .. } | Refusal::Lengths { .. } => py.get_type::<SchemaError>(),
        Refusal::Choice { .. } | Refusal::Entropy(_) | Refusal::Threads(_) => {
            py.get_type::<StudyError>()
        }
    }
}

fn class_of_error<'py>(py: Python<'py>, error: &Error) -> Bound<'py, PyType> {
    match error {
        Error::NoSchema | Error::Data(TableError::Schema(_)) => py.get_type::<SchemaError>(),
        Error::Data(_)
        | Error::ExactSparsity { .. }
        | Error::SinglePrecision
        | Error::NoRecords(_) => py.get_type::<DataError>(),
        Error::Quantity(_)
        | Error::Fraction(_)
        | Error::Participation(_)
        | Error::Unplannable(_)
        | Error::Uncertifiable(_)
        | Error::Plan(_)
        | Error::Overdrawn { .. }
        | Error::OverBudget { .. }
        | Error::Modulus(_)
        | Error::Repeated(_) => py.get_type::<BudgetError>(),
        Error::MalformedModel { .. }
        | Error::UnreadableReceipt { .. }
        | Error::WrongReceipt { .. }
        | Error::Contradiction { .. } => py.get_type::<ReceiptError>(),
        Error::Agreement(_)
        | Error::Trial(_)
        | Error::Method(_)
        | Error::Party(_)
        | Error::RehearsalKey { .. }
        | Error::TwoParties { .. }
        | Error::StudyLedger(_)
        | Error::ParticipationOfCurator
        | Error::Backend(_)
        | Error::TwoSplits { .. }
        | Error::NeedsChoices { .. }
        | Error::TooLarge { .. }
        | Error::Records(_)
        | Error::Curator(_)
        | Error::Unwritable(_)
        | Error::NoAgreement(_)
        | Error::NoSetup(_)
        | Error::Ended { .. }
        | Error::WrongTranscript { .. }
        | Error::DropoutsOfCurator
        | Error::Dropouts(_)
        | Error::World(_)
        | Error::NothingToScore
        | Error::AbsentColumns { .. } => py.get_type::<StudyError>(),
    }
}

/// What to do about it.
pub(super) fn help_of(refusal: &Refusal) -> Cow<'static, str> {
    Cow::Borrowed(match refusal {
        Refusal::Library(error) => return help_with(error),
        Refusal::NotANumber { .. } | Refusal::Choice { .. } => {
            "correct the argument; nothing was spent"
        }
        Refusal::NothingToCompose => "for example: compose([0.4, 0.4], delta=1e-6)",
        Refusal::Pickle { .. } => "load the pickle that was written, or fit again",
        Refusal::Columns { .. } => "give the columns of the fit, in their order",
        Refusal::Entropy(_) => {
            "let the operating system give entropy to this process; nothing was spent"
        }
        Refusal::Labels => {
            "give a schema with `client` (and `unit` and `max_per_client`), or no labels; nothing was spent"
        }
        Refusal::EarlierReceipt(_) => {
            "keep it as a record of what was spent and make a new estimator; nothing was spent"
        }
        Refusal::Unentered(error) => error.advice().unwrap_or(
            "mend this, or name another folder with `ledger`; what is in the ledger stays in it",
        ),
        Refusal::Alignment => {
            "copy it, or use numpy.require(array, requirements=\"A\"); nothing was spent"
        }
        Refusal::SchemaChoice { .. } | Refusal::Lengths { .. } => {
            "correct the schema as said above; nothing was spent"
        }
        Refusal::Threads(_) => "start processes with the method `spawn`; nothing was spent",
    })
}

fn help_with(error: &Error) -> Cow<'static, str> {
    Cow::Borrowed(match error {
        Error::Party(error) => return error.help().into(),
        Error::NeedsChoices { .. } => {
            let procedures = CertifiedProcedure::on_sums().map(CertifiedProcedure::name);
            let backends = Backend::answering(Needs::Choices).map(Backend::text);
            let (procedures, backends) = (quoted(procedures), quoted(backends));
            return format!(
                "use the procedure {procedures}, or the backend {backends}; nothing was spent"
            )
            .into();
        }
        Error::Quantity(_) | Error::Fraction(_) => "correct the value; nothing was spent",
        Error::Participation(_) | Error::Backend(_) | Error::NoAgreement(_) | Error::NoSetup(_) => {
            "correct `clients`, `quorum` or `colluders`; nothing was spent"
        }
        Error::Unplannable(_) | Error::Uncertifiable(_) => {
            "change the numbers of the plan; nothing was spent"
        }
        Error::Plan(_) => "change the budget, the sparsity or the size; nothing was spent",
        Error::Agreement(_) => "correct the numbers of the study; nothing was spent",
        Error::Trial(_) => "simulated trials spend nothing; try another seed or size",
        Error::Method(_) => "simulated trials spend nothing; try another procedure",
        Error::Data(TableError::File(_)) => {
            "check the path, its permissions and the machine; nothing was spent"
        }
        Error::Data(TableError::Schema(problem)) => help_with_schema(problem),
        Error::Data(_) => "correct the table or the schema as said above; nothing was spent",
        Error::NoSchema => {
            "pass `bounds` and `response_bounds`, or `schema`, with numbers known without looking at the records; \
             nothing was spent"
        }
        Error::ParticipationOfCurator => {
            "pass backend=\"secure-sum\", or remove `quorum` and `colluders`; nothing was spent"
        }
        Error::TwoSplits { .. } => {
            "remove `clients`, or `client` from the schema; nothing was spent"
        }
        Error::Overdrawn { .. } => {
            "raise `epsilon` or `delta`, or lower `sparsity`; nothing was spent"
        }
        Error::OverBudget { .. } => "ask for a larger `epsilon`; nothing was spent",
        Error::TooLarge { .. } => "use a smaller table; nothing was spent",
        Error::Modulus(_) => "use a smaller study; nothing was spent",
        Error::Records(_) | Error::Curator(_) => "report this; nothing was spent",
        Error::Unwritable(_) => "report this",
        Error::Ended { .. } => "the run ended without a model",
        Error::MalformedModel { .. } => "give a model that a fit wrote",
        Error::UnreadableReceipt { .. } => "name the file that a fit or a study wrote",
        Error::WrongReceipt { .. } => "ask the person who gave it to you for the original",
        Error::Contradiction { .. } => {
            "do not believe this receipt; ask for the file that the fit wrote"
        }
        Error::WrongTranscript { .. } => {
            "use the transcript.json that a party of the study has beside its receipt"
        }
        Error::ExactSparsity { .. } => "correct `sparsity`",
        Error::SinglePrecision => "divide the column, or the response, by a constant",
        Error::NoRecords(_) => "give at least one record and one feature",
        Error::Repeated(_) => {
            "fit once with values chosen in advance (a plan and a forecast cost nothing), or search with \
             simulate_noise on public data, or pass allow_repeated_fits=True and report the cost of all fits; nothing \
             was spent"
        }
        Error::DropoutsOfCurator => "pass backend=\"secure-sum\", or remove `dropouts`",
        Error::Dropouts(_) => "correct `dropouts`",
        Error::World(error) => help_with_world(error),
        Error::NothingToScore => "give records with responses",
        Error::AbsentColumns { .. } => "give a table with columns of exactly these names",
        Error::RehearsalKey { .. } => {
            "ask for an identity that was not simulated, or draft a rehearsal with `simulate_noise`"
        }
        Error::TwoParties { .. } => "ask one of them to choose another name",
        Error::StudyLedger(_) => "report this",
    })
}

/// `names` in quotes, as a sentence has them: `"a" or "b"`.
fn quoted(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    names.join(" or ")
}

fn help_with_schema(error: &PublicBoundsError) -> &'static str {
    if error.to_string().contains(PLACEHOLDER) {
        "replace every FILL_IN by a number known without looking at the records; nothing was spent"
    } else {
        "correct the schema as said above; nothing was spent"
    }
}

const fn help_with_world(error: &IllegalWorld) -> &'static str {
    match error {
        IllegalWorld::Records(_) => "correct `records`",
        IllegalWorld::Sparsity { .. } => "correct `sparsity` or `features`",
        IllegalWorld::Clients { .. } => "correct `clients` or `records`",
        IllegalWorld::TooLarge => "lower `records` or `features`",
        IllegalWorld::PopulationR2(_) => "correct `population_r2`",
        IllegalWorld::ErrorStd(_) => "correct `error_std`",
        IllegalWorld::Correlation(_) | IllegalWorld::CorrelationRange(_) => "correct `correlation`",
    }
}
