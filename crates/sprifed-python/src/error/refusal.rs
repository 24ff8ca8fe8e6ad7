//! What the bindings themselves refuse, beside the errors of the library.

use sprifed::Error;

use crate::entropy::NoEntropy;
use crate::fit_ledger::Unentered;

/// Why Python gets an exception.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// The library refused.
    #[error(transparent)]
    Library(Error),
    /// An argument is no number.
    #[error("{what} is {found}; required: {required}")]
    NotANumber {
        what: &'static str,
        found: String,
        required: &'static str,
    },
    /// Nothing was given to compose.
    #[error("no release was given, but at least one mu or range is required")]
    NothingToCompose,
    /// A name that is none of the choices.
    #[error("{what} is {found:?}; required: one of {}", names.join(", "))]
    Choice {
        what: &'static str,
        found: String,
        names: Vec<String>,
    },
    /// Robust intervals of what has none.
    #[error("robust intervals are asked for, but {name} has no intervals")]
    NotRobust { name: String },
    /// A pickle whose columns are not those of its model.
    #[error(
        "the pickled model has the columns {columns:?} of {n_columns}; required: one column for each of its {features} \
         features"
    )]
    Pickle {
        columns: Vec<usize>,
        n_columns: usize,
        features: usize,
    },
    /// A matrix with other columns than those of the fit.
    #[error("the matrix has {found} columns; required: the {required} of the fit")]
    Columns { found: usize, required: usize },
    /// The system has no entropy.
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
    /// Labels of clients that the schema does not use.
    #[error(
        "labels of clients were given, but the schema has no client column: they would be ignored, and a person with \
         several records would not be protected as one"
    )]
    Labels,
    /// The receipt of an earlier fit cannot be read.
    #[error("the receipt of an earlier fit is damaged ({0})")]
    EarlierReceipt(serde_json::Error),
    /// The ledger has no room for the fit, or cannot be used.
    #[error(transparent)]
    Unentered(#[from] Unentered),
    /// An array that the machine cannot read in place.
    #[error("the numbers of an array are not aligned; required: an aligned array")]
    Alignment,
    /// A choice of a schema that its file does not know either.
    #[error("{what}: {problem}")]
    SchemaChoice {
        what: &'static str,
        problem: serde::de::value::Error,
    },
    /// Bounds for another number of columns.
    #[error(
        "bounds have lengths {found:?}; required: one number, or one for each of the {required} columns"
    )]
    Lengths { found: Vec<usize>, required: usize },
    /// A forked process has no threads.
    #[error("this forked process can start no threads: {0}")]
    Threads(rayon::ThreadPoolBuildError),
}

impl<E: Into<Error>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Library(error.into())
    }
}

impl Refusal {
    /// A stable name for scripts.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Library(error) => error.code(),
            Self::NotANumber { .. } => "sprifed::privacy::illegal-quantity",
            Self::NothingToCompose => "sprifed::privacy::nothing-to-compose",
            Self::Choice { .. } => "sprifed::python::choice",
            Self::NotRobust { .. } => "sprifed::simulate::not-robust",
            Self::Pickle { .. } => "sprifed::model::malformed",
            Self::Columns { .. } => "sprifed::data::table",
            Self::Entropy(_) => "sprifed::python::entropy",
            Self::Labels => "sprifed::data::labels",
            Self::EarlierReceipt(_) => "sprifed::receipt::unreadable",
            Self::Unentered(error) if error.advice().is_some() => "sprifed::ledger::refused",
            Self::Unentered(_) => "sprifed::ledger::unusable",
            Self::Alignment => "sprifed::data::alignment",
            Self::SchemaChoice { .. } | Self::Lengths { .. } => "sprifed::data::schema",
            Self::Threads(_) => "sprifed::python::threads",
        }
    }
}
