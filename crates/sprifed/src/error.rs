//! Why there is no result: typed, with what was found and what is required.
//!
//! A message names values and files, never an option or a keyword: the command line and Python each add how their
//! user mends it.

mod advice;

use std::path::PathBuf;

use sprifed_party::{DestinationError, PartyError};
use sprifed_privacy::{
    ApproxDp, Epsilon, IllegalFraction, IllegalModulus, IllegalParticipation, IllegalQuantity,
    LedgerError, Uncertifiable, Unplannable, counted,
};
use sprifed_query::{CuratorError, IllegalRecords, PlanError};
use sprifed_recovery::CertifiedProcedure;
use sprifed_simulate::{IllegalShare, TrialError};
use sprifed_study::{EmbeddedError, IllegalAgreement, IllegalTrusteeStep, Problem, TrusteesError};
use sprifed_tables::DataError;

use crate::backend::Backend;
use crate::model::{FORMAT, VERSION};
use crate::repeated::RepeatedFit;
use crate::world::IllegalWorld;

/// Who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The run ended without a result: the analyst.
    Outcome,
    /// What was asked or given is wrong: the user.
    Usage,
    /// A file or the system: the operator.
    Environment,
    /// The program itself: its authors.
    Defect,
}

/// Why there is no result. Every edge explains every variant, so a new one does not compile without its words.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A number is no privacy quantity.
    #[error(transparent)]
    Quantity(#[from] IllegalQuantity),
    /// A number is no exact fraction.
    #[error(transparent)]
    Fraction(#[from] IllegalFraction),
    /// The numbers of clients contradict each other.
    #[error(transparent)]
    Participation(#[from] IllegalParticipation),
    /// No run of the paper's algorithms has such a plan.
    #[error(transparent)]
    Unplannable(#[from] Unplannable),
    /// A cost cannot be certified.
    #[error(transparent)]
    Uncertifiable(#[from] Uncertifiable),
    /// The procedure has no such plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The parties cannot agree on the study.
    #[error(transparent)]
    Agreement(#[from] IllegalAgreement),
    /// A simulated trial failed.
    #[error(transparent)]
    Trial(TrialError),
    /// The schema or the table is wrong, or a file cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A trial failed, of a method that another crate adds.
    #[error(transparent)]
    Method(Box<dyn core::error::Error + Send + Sync>),
    /// A party cannot do what it was asked.
    #[error(transparent)]
    Party(#[from] PartyError),
    /// A result cannot be written where it was asked for.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// A party of a real study has a key of a rehearsal.
    #[error("{party} was made from a seed, so that it can be repeated")]
    RehearsalKey {
        /// The party.
        party: String,
    },
    /// Two parties or two trustees of one study have one name.
    #[error("two are called {name:?}; each party and each trustee needs its own name")]
    TwoParties {
        /// The name.
        name: String,
    },
    /// Not three trustees.
    #[error(
        "{} given, but a study has three, or none",
        counted(*found, "trustee was", "trustees were")
    )]
    TrusteeCount {
        /// How many.
        found: usize,
    },
    /// The ledger of a receipt does not add up.
    #[error(transparent)]
    StudyLedger(LedgerError),
    /// No public bounds were given.
    #[error(
        "no schema was given; required: public bounds. They cannot be read off the data: the largest value of a column \
         is the value of one record, and a bound that moves when one record changes gives that record away, noise or not"
    )]
    NoSchema,
    /// The schema asks for an intercept of each party, and there is one table.
    #[error(
        "the schema asks for an intercept of each party, but this is one table; name its column of sites under [sites]"
    )]
    SitesNotNamed,
    /// A site that the model does not have.
    #[error("the model has no site `{found}`; {}", known_sites(known))]
    UnknownSite {
        /// The site that was named.
        found: String,
        /// The sites of the model.
        known: Vec<String>,
    },
    /// A quorum or colluders were given, which only secure sums have.
    #[error("a quorum or colluders were given, but a curator adds all the noise alone")]
    ParticipationOfCurator,
    /// A quorum or colluders were given, which only secure sums have.
    #[error(
        "a quorum or colluders were given, but three trustees deal the noise, and one of them may collude"
    )]
    ParticipationOfTrustees,
    /// The clients of secure sums contradict their quorum or colluders.
    #[error(transparent)]
    Backend(IllegalParticipation),
    /// The records are split over clients twice.
    #[error(
        "the records were to be split over {clients} clients, but the schema says that the column `{column}` names the client"
    )]
    TwoSplits {
        /// Over how many clients.
        clients: usize,
        /// The client column of the schema.
        column: String,
    },
    /// The backend shows what it adds up, so it makes no choices.
    #[error("{procedure} needs a backend that never shows scores, but {} shows every sum", backend.text())]
    NeedsChoices {
        /// The procedure.
        procedure: CertifiedProcedure,
        /// The backend.
        backend: Backend,
    },
    /// Parts of the records need one place that knows where each record is in the table.
    #[error(
        "the inference \"split\" is built for a curator, who knows the place of each record, and not for {}",
        backend.text()
    )]
    SplitBackend {
        /// The backend.
        backend: Backend,
    },
    /// The plan costs more than the budget.
    #[error("the plan costs epsilon = {needed}, but the budget is {} at delta = {}", budget.epsilon(), budget.delta())]
    Overdrawn {
        /// The epsilon of the plan.
        needed: f64,
        /// What may be spent.
        budget: ApproxDp,
    },
    /// No plan costs as little as the budget.
    #[error("no plan costs as little as epsilon = {epsilon}")]
    OverBudget {
        /// The epsilon of the budget.
        epsilon: Epsilon,
    },
    /// A count does not fit the protocol.
    #[error("the table has {found} {what}, but at most {} are possible", u32::MAX)]
    TooLarge {
        /// How many there are.
        found: u64,
        /// Of what.
        what: &'static str,
    },
    /// The integers of a plan fit no modulus.
    #[error(transparent)]
    Modulus(#[from] IllegalModulus),
    /// The records are not what a reader of tables makes: a defect.
    #[error(transparent)]
    Records(IllegalRecords),
    /// The curator could not begin: a defect.
    #[error(transparent)]
    Curator(CuratorError),
    /// The parties of one process could not agree.
    #[error(transparent)]
    NoAgreement(IllegalAgreement),
    /// The parties of one process could not begin.
    #[error(transparent)]
    NoSetup(EmbeddedError),
    /// The clients and trustees of one process could not begin.
    #[error(transparent)]
    NoTrustees(TrusteesError),
    /// Trustees cannot compute a step of the plan.
    #[error(transparent)]
    TrusteeStep(#[from] IllegalTrusteeStep),
    /// The run ended without a model.
    #[error("{why}")]
    Ended {
        /// Why.
        why: String,
    },
    /// A text is not the model that it should be.
    #[error("`{place}` {found}; required: a {FORMAT} of version {VERSION}")]
    MalformedModel {
        /// Where the text is from.
        place: String,
        /// What it is instead.
        found: ModelDefect,
    },
    /// A model cannot be written down: a defect.
    #[error(transparent)]
    Unwritable(serde_json::Error),
    /// A text is no document that claims a guarantee.
    #[error("`{name}` is {found}; a receipt or a model is required")]
    UnreadableReceipt {
        /// What messages call the document.
        name: String,
        /// What it is instead.
        found: ReceiptDefect,
    },
    /// A receipt is wrong.
    #[error("`{name}` is not to be believed: {problem}")]
    WrongReceipt {
        /// What messages call the document.
        name: String,
        /// What is wrong.
        problem: Box<Problem>,
    },
    /// The parts of a model contradict each other.
    #[error("{what}: found {found}, but required: {required}")]
    Contradiction {
        /// Which part.
        what: &'static str,
        /// What it says.
        found: String,
        /// What it would have to say.
        required: String,
    },
    /// A file is not the transcript of a receipt.
    #[error("`{name}` is not the transcript of this receipt: {problem}")]
    WrongTranscript {
        /// What messages call the file.
        name: String,
        /// What is wrong.
        problem: TranscriptDefect,
    },
    /// The sparsity of a fit without privacy.
    #[error("the sparsity is {found}; required: from 1 to the {}", counted(*features, "feature", "features"))]
    ExactSparsity {
        /// What was asked.
        found: usize,
        /// How many features there are.
        features: usize,
    },
    /// A value is too far from the others for single precision.
    #[error(
        "a value lies further than {:e} from the mean of its column; required: what single precision holds",
        f32::MAX
    )]
    SinglePrecision,
    /// There is nothing to fit without privacy.
    #[error(transparent)]
    NoRecords(IllegalRecords),
    /// An estimator is about to be fitted again.
    #[error(transparent)]
    Repeated(#[from] RepeatedFit),
    /// Clients were to leave a curator.
    #[error(
        "a share of clients that leave was given, but clients leave secure sums only, not a curator"
    )]
    DropoutsOfCurator,
    /// The share of clients that leave is none.
    #[error(transparent)]
    Dropouts(#[from] IllegalShare),
    /// There is no such generated world.
    #[error(transparent)]
    World(#[from] IllegalWorld),
    /// No record can be scored.
    #[error("no record has both a response and a prediction; required: at least one")]
    NothingToScore,
    /// A table lacks columns that a model needs.
    #[error(
        "`{}` lacks {}: {}",
        path.display(),
        counted(absent.len(), "required column", "required columns"),
        listed(absent)
    )]
    AbsentColumns {
        /// The table.
        path: PathBuf,
        /// The names.
        absent: Vec<String>,
    },
}

