//! Why a command ended without what was asked, in the words of the command line.

use core::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed::{Blame, Error};

mod explanation;

/// An unhappy end, as it is printed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Failure {
    #[serde(skip)]
    blame: Blame,
    /// A stable name for scripts.
    pub(crate) code: &'static str,
    /// What was found and what is required.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: String,
}

impl Failure {
    fn new(blame: Blame, code: &'static str, message: String, help: &str) -> Self {
        let help = help.to_owned();
        Self {
            blame,
            code,
            message,
            help,
        }
    }

    /// The run ended without a result.
    pub(crate) fn outcome(code: &'static str, message: String, help: &str) -> Self {
        Self::new(Blame::Outcome, code, message, help)
    }

    /// What was asked is wrong.
    pub(crate) fn usage(code: &'static str, message: String, help: &str) -> Self {
        Self::new(Blame::Usage, code, message, help)
    }

    /// A file or the system is at fault.
    pub(crate) fn environment(code: &'static str, message: String, help: &str) -> Self {
        Self::new(Blame::Environment, code, message, help)
    }

    /// The program is at fault.
    pub(crate) fn defect(code: &'static str, message: String, help: &str) -> Self {
        Self::new(Blame::Defect, code, message, help)
    }

    /// Something given, called `what`, cannot be used.
    pub(crate) fn unusable(what: &str, found: &dyn fmt::Display, required: &str) -> Self {
        Self::usage(
            "sprifed::study::unusable-file",
            format!("`{what}`: {found}; {required} is required"),
            "name the right file; nothing was spent",
        )
    }

    /// The same failure with other advice.
    pub(crate) fn with_help(self, help: &str) -> Self {
        Self {
            help: help.to_owned(),
            ..self
        }
    }

    /// The exit code of a command that ended so.
    pub(crate) const fn exit_code(&self) -> u8 {
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

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        explanation::of(&error.into())
    }
}

/// Errors of other crates, in the words of the command line: `….explained()?`.
pub(crate) trait Explained<T> {
    /// The same with a [`Failure`].
    fn explained(self) -> Result<T, Failure>;
}
