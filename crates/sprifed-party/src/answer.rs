//! What a party is told of its part in a study, for programs. What is said of its ledger is in
//! [`LedgerAnswer`](crate::LedgerAnswer).

mod check;
mod status;
mod text;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{Epsilon, SpentDelta};
use sprifed_study::{Digest, Guarantee};

pub use self::check::{CheckAnswer, CheckedTable, InvitedParty, InvitedTrustee};
pub use self::status::{AgreedTerms, PartAnswer, PartyStatusAnswer};
pub use self::text::{StudyHeading, TWO_SEE, key_lines, key_text, permission_lines};
use crate::leave::Departure;
use crate::ledger::{LifetimeLine, Protection, Standing, TotalsAnswer};

/// A party that was given its keys and its first policy.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IdentityAnswer {
    /// Its folder.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// The most records it will contribute.
    pub records: u32,
    /// The public key of its data-protection officer, if it has one.
    pub officer: Option<String>,
}

/// A study that ended with a model, for one of its parties.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JoinAnswer {
    /// How the fit ended, in one word.
    pub status: &'static str,
    /// What must be read before anything else: why the model is no more than the mean, or must not be interpreted.
    pub alarm: Option<String>,
    /// What the study promises.
    pub guarantee: Guarantee,
    /// Whether the noise was secret.
    pub protected: bool,
    /// ε that the ledger counts for this study; absent if the noise protects no record.
    pub charged_epsilon: Option<Epsilon>,
    /// What all its studies and fits cost together.
    pub totals: TotalsAnswer,
    /// What was written.
    pub files: Vec<PathBuf>,
}

/// A study that a party left before its end.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeaveAnswer {
    /// The digest of the agreement.
    pub study: String,
    /// What the study is called.
    pub title: String,
    /// Always true.
    pub left: bool,
    /// Whether the noise was secret.
    pub protected: bool,
    /// ε that the ledger counts; absent if the noise protects no record.
    pub charged_epsilon: Option<Epsilon>,
    /// δ that the ledger counts; absent if the noise protects no record.
    pub charged_delta: Option<SpentDelta>,
}

/// How a party's part in a study ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EndedPart {
    /// Whether the party left.
    pub left: bool,
    /// Whether the cost is what was spent, and not the most possible.
    pub settled: bool,
    /// ε that the ledger counts; absent if the noise protects no record.
    pub epsilon: Option<Epsilon>,
    /// δ that the ledger counts; absent if the noise protects no record.
    pub delta: Option<SpentDelta>,
}

impl From<&Departure> for LeaveAnswer {
    fn from(departure: &Departure) -> Self {
        let Departure { line, cost } = departure;
        let is_protected = line.protection == Protection::Secret;
        Self {
            study: line.study.clone(),
            title: line.title.clone(),
            left: true,
            protected: is_protected,
            charged_epsilon: is_protected.then_some(cost.epsilon),
            charged_delta: is_protected.then_some(cost.delta),
        }
    }
}

impl From<&LifetimeLine> for EndedPart {
    fn from(line: &LifetimeLine) -> Self {
        let cost = line.protected_cost();
        Self {
            left: line.standing == Standing::Left,
            settled: line.is_settled(),
            epsilon: cost.map(|cost| cost.epsilon),
            delta: cost.map(|cost| cost.delta),
        }
    }
}
