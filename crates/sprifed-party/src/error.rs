//! Why a party can not do what it was asked.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use sprifed_schema::PLACEHOLDER;
use sprifed_study::{Digest, IllegalAgreement};
use sprifed_tables::DataError;

use crate::database::StoreError;

/// Why a party can not do what it was asked. The texts name no option of a command: the edge adds those.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartyError {
    /// A file could not be read or written.
    #[error("can not {action} `{path}`: {reason}")]
    File {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Something given can not be used.
    #[error("`{name}`: {found}; {required} is required")]
    Unusable {
        /// What it is called, mostly a path.
        name: String,
        /// What was found.
        found: String,
        /// What it should be.
        required: &'static str,
    },
    /// State or ledger could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An agreement that no party should agree to.
    #[error(transparent)]
    Illegal(#[from] IllegalAgreement),
    /// A schema or a table that can not be used.
    #[error(transparent)]
    Data(Arc<DataError>),
    /// The agreement does not say how records are read.
    #[error("the study does not say how records are read")]
    DataTerms,
    /// The schema of the study names a client column.
    #[error(
        "the schema names the client column `{column}`, but in a study between parties each party is one client"
    )]
    ClientColumn {
        /// Which column.
        column: String,
    },
    /// A feature without bounds.
    #[error("a feature of the study has no bounds in its schema")]
    UnboundedFeature,
    /// The table lacks a column.
    #[error("`{table}` has no column {column:?}, which the study asks for")]
    MissingColumn {
        /// Which table.
        table: String,
        /// Which column.
        column: String,
    },
    /// The table has more privacy units than the party's seat.
    #[error("`{table}` has {found} privacy units, but the study allows this party at most {most}")]
    TooManyRecords {
        /// Which table.
        table: String,
        /// How many it has.
        found: usize,
        /// How many the study allows.
        most: u32,
    },
    /// The agreement contradicts itself about its columns.
    #[error("the study names {found} columns, but is about {required}")]
    OtherFeatures {
        /// How many it names.
        found: usize,
        /// How many it is about.
        required: u32,
    },
    /// A name that can not stand in certificates and file names.
    #[error("{name:?} is no name; up to 60 letters, digits, `-` and `_` are required")]
    IllegalName {
        /// The name.
        name: String,
    },
    /// A `party.json` without a usable request for a certificate.
    #[error(
        "the party.json of {party} {found}; a request that the party's identity key signed is required"
    )]
    CertificateRequest {
        /// Which party.
        party: String,
        /// What is wrong with the request.
        found: &'static str,
    },
    /// A policy that can not be read, or says what no policy says.
    #[error("{message}")]
    PolicyMistake {
        /// Which file, which line, what is wrong and what is required.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// A policy that lacks a key.
    #[error("`{name}` does not say {missing}; a policy that says so is required")]
    PolicyIncomplete {
        /// Which file.
        name: String,
        /// Which keys it lacks.
        missing: String,
        /// Lines that say so.
        lines: String,
    },
    /// Another policy was given to a party that has a data-protection officer.
    #[error(
        "another policy was given, but `{officer}` says that this party takes part only by the policy that its \
         data-protection officer signed"
    )]
    PolicyOfOfficer {
        /// The file with the officer's key.
        officer: PathBuf,
    },
    /// A policy without the signature of the party's officer.
    #[error(
        "`{name}` {found}; the signature of this party's officer, {officer}, for the party {party} is required"
    )]
    PolicyUnsigned {
        /// Which file.
        name: String,
        /// What is wrong with its signature.
        found: &'static str,
        /// The officer's key.
        officer: Digest,
        /// The party's key.
        party: Digest,
    },
}

impl PartyError {
    /// Something given, called `name`, can not be used.
    pub(crate) fn unusable(
        name: impl Into<String>,
        found: impl core::fmt::Display,
        required: &'static str,
    ) -> Self {
        Self::Unusable {
            name: name.into(),
            found: found.to_string(),
            required,
        }
    }