/// What a text is that is not a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelDefect {
    /// Not JSON, or JSON in which readers could differ.
    #[error("is not JSON of a model ({0})")]
    NotJson(serde_json::Error),
    /// Another format or version.
    #[error("is of format {format:?} and version {version}")]
    OtherFormat {
        /// What it says of its format.
        format: String,
        /// What it says of its version.
        version: u32,
    },
    /// Something is missing or of another type.
    #[error("is damaged ({0})")]
    Damaged(serde_json::Error),
    /// Numbers that no fit gives.
    #[error("has numbers that are not finite, or bounds that are no interval")]
    NotFinite,
}

/// What a text is that claims no guarantee.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptDefect {
    /// Not JSON, or JSON in which readers could differ.
    #[error("not JSON ({0})")]
    NotJson(serde_json::Error),
    /// None of the documents.
    #[error("no receipt ({0})")]
    NoReceipt(serde_json::Error),
}

/// Why a file is not the transcript of a receipt.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptDefect {
    /// Only studies have one.
    #[error("a model has none")]
    OfModel,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(serde_json::Error),
    /// It says something else than the receipt.
    #[error("{0}")]
    Other(Box<Problem>),
}

/// The first twenty of `names`.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let quoted = names.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let quoted = quoted.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => quoted,
        more => format!("{quoted} and {more} more"),
    }
}

