//! Every error with its exception and with the keywords of Python: the only place that knows both.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::PyType;
use sprifed::{Error, IllegalWorld};
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
        Refusal::Choice { .. }
        | Refusal::NotRobust { .. }
        | Refusal::Entropy(_)
        | Refusal::Threads(_) => py.get_type::<StudyError>(),
    }
}

fn class_of_error<'py>(py: Python<'py>, error: &Error) -> Bound<'py, PyType> {
    match error {
        Error::NoSchema
        | Error::SitesNotNamed
        | Error::UnknownSite { .. }
        | Error::Data(TableError::Schema(_)) => py.get_type::<SchemaError>(),
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
        | Error::TrusteeCount { .. }
        | Error::StudyLedger(_)
        | Error::ParticipationOfCurator
        | Error::ParticipationOfTrustees
        | Error::Backend(_)
        | Error::TwoSplits { .. }
        | Error::NeedsChoices { .. }
        | Error::TooLarge { .. }
        | Error::Records(_)
        | Error::Curator(_)
        | Error::Unwritable(_)
        | Error::NoAgreement(_)
        | Error::NoSetup(_)
        | Error::NoTrustees(_)
        | Error::TrusteeStep(_)
        | Error::Ended { .. }
        | Error::WrongTranscript { .. }
        | Error::DropoutsOfCurator
        | Error::Dropouts(_)
        | Error::World(_)
        | Error::NothingToScore
        | Error::AbsentColumns { .. }
        | Error::Destination(_) => py.get_type::<StudyError>(),
    }
}

/// What to do about it.
pub(super) fn help_of(refusal: &Refusal) -> Cow<'static, str> {
    Cow::Borrowed(match refusal {
        Refusal::Library(error) => return help_with(error),
        Refusal::NotANumber { .. } | Refusal::Choice { .. } => {
            "correct the argument; nothing was spent"
        }
        Refusal::NotRobust { .. } => "leave `robust` out, or choose a certified procedure",
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
            "correct this, or name another folder with `ledger`; what is in the ledger stays in it",
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
        Error::Participation(_) | Error::Backend(_) | Error::NoAgreement(_) | Error::NoSetup(_) => {
            "correct `clients`, `quorum` or `colluders`; nothing was spent"
        }
        Error::NoSchema => {
            "pass `bounds` and `response_bounds`, or `schema`, with numbers known without looking at the records; \
             nothing was spent"
        }
        Error::ParticipationOfCurator | Error::ParticipationOfTrustees => {
            "pass backend=\"secure-sum\", or remove `quorum` and `colluders`; nothing was spent"
        }
        Error::TwoSplits { .. } => {
            "remove `clients`, or `client` from the schema; nothing was spent"
        }
        Error::Overdrawn { .. } => {
            "raise `epsilon` or `delta`, or lower `sparsity`; nothing was spent"
        }
        Error::OverBudget { .. } => "ask for a larger `epsilon`; nothing was spent",
        Error::ExactSparsity { .. } => "correct `sparsity`",
        Error::Repeated(_) => {
            "fit once with values chosen in advance (a plan and a forecast cost nothing), or search with \
             simulate_noise on public data, or pass allow_repeated_fits=True and report the cost of all fits; nothing \
             was spent"
        }
        Error::DropoutsOfCurator => {
            "pass backend=\"secure-sum\" or \"trustees\", or remove `dropouts`"
        }
        Error::Dropouts(_) => "correct `dropouts`",
        Error::World(error) => help_with_world(error),
        Error::RehearsalKey { .. } => {
            "ask for an identity that was not simulated, or draft a rehearsal with `simulate_noise`"
        }
        _ => return error.advice(),
    })
}

const fn help_with_world(error: &IllegalWorld) -> &'static str {
    match error {
        IllegalWorld::Records(_) => "correct `records`",
        IllegalWorld::Sparsity { .. } => "correct `sparsity` or `features`",
        IllegalWorld::Support { .. } => "correct `support`",
        IllegalWorld::Clients { .. } => "correct `clients` or `records`",
        IllegalWorld::TooLarge => "lower `records` or `features`",
        // Python makes worlds without sites.
        IllegalWorld::Sites { .. }
        | IllegalWorld::SitesOfPaper
        | IllegalWorld::SitesOfContender => "leave out sites",
        // Python makes worlds with numbers as responses.
        IllegalWorld::OutcomeWith { .. }
        | IllegalWorld::Odds { .. }
        | IllegalWorld::Hazards { .. }
        | IllegalWorld::OutcomeOfContender => "use a linear outcome",
        IllegalWorld::PopulationR2(_) => "correct `population_r2`",
        IllegalWorld::ErrorStd(_) => "correct `error_std`",
        IllegalWorld::Correlation(_) | IllegalWorld::CorrelationRange(_) => "correct `correlation`",
    }
}
