//! What a party does about an error: the exit code, a name for scripts, advice, and what the coordinator is told.

use sprifed_schema::{PLACEHOLDER, TermsError};
use sprifed_tables::DataError;

use super::PartyError;
use crate::database::StoreError;

impl PartyError {
    /// The exit code of a command that ends so: 1 the study, 2 the settings, 3 the machine it runs on.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Store(StoreError::PutBack { .. } | StoreError::Ledger { .. })
            | Self::PolicyUnsigned { .. }
            | Self::NotInvited { .. }
            | Self::OtherStudyKey { .. }
            | Self::OtherSeat { .. }
            | Self::Underivable(_)
            | Self::Forbidden(_)
            | Self::OverLimit(_)
            | Self::Left { .. }
            | Self::StateLost { .. }
            | Self::OldRequest { .. }
            | Self::CannotJoin(_)
            | Self::NotJoined { .. }
            | Self::Over { .. }
            | Self::UnknownCost { .. }
            | Self::Emptied { .. } => 1,
            Self::File { .. }
            | Self::Unreadable { .. }
            | Self::NoEntropy { .. }
            | Self::Contradiction { .. }
            | Self::Store(_) => 3,
            Self::Data(error) if error.is_environment() => 3,
            _ => 2,
        }
    }

    /// A stable name for scripts.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unusable { .. } => "sprifed::study::unusable-file",
            Self::Unreadable { .. } => "sprifed::study::unreadable",
            Self::NoEntropy { .. } => "sprifed::entropy::unavailable",
            Self::Store(StoreError::Ledger { .. }) | Self::OverLimit(_) => {
                "sprifed::ledger::refused"
            }
            Self::Store(StoreError::PutBack { .. }) | Self::CannotJoin(_) => {
                "sprifed::study::ended"
            }
            Self::File { .. } | Self::Store(_) => "sprifed::study::environment",
            Self::Illegal(_) => "sprifed::study::illegal-agreement",
            Self::Data(error) if error.is_environment() => "sprifed::data::file",
            Self::Data(error) if matches!(**error, DataError::Schema(_)) => "sprifed::data::schema",
            Self::Data(_) => "sprifed::data::table",
            Self::DataTerms { .. } => "sprifed::study::data-terms",
            Self::Terms(TermsError::ClientColumn { .. }) => "sprifed::study::client-column",
            Self::Terms(TermsError::SiteColumn { .. }) => "sprifed::study::site-column",
            Self::Terms(_) => "sprifed::study::unbounded-feature",
            Self::MissingColumn { .. } => "sprifed::study::missing-column",
            Self::TooManyRecords { .. } => "sprifed::study::too-many-records",
            Self::OtherFeatures { .. } => "sprifed::study::other-features",
            Self::IllegalName { .. } => "sprifed::study::illegal-name",
            Self::CertificateRequest { .. } => "sprifed::study::certificate-request",
            Self::PublicTrustee { .. } => "sprifed::study::public-trustee",
            Self::OtherStudyKey { .. } => "sprifed::study::study-key",
            Self::PolicyMistake { .. } => "sprifed::policy::mistake",
            Self::PolicyIncomplete { .. } => "sprifed::policy::incomplete",
            Self::PolicyOfOfficer { .. } => "sprifed::policy::officer",
            Self::PolicyUnsigned { .. } => "sprifed::policy::unsigned",
            Self::NotInvited { .. } => "sprifed::study::not-invited",
            Self::OtherSeat { .. } => "sprifed::study::other-seat",
            Self::RehearsalKey => "sprifed::study::rehearsal-key",
            Self::Underivable(_) => "sprifed::study::underivable",
            Self::Forbidden(_) => "sprifed::policy::refused",
            Self::Left { .. } => "sprifed::study::left",
            Self::StateLost { .. } | Self::Emptied { .. } => "sprifed::study::state-lost",
            Self::NoSeed => "sprifed::study::rehearsal",
            Self::SeedGiven => "sprifed::study::not-a-rehearsal",
            Self::OldRequest { .. } => "sprifed::study::old-request",
            Self::Contradiction { .. } => "sprifed::study::journal",
            Self::NotJoined { .. } => "sprifed::study::not-joined",
            Self::Over { .. } => "sprifed::study::over",
            Self::UnknownCost { .. } => "sprifed::ledger::unknown-cost",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        let help = match self {
            Self::Data(error) => help_for_data(error),
            Self::PolicyMistake { help, .. } => help,
            Self::PolicyIncomplete { lines, .. } => {
                return format!(
                    "add what this party agrees to at the top of the file, such as:\n{lines}\nnothing was spent"
                );
            }
            other => other.fixed_help(),
        };
        help.to_owned()
    }

    fn fixed_help(&self) -> &str {
        match self {
            Self::Store(StoreError::Ledger { help, .. }) => help,
            Self::Store(StoreError::PutBack { .. }) | Self::CannotJoin(_) => {
                "see the log above; what was charged stays charged"
            }
            Self::File { .. } | Self::Store(_) => {
                "correct this and start again: the study continues where it stopped"
            }
            Self::Unreadable { .. } => "check the path and its permissions; nothing was spent",
            Self::NoEntropy { .. } => "repair the system's random number source; nothing was spent",
            Self::Illegal(_) => "correct the numbers of the study; nothing was spent",
            Self::DataTerms { .. } => {
                "use a study that `sprifed study init` wrote; nothing was spent"
            }
            Self::Terms(TermsError::ClientColumn { .. }) => {
                "remove `client` and `max_per_client` from the schema; `unit` stays; nothing was spent"
            }
            Self::Terms(TermsError::SiteColumn { .. }) => {
                "remove [sites] from the schema and set site_effects = true under [record]; nothing was spent"
            }
            Self::Terms(_) => {
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
            Self::PublicTrustee { .. } => {
                "ask the trustee for the trustee.json that `sprifed study trustee` wrote; nothing was made"
            }
            Self::OtherStudyKey { .. } => {
                "make a new trustee.json with `sprifed study trustee NAME --again` and send it to the coordinator, who makes \
                 a study with it; nothing was sent"
            }
            Self::PolicyOfOfficer { .. } => {
                "give no other policy, or have the officer sign another policy.toml; nothing was spent"
            }
            Self::PolicyUnsigned { .. } => {
                "have the officer run `sprifed study sign-policy` on this file with the party.json of this party; \
                 nothing was spent"
            }
            Self::NotInvited { .. } => {
                "send party.json to the coordinator, who makes a study with it; nothing was spent"
            }
            Self::OtherSeat { .. } => {
                "ask the coordinator for a study with your party.json as it is; nothing was spent"
            }
            Self::RehearsalKey => {
                "make a new identity without a seed and send its party.json to the coordinator; nothing was spent"
            }
            Self::Underivable(_) => {
                "ask the coordinator for a study that `sprifed study init` of this version wrote; nothing was spent"
            }
            Self::Forbidden(_) => {
                "talk to the coordinator, or change the policy; no record was opened, nothing was spent"
            }
            Self::OverLimit(_) => {
                "ask for less, or raise the limit with `sprifed ledger limit`; nothing was spent now"
            }
            Self::Left { .. } => {
                "ask the coordinator for another study. If `study leave` was broken off, run it again: `study status` \
                 says whether the ledger is settled. What was charged stays charged"
            }
            Self::StateLost { .. } => {
                "restore its whole folder in its latest state, or make another study; what was charged stays charged"
            }
            Self::NoSeed => "give the seed, and only if the records need no protection",
            Self::SeedGiven => "give no seed; nothing was spent",
            Self::OldRequest { .. } => "ask again with a larger number",
            Self::Contradiction { .. } => {
                "restore the folder in its latest state; nothing was changed"
            }
            Self::NotJoined { .. } => "there is nothing to leave; the folder may be deleted",
            Self::Over { is_settled, .. } => {
                if *is_settled {
                    "there is nothing to leave: the ledger counts what the receipt says"
                } else {
                    "run `join` once more: it counts what the receipt says, without a coordinator"
                }
            }
            Self::UnknownCost { .. } => {
                "copy invitation.json into it from the folder for-NAME of that study; nothing was changed"
            }
            Self::Emptied { .. } => {
                "restore it. Without it the ledger keeps the most that the study can cost; nothing was changed"
            }
            _ => "name the right file; nothing was spent",
        }
    }

    /// What the coordinator is told of a party that takes no part for this reason; nothing if it is for the party alone.
    #[must_use]
    pub fn to_coordinator(&self) -> Option<String> {
        match self {
            Self::OtherSeat { problem } => Some(problem.clone()),
            Self::RehearsalKey => Some(
                "its identity was made from a seed for rehearsals, and the study is none"
                    .to_owned(),
            ),
            Self::Forbidden(forbidden) => Some(forbidden.to_string()),
            Self::OverLimit(over) => Some(over.to_string()),
            // The path is for the party alone.
            Self::StateLost { .. } => {
                Some("it has joined this study before, but its state is gone".to_owned())
            }
            Self::NoSeed => {
                Some("the study is a rehearsal, but this party has no seed for one".to_owned())
            }
            Self::SeedGiven => {
                Some("this party has a seed for rehearsals, but the study is none".to_owned())
            }
            Self::Underivable(problem) => Some(problem.to_string()),
            Self::CannotJoin(problem) => Some(problem.to_string()),
            _ => None,
        }
    }
}

/// What to do about a table or its schema.
fn help_for_data(error: &DataError) -> &'static str {
    match error {
        error if error.is_environment() => {
            "check the path, its permissions and the machine; nothing was spent"
        }
        DataError::Schema(_) if error.to_string().contains(PLACEHOLDER) => {
            "a physical limit, the range of an instrument or the literature will do; nothing was spent"
        }
        DataError::Schema(_) => "correct the schema as said above; nothing was spent",
        _ => "correct the table or the schema as said above; nothing was spent",
    }
}