impl From<TrialError> for Error {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::Plan(error) => Self::Plan(error),
            other => Self::Trial(other),
        }
    }
}

impl Error {
    /// A stable name for scripts.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Quantity(_) => "sprifed::privacy::illegal-quantity",
            Self::Fraction(_) => "sprifed::privacy::illegal-fraction",
            Self::Participation(_) => "sprifed::privacy::illegal-participation",
            Self::Unplannable(_) => "sprifed::privacy::unplannable",
            Self::Uncertifiable(_) => "sprifed::privacy::uncertifiable",
            Self::Plan(_) | Self::SplitBackend { .. } => "sprifed::plan::impossible",
            Self::Agreement(_) => "sprifed::study::illegal-agreement",
            Self::Trial(_) | Self::Method(_) => "sprifed::simulate::trial-failed",
            Self::Data(DataError::File(_)) => "sprifed::data::file",
            Self::Data(DataError::Schema(_)) => "sprifed::data::schema",
            Self::Data(_)
            | Self::ExactSparsity { .. }
            | Self::SinglePrecision
            | Self::NoRecords(_) => "sprifed::data::table",
            Self::Party(error) => error.code(),
            Self::Destination(error) => error.code(),
            Self::RehearsalKey { .. } => "sprifed::study::rehearsal-key",
            Self::TwoParties { .. } => "sprifed::study::two-parties",
            Self::TrusteeCount { .. } => "sprifed::study::three-trustees",
            Self::StudyLedger(_) => "sprifed::study::ledger",
            Self::NoSchema => "sprifed::fit::no-schema",
            Self::SitesNotNamed => "sprifed::fit::sites-not-named",
            Self::UnknownSite { .. } => "sprifed::model::unknown-site",
            Self::ParticipationOfCurator | Self::ParticipationOfTrustees | Self::Backend(_) => {
                "sprifed::study::participation"
            }
            Self::TwoSplits { .. } => "sprifed::fit::two-splits",
            Self::NeedsChoices { .. } => "sprifed::fit::needs-choices",
            Self::Overdrawn { .. } => "sprifed::ledger::overdrawn",
            Self::OverBudget { .. } => "sprifed::plan::over-budget",
            Self::TooLarge { .. } => "sprifed::fit::too-large",
            Self::Modulus(_) => "sprifed::plan::modulus",
            Self::Records(_) | Self::Curator(_) | Self::Unwritable(_) => "sprifed::fit::bug",
            Self::NoAgreement(_) | Self::NoSetup(_) | Self::NoTrustees(_) => {
                "sprifed::fit::no-agreement"
            }
            Self::TrusteeStep(_) => "sprifed::plan::trustees",
            Self::Ended { .. } => "sprifed::fit::ended",
            Self::MalformedModel { .. } => "sprifed::model::malformed",
            Self::UnreadableReceipt { .. } => "sprifed::receipt::unreadable",
            Self::WrongReceipt { .. } | Self::Contradiction { .. } => "sprifed::receipt::wrong",
            Self::WrongTranscript { .. } => "sprifed::transcript::wrong",
            Self::Repeated(_) => "sprifed::ledger::repeated",
            Self::DropoutsOfCurator | Self::Dropouts(_) => "sprifed::simulate::dropouts",
            Self::World(_) => "sprifed::simulate::illegal-world",
            Self::NothingToScore => "sprifed::score::nothing",
            Self::AbsentColumns { .. } => "sprifed::predict::absent-columns",
        }
    }

    /// Who has to act.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Trial(_)
            | Self::Method(_)
            | Self::Overdrawn { .. }
            | Self::OverBudget { .. }
            | Self::Records(_)
            | Self::Curator(_)
            | Self::Unwritable(_)
            | Self::Ended { .. }
            | Self::StudyLedger(_)
            | Self::WrongReceipt { .. }
            | Self::Contradiction { .. }
            | Self::WrongTranscript { .. } => Blame::Outcome,
            Self::Data(DataError::File(_))
            | Self::Destination(DestinationError::Unwritable { .. }) => Blame::Environment,
            Self::Party(error) => match error.exit_code() {
                1 => Blame::Outcome,
                2 => Blame::Usage,
                _ => Blame::Environment,
            },
            _ => Blame::Usage,
        }
    }
}

fn known_sites(known: &[String]) -> String {
    match known {
        [] => "it was fitted without site effects".to_owned(),
        known => format!("its sites are {}", known.join(", ")),
    }
}
