//! What is said of a trustee and of the studies it serves, for programs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_noise::Provenance;
use sprifed_party::{PartyError, TrusteeAdmission, spoken_digest};
use sprifed_privacy::Gates;
use sprifed_recovery::CertifiedProcedure;
use sprifed_study::{Agreed, Digest};
use sprifed_trustees::TrusteeId;

use crate::error::Error;
use crate::trustees::{ProofWork, TrusteeCosts, TrusteeWork};

/// A trustee that was given its keys and its first policy, or a new key for one more study.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrusteeIdentityAnswer {
    /// Its folder.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
}

/// A study, and whether this trustee may serve it. Nothing was sent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrusteeCheckAnswer {
    /// Whether nothing stands against it.
    pub allowed: bool,
    /// What stands against it.
    pub problems: Vec<String>,
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
    /// The three trustees, in order. Any two of them together see all contributions.
    pub trustees: Vec<PeerTrustee>,
    /// Whether they prove their gates.
    pub gates: Gates,
    /// How many clients send contributions.
    pub clients: usize,
    /// How features are found.
    pub procedure: CertifiedProcedure,
    /// p: how many features.
    pub features: u32,
    /// How many choices and sums.
    pub steps: usize,
    /// What this trustee does in the whole study, without repetitions.
    pub work: TrusteeWork,
    /// What the proof of its gates adds; absent if the study does without.
    pub proof: Option<ProofWork>,
    /// Whether the noise is secret.
    pub protected: bool,
}

/// One of the three trustees, as this trustee's policy knows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PeerTrustee {
    /// Its name in the agreement.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// Whether it is the trustee that asks.
    pub is_this_trustee: bool,
    /// Its name in this trustee's policy, if that has its key.
    pub known_as: Option<String>,
}

impl TrusteeCheckAnswer {
    /// What is said of the study `agreed` at `address`, of which `admission` was decided.
    ///
    /// # Errors
    /// When trustees cannot compute a step of the plan.
    pub fn of(agreed: &Agreed, admission: &TrusteeAdmission, address: &str) -> Result<Self, Error> {
        let agreement = agreed.agreement();
        let problems: Vec<String> = admission
            .obstacles
            .iter()
            .flat_map(PartyError::reasons)
            .collect();
        let units: Vec<u32> = agreement.parties.iter().map(|party| party.units).collect();
        let needs = agreement.procedure.needs();
        let gates = agreement.gates.unwrap_or(Gates::Unproved);
        let (setting, plan) = (&agreement.setting, &agreement.plan);
        let costs = TrusteeCosts::of_units(setting, plan, &units, needs, gates)?;
        Ok(Self {
            allowed: problems.is_empty(),
            problems,
            title: agreement.title.clone(),
            purpose: agreement.purpose.clone(),
            study: *agreed.digest(),
            words: spoken_digest(agreed.digest()),
            coordinator: agreement.coordinator,
            address: address.to_owned(),
            trustees: peers(agreed, admission),
            gates,
            clients: agreement.parties.len(),
            procedure: agreement.procedure,
            features: agreement.setting.n_features,
            steps: agreed.n_steps(),
            work: costs.trustee,
            proof: costs.proof,
            protected: agreement.noise == Provenance::Cryptographic,
        })
    }
}

fn peers(agreed: &Agreed, admission: &TrusteeAdmission) -> Vec<PeerTrustee> {
    let trustees = agreed.agreement().trustees.iter().flatten();
    let trustees = TrusteeId::ALL.into_iter().zip(trustees);
    let peers = trustees.map(|(place, entry)| {
        let mut known = admission.policy.trustees.iter();
        let known = known.find(|(_, key)| **key == entry.identity);
        PeerTrustee {
            name: entry.name.clone(),
            identity: entry.identity,
            is_this_trustee: place == admission.me,
            known_as: known.map(|(name, _)| name.clone()),
        }
    });
    peers.collect()
}

/// A study that a trustee served to its end.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrusteeAnswer {
    /// The digest of the agreement.
    pub study: Digest,
    /// What the study is called.
    pub title: String,
    /// How the study ended.
    pub ending: String,
    /// How many choices and sums this trustee opened with the two others.
    pub opened: usize,
    /// What was written.
    pub files: Vec<PathBuf>,
}

/// A trustee with its studies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrusteeStatusAnswer {
    /// Its name.
    pub trustee: String,
    /// The public half of its identity key.
    pub identity: Digest,
    /// The studies that were asked for.
    pub studies: Vec<TrusteePartAnswer>,
}

/// A trustee's part in one study.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrusteePartAnswer {
    /// The digest of the agreement.
    pub study: Digest,
    /// What the study is called.
    pub title: String,
    /// The coordinator's key.
    pub coordinator: Digest,
    /// How many clients send contributions.
    pub clients: usize,
    /// How many choices and sums were planned.
    pub steps: usize,
    /// How many of them this trustee opened with the two others.
    pub opened: usize,
    /// How many attempts it began, failed ones included.
    pub attempts: usize,
    /// Where it stands, for people.
    pub state: String,
    /// Whether its secrets of the study are erased.
    pub erased: bool,
}