    /// The system did not do `action` with the file `path`.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            action,
            path,
            reason: source.to_string(),
        }
    }

    /// The exit code of a command that ends so: 1 the study, 2 the settings, 3 the machine it runs on.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Store(StoreError::PutBack { .. } | StoreError::Ledger { .. })
            | Self::PolicyUnsigned { .. } => 1,
            Self::File { .. } | Self::Store(_) => 3,
            Self::Data(error) if error.is_environment() => 3,
            _ => 2,
        }
    }

    /// A stable name for scripts.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unusable { .. } => "sprifed::study::unusable-file",
            Self::Store(StoreError::Ledger { .. }) => "sprifed::ledger::refused",
            Self::Store(StoreError::PutBack { .. }) => "sprifed::study::ended",
            Self::File { .. } | Self::Store(_) => "sprifed::study::environment",
            Self::Illegal(_) => "sprifed::study::illegal-agreement",
            Self::Data(error) if error.is_environment() => "sprifed::data::file",
            Self::Data(error) if matches!(**error, DataError::Schema(_)) => "sprifed::data::schema",
            Self::Data(_) => "sprifed::data::table",
            Self::DataTerms => "sprifed::study::data-terms",
            Self::ClientColumn { .. } => "sprifed::study::client-column",
            Self::UnboundedFeature => "sprifed::study::unbounded-feature",
            Self::MissingColumn { .. } => "sprifed::study::missing-column",
            Self::TooManyRecords { .. } => "sprifed::study::too-many-records",
            Self::OtherFeatures { .. } => "sprifed::study::other-features",
            Self::IllegalName { .. } => "sprifed::study::illegal-name",
            Self::CertificateRequest { .. } => "sprifed::study::certificate-request",
            Self::PolicyMistake { .. } => "sprifed::policy::mistake",
            Self::PolicyIncomplete { .. } => "sprifed::policy::incomplete",
            Self::PolicyOfOfficer { .. } => "sprifed::policy::officer",
            Self::PolicyUnsigned { .. } => "sprifed::policy::unsigned",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        let help = match self {
            Self::Unusable { .. } => "name the right file; nothing was spent",
            Self::Store(StoreError::Ledger { help, .. }) => help,
            Self::Store(StoreError::PutBack { .. }) => {
                "see the log above; what was charged stays charged"
            }
            Self::File { .. } | Self::Store(_) => {
                "mend this and start again: the study goes on where it was"
            }
            Self::Illegal(_) => "correct the numbers of the study; nothing was spent",
            Self::Data(error) => return help_for_data(error).to_owned(),
            Self::DataTerms => "use a study that `sprifed study init` wrote; nothing was spent",
            Self::ClientColumn { .. } => {
                "remove `client` and `max_per_client` from the schema; `unit` stays; nothing was spent"
            }
            Self::UnboundedFeature => {
                "give default bounds under [features], or bounds for each; nothing was spent"
            }
            Self::MissingColumn { .. } => {
                "give a table with all columns of the study; nothing was spent"
            }
            Self::TooManyRecords { .. } => {
                "leave records out by a rule that does not look at them, or ask for another study; nothing was spent"
            }
            Self::OtherFeatures { .. } => {
                "ask the coordinator for a study that agrees with itself; nothing was spent"
            }
            Self::IllegalName { .. } => "choose another name",
            Self::CertificateRequest { .. } => {
                "ask the party for the party.json that `sprifed study identity` wrote; nothing was made"
            }
            Self::PolicyMistake { help, .. } => help,
            Self::PolicyIncomplete { lines, .. } => {
                return format!(
                    "add what this party agrees to at the top of the file, such as:\n{lines}\nnothing was spent"
                );
            }
            Self::PolicyOfOfficer { .. } => {
                "give no other policy, or have the officer sign another policy.toml; nothing was spent"
            }
            Self::PolicyUnsigned { .. } => {
                "have the officer run `sprifed study sign-policy` on this file with the party.json of this party; \
                 nothing was spent"
            }
        };
        help.to_owned()
    }
}

/// What to do about a table or its schema.
fn help_for_data(error: &DataError) -> &'static str {
    match error {
        error if error.is_environment() => {
            "check the path, its permissions and the machine; nothing was spent"
        }
        DataError::Schema(_) if error.to_string().contains(PLACEHOLDER) => {
            "replace every FILL_IN by a number known without looking at the records; nothing was spent"
        }
        DataError::Schema(_) => "correct the schema as said above; nothing was spent",
        _ => "correct the table or the schema as said above; nothing was spent",
    }
}

impl From<DataError> for PartyError {
    fn from(error: DataError) -> Self {
        Self::Data(Arc::new(error))
    }
}
