//! Where a party stands in its studies.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::{Delta, Epsilon, PrivacyUnit, Relation, SpentDelta};
use sprifed_recovery::CertifiedProcedure;
use sprifed_study::{Agreed, Digest};

use crate::ledger::TotalsAnswer;

/// A party with its studies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartyStatusAnswer {
    /// Its name.
    pub party: String,
    /// The studies that were asked for.
    pub studies: Vec<PartAnswer>,
    /// What all its studies and fits cost together.
    pub totals: TotalsAnswer,
}

/// A party's part in one study.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartAnswer {
    /// The digest of the agreement.
    pub study: String,
    /// What the study is called.
    pub title: String,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// Whether the noise is secret.
    pub protected: bool,
    /// What was agreed on; absent if the folder of the study is not here.
    pub agreed: Option<AgreedTerms>,
    /// Where it stands, for people.
    pub state: String,
    /// How many sums the party answered.
    pub sums_answered: usize,
    /// Whether the party left.
    pub left: bool,
    /// ε by the party's own journal; absent if the noise protects no record.
    pub epsilon_spent: Option<f64>,
    /// ε that the ledger counts; absent if the noise protects no record.
    pub epsilon_counted: Option<Epsilon>,
    /// δ that the ledger counts; absent if the noise protects no record.
    pub delta_counted: Option<SpentDelta>,
    /// Whether the cost is what was spent, and not the most possible.
    pub settled: bool,
}

/// What the parties of a study agreed on.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct AgreedTerms {
    /// The coordinator's key.
    pub coordinator: Digest,
    /// How features are found.
    pub procedure: CertifiedProcedure,
    /// p: how many features.
    pub features: u32,
    /// How many parties.
    pub parties: usize,
    /// A sum of fewer parties is never opened.
    pub quorum: u32,
    /// How many sums.
    pub sums: usize,
    /// How many of them may be repeated.
    pub repeats: u32,
    /// ε with all repetitions.
    pub largest_epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
}

impl From<&Agreed> for AgreedTerms {
    fn from(agreed: &Agreed) -> Self {
        let agreement = agreed.agreement();
        Self {
            coordinator: agreement.coordinator,
            procedure: agreement.procedure,
            features: agreement.setting.n_features,
            parties: agreement.parties.len(),
            quorum: agreed.participation().quorum(),
            sums: agreed.n_steps(),
            repeats: agreement.repeats,
            largest_epsilon: agreed.ceiling().epsilon(),
            delta: agreed.ceiling().delta(),
        }
    }
}
