//! What a party is told before it takes part in a study.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_noise::Provenance;
use sprifed_privacy::{Delta, Epsilon, Gates, Participation, PrivacyUnit, Relation};
use sprifed_query::RecordSource as _;
use sprifed_recovery::CertifiedProcedure;
use sprifed_secure_sum::ClientId;
use sprifed_study::{Agreed, Digest, Policy};
use sprifed_tables::LoadCounts;

use super::EndedPart;
use crate::admission::Admission;
use crate::ledger::Cost;
use crate::records::PartyRecords;
use crate::spoken_digest::spoken_digest;

/// A study, and whether this party may take part in it. Nothing was sent and nothing was spent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckAnswer {
    /// Whether nothing stands against it.
    pub allowed: bool,
    /// What stands against it.
    pub problems: Vec<String>,
    /// How this party's part ended, if it did.
    pub ended: Option<EndedPart>,
    /// What the study is called.
    pub title: String,
    /// What its result is for.
    pub purpose: String,
    /// The digest of the agreement.
    pub study: Digest,
    /// The same in words, to be compared on the telephone.
    pub words: String,
    /// The coordinator's key.
    pub coordinator: Digest,
    /// Where the coordinator is.
    pub address: String,
    /// The invited parties, in order.
    pub parties: Vec<InvitedParty>,
    /// The trustees that choose and add up, in order; none for secure sums. Any two of them together see all
    /// contributions.
    pub trustees: Vec<InvitedTrustee>,
    /// Whether they prove their gates; absent for secure sums.
    pub gates: Option<Gates>,
    /// A sum of fewer parties is never opened; absent where trustees open sums of any number of parties.
    pub quorum: Option<u32>,
    /// How many parties may tell others their shares of the noise; absent where trustees make the noise.
    pub colluders: Option<u32>,
    /// How features are found.
    pub procedure: CertifiedProcedure,
    /// p: how many features.
    pub features: u32,
    /// All columns that the study reads, the response included.
    pub columns: Vec<String>,
    /// This party's table; absent if it cannot be read.
    pub table: Option<CheckedTable>,
    /// Whether the noise is secret.
    pub protected: bool,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// ε with all repetitions.
    pub largest_epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
    /// What this party's other studies of the same unit and relation have cost.
    pub spent_elsewhere: Cost,
    /// How many studies of this party had simulated noise, which no ε bounds.
    pub unprotected_studies: usize,
}

/// One of the parties, as this party's policy knows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InvitedParty {
    /// Its name in the agreement.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// The most privacy units it may contribute.
    pub units: u32,
    /// Whether it is the party that asks.
    pub is_this_party: bool,
    /// Its name in this party's policy, if that has its key.
    pub known_as: Option<String>,
}

/// One of the three trustees, as this party's policy knows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InvitedTrustee {
    /// Its name in the agreement.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// Whether this party's policy has its key.
    pub is_known: bool,
}

/// A party's table. The counts depend on records: they are for the party alone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedTable {
    /// The file.
    pub file: PathBuf,
    /// How many privacy units it has.
    pub units: usize,
    /// How many records it has.
    pub records: u64,
    /// How many of them have no row in the table that is joined to this one.
    pub unmatched: u64,
    /// How many rows of that table belong to none of them and were left out.
    pub extra_samples: u64,
    /// How many of them are left out because their response is missing.
    pub without_response: u64,
    /// How many feature values are missing and replaced as the schema says.
    pub missing_values: u64,
    /// How many values are moved to the nearest bound.
    pub clipped_values: u64,
}

impl CheckAnswer {
    /// What is said of the study `agreed` at `address`, of which `admission` was decided; the party has `table`, and
    /// `problems` stand against taking part.
    #[must_use]
    pub fn of(
        agreed: &Agreed,
        admission: &Admission,
        address: &str,
        table: Option<CheckedTable>,
        problems: Vec<String>,
    ) -> Self {
        let agreement = agreed.agreement();
        Self {
            allowed: problems.is_empty(),
            problems,
            ended: admission.ended.as_ref().map(EndedPart::from),
            title: agreement.title.clone(),
            purpose: agreement.purpose.clone(),
            study: *agreed.digest(),
            words: spoken_digest(agreed.digest()),
            coordinator: agreement.coordinator,
            address: address.to_owned(),
            parties: invited(agreed, admission.me, &admission.policy),
            trustees: trustees(agreed, &admission.policy),
            gates: agreement.gates,
            quorum: agreed.participation().map(Participation::quorum),
            colluders: agreed.participation().map(Participation::colluders),
            procedure: agreement.procedure,
            features: agreement.setting.n_features,
            columns: admission.columns.clone(),
            table,
            protected: agreement.noise == Provenance::Cryptographic,
            unit: agreement.plan.unit,
            neighbours: agreement.plan.relation,
            largest_epsilon: agreed.ceiling().epsilon(),
            delta: agreed.ceiling().delta(),
            spent_elsewhere: admission.spent_elsewhere,
            unprotected_studies: admission.n_unprotected,
        }
    }
}

/// The parties of `agreed`, as the `policy` of the party `me` knows them.
fn invited(agreed: &Agreed, me: ClientId, policy: &Policy) -> Vec<InvitedParty> {
    let parties = (0..).zip(&agreed.agreement().parties);
    let invited = parties.map(|(place, party)| {
        let mut known = policy.parties.iter();
        let known = known.find(|(_, key)| **key == party.identity);
        InvitedParty {
            name: party.name.clone(),
            identity: party.identity,
            units: party.units,
            is_this_party: place == me.0,
            known_as: known.map(|(name, _)| name.clone()),
        }
    });
    invited.collect()
}

/// The trustees of `agreed`, as `policy` knows them.
fn trustees(agreed: &Agreed, policy: &Policy) -> Vec<InvitedTrustee> {
    let trustees = agreed.agreement().trustees.iter().flatten();
    let invited = trustees.map(|trustee| InvitedTrustee {
        name: trustee.name.clone(),
        identity: trustee.identity,
        is_known: policy.trustees.contains(&trustee.identity),
    });
    invited.collect()
}

impl CheckedTable {
    /// What is said of the table in `file`, in which these `records` and `counts` were found.
    #[must_use]
    pub fn of(file: &Path, records: &PartyRecords, counts: LoadCounts) -> Self {
        Self {
            file: file.to_owned(),
            units: records.n_units(),
            records: counts.records_read,
            unmatched: counts.unmatched,
            extra_samples: counts.extra_samples,
            without_response: counts.dropped_without_response,
            missing_values: counts.missing_values,
            clipped_values: counts.clipped_values,
        }
    }
}
