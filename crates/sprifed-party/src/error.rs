//! Why a party cannot do what it was asked.

mod advice;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use sprifed_schema::TermsError;
use sprifed_study::{CannotDerive, CannotJoin, Digest, Forbidden, IllegalAgreement};
use sprifed_tables::DataError;

use crate::database::StoreError;
use crate::ledger::OverLimit;

/// Why a party cannot do what it was asked. The texts name no option of a command: the edge adds those.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartyError {
    /// A file could not be read or written.
    #[error("cannot {action} `{path}`: {reason}")]
    File {
        /// What was tried.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file of a study could not be read.
    #[error("`{path}` cannot be read: {found}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system said, or that it is too large.
        found: String,
    },
    /// The operating system gave no fresh secret bytes.
    #[error("the operating system gave no entropy: {reason}; 256 bits are required")]
    NoEntropy {
        /// What the system said.
        reason: String,
    },
    /// Something given cannot be used.
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
    /// A schema or a table that cannot be used.
    #[error(transparent)]
    Data(Arc<DataError>),
    /// The agreement does not say how records are read.
    #[error("the study does not say how records are read")]
    DataTerms,
    /// The schema does not say how the parties of a study read their records.
    #[error(transparent)]
    Terms(TermsError),
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
    /// A name that cannot stand in certificates and file names.
    #[error("{name:?} is not a valid name; up to 60 letters, digits, `-` and `_` are required")]
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
    /// A `trustee.json` that the trustee's identity key did not sign whole.
    #[error(
        "the trustee.json of {trustee} {found}; the file as `study trustee` wrote it is required"
    )]
    PublicTrustee {
        /// Which trustee.
        trustee: String,
        /// What is wrong with it.
        found: &'static str,
    },
    /// The study names a key that this trustee does not have, or no longer has.
    #[error(
        "the study names a study key that `{folder}` does not have: it was used for another study, or never made here"
    )]
    OtherStudyKey {
        /// Where study keys are that were not used.
        folder: PathBuf,
    },
    /// A policy that cannot be read, or says what no policy says.
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
    /// The study has no seat for this identity.
    #[error("the study does not invite the identity {identity}")]
    NotInvited {
        /// The party's key.
        identity: Digest,
    },
    /// The seat is not the one that the party asked for.
    #[error("this party does not take part: {problem}")]
    OtherSeat {
        /// What is different.
        problem: String,
    },
    /// A key that can be repeated from a seed protects no record.
    #[error(
        "this identity was made from a seed for rehearsals, but the study protects its records"
    )]
    RehearsalKey,
    /// A study whose questions cannot be derived would reserve a budget and ask nothing.
    #[error("the questions of this study cannot be derived: {0}")]
    Underivable(CannotDerive),
    /// The policy does not allow the study.
    #[error("this {role} does not take part: {0}", role = .0.role())]
    Forbidden(Forbidden),
    /// The limit of the ledger would be passed.
    #[error("the ledger has a limit: {0}")]
    OverLimit(OverLimit),
    /// What a study that was begun can cost is not known.
    #[error(
        "`{folder}` is of a study that was begun, but what it can cost is not known: it has no invitation.json"
    )]
    UnknownCost {
        /// The folder of the study.
        folder: PathBuf,
    },
    /// The party has left the study.
    #[error("this party has left this study, as `{path}` says, and answers nothing more in it")]
    Left {
        /// Where it says so.
        path: PathBuf,
    },
    /// State that the party had is gone: without it the party would answer sums a second time.
    #[error("this party has joined this study before, but `{path}` is gone")]
    StateLost {
        /// Which file.
        path: PathBuf,
    },
    /// A rehearsal needs a seed.
    #[error("this study is a rehearsal with repeatable noise, but no seed was given")]
    NoSeed,
    /// A study that protects its records takes no seed.
    #[error("a seed for a rehearsal was given, but this study protects its records")]
    SeedGiven,
    /// A request that was answered before, or is older than one that was.
    #[error("refused: the request has number {found}, but {last} was answered before")]
    OldRequest {
        /// Its number.
        found: u64,
        /// The number of the last request that was answered.
        last: u64,
    },
    /// The party cannot join, or not join again with what it has stored.
    #[error("the study cannot be opened: {0}")]
    CannotJoin(#[from] CannotJoin),
    /// What was stored contradicts itself.
    #[error("`{path}` contradicts itself: {found}")]
    Contradiction {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        found: String,
    },
    /// There is nothing to leave: the ledger does not know the study.
    #[error(
        "the ledger does not know the study of `{folder}`: nothing was sent in it and nothing is reserved for it"
    )]
    NotJoined {
        /// The folder of the study.
        folder: PathBuf,
    },
    /// There is nothing to leave: the study is over.
    #[error("{title:?} is over for this party and has a receipt")]
    Over {
        /// What the study is called.
        title: String,
        /// Whether the ledger counts what the receipt says.
        is_settled: bool,
    },
    /// A state that was emptied says that nothing was charged; to believe it would give back what is spent.
    #[error(
        "`{path}` is empty, so it cannot say what was charged; the journal in its latest state is required"
    )]
    Emptied {
        /// Which file.
        path: PathBuf,
    },
}

impl PartyError {
    /// Something given, called `name`, cannot be used.
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

    /// Each reason on its own, in words.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        match self {
            Self::Forbidden(forbidden) => {
                let violations = forbidden.violations.iter();
                violations.map(ToString::to_string).collect()
            }
            Self::OverLimit(over) => vec![over.to_string()],
            Self::Data(table) => table.each(),
            other => vec![other.to_string()],
        }
    }

    /// The system did not do `action` with the file `path`.
    pub fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            action,
            path,
            reason: source.to_string(),
        }
    }
}

impl From<DataError> for PartyError {
    fn from(error: DataError) -> Self {
        Self::Data(Arc::new(error))
    }
}
