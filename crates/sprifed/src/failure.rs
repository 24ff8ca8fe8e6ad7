//! Why a study between parties was refused: found, required, and what to do.

use core::fmt;

use serde::Serialize;
use sprifed_privacy::{IllegalParticipation, IllegalQuantity};
use sprifed_query::PlanError;
use sprifed_schema::PLACEHOLDER;
use sprifed_study::IllegalAgreement;
use sprifed_tables::DataError;

use crate::error::Blame;

/// An unhappy end.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    #[serde(skip)]
    blame: Blame,
    /// A stable name for scripts.
    pub code: &'static str,
    /// What was found and what is required.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Failure {
    /// The run ended without a result.
    #[must_use]
    pub fn outcome(code: &'static str, message: String, help: &str) -> Self {
        Self {
            blame: Blame::Outcome,
            code,
            message,
            help: help.to_owned(),
        }
    }

    /// What was asked is wrong.
    #[must_use]
    pub fn usage(code: &'static str, message: String, help: &str) -> Self {
        Self {
            blame: Blame::Usage,
            code,
            message,
            help: help.to_owned(),
        }
    }

    /// A file or the system is at fault.
    #[must_use]
    pub fn environment(code: &'static str, message: String, help: &str) -> Self {
        Self {
            blame: Blame::Environment,
            code,
            message,
            help: help.to_owned(),
        }
    }

    /// The program is at fault.
    #[must_use]
    pub fn defect(code: &'static str, message: String, help: &str) -> Self {
        Self {
            blame: Blame::Defect,
            code,
            message,
            help: help.to_owned(),
        }
    }

    /// Something given, called `what`, can not be used.
    #[must_use]
    pub fn unusable(what: &str, found: &dyn fmt::Display, required: &str) -> Self {
        Self::usage(
            "sprifed::study::unusable-file",
            format!("`{what}`: {found}; {required} is required"),
            "name the right file; nothing was spent",
        )
    }

    /// The same failure with other advice.
    #[must_use]
    pub fn with_help(self, help: &str) -> Self {
        Self {
            help: help.to_owned(),
            ..self
        }
    }

    /// Who has to act.
    #[must_use]
    pub const fn blame(&self) -> Blame {
        self.blame
    }

    /// The exit code of a command that ended so.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self.blame {
            Blame::Outcome => 1,
            Blame::Usage => 2,
            Blame::Environment => 3,
            Blame::Defect => 4,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, help, .. } = self;
        write!(formatter, "{message}\n help: {help}")
    }
}

impl core::error::Error for Failure {}

impl From<IllegalQuantity> for Failure {
    fn from(error: IllegalQuantity) -> Self {
        let help = "correct the value; nothing was spent";
        Self::usage(
            "sprifed::privacy::illegal-quantity",
            error.to_string(),
            help,
        )
    }
}

impl From<IllegalParticipation> for Failure {
    fn from(error: IllegalParticipation) -> Self {
        let help = "change --clients, --quorum or --colluders; nothing was spent";
        Self::usage(
            "sprifed::privacy::illegal-participation",
            error.to_string(),
            help,
        )
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let help = "change the budget, the sparsity or the size; nothing was spent";
        Self::usage("sprifed::plan::impossible", error.to_string(), help)
    }
}

impl From<IllegalAgreement> for Failure {
    fn from(error: IllegalAgreement) -> Self {
        let help = "correct the numbers of the study; nothing was spent";
        Self::usage("sprifed::study::illegal-agreement", error.to_string(), help)
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let message = error.to_string();
        if error.is_environment() {
            let help = "check the path, its permissions and the machine; nothing was spent";
            return Self::environment("sprifed::data::file", message, help);
        }
        let (code, help) = match error {
            DataError::Schema(_) if message.contains(PLACEHOLDER) => (
                "sprifed::data::schema",
                "replace every FILL_IN by a number known without looking at the records; nothing was spent",
            ),
            DataError::Schema(_) => (
                "sprifed::data::schema",
                "correct the schema as said above; nothing was spent",
            ),
            _ => (
                "sprifed::data::table",
                "correct the table or the schema as said above; nothing was spent",
            ),
        };
        Self::usage(code, message, help)
    }
}
