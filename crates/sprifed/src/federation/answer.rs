//! What is said of a study between parties, for programs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_noise::Provenance;
use sprifed_party::spoken_digest;
use sprifed_privacy::{ApproxDp, Delta, Epsilon, Gates, LedgerRecord, Participation};
use sprifed_recovery::{CertifiedProcedure, Fit};
use sprifed_study::{Agreed, Digest, Guarantee, Party, Policy, SignedReceipt, TrusteeEntry};

use crate::model::Model;
use crate::planning::KeptFeatures;

/// A study that was written down.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StudyAnswer {
    /// `NOT PRIVATE` if the noise is simulated.
    pub label: Option<&'static str>,
    /// Whether the noise is secret.
    pub protected: bool,
    /// The digest of the agreement.
    pub study: Digest,
    /// The same in words, to be compared on the telephone.
    pub words: String,
    /// What the result is for.
    pub purpose: String,
    /// The folder of the study.
    pub folder: PathBuf,
    /// What the study is about.
    pub title: String,
    /// How features are found.
    pub procedure: CertifiedProcedure,
    /// The coordinator's key.
    pub coordinator: Digest,
    /// Who takes part.
    pub parties: Vec<Party>,
    /// How many features are sought at most.
    pub sparsity: u32,
    /// Which of them are kept: those that are significant, or exactly as many as are sought.
    pub keep: KeptFeatures,
    /// The trustees that choose and add up; none for secure sums.
    pub trustees: Vec<NamedTrustee>,
    /// Whether they prove their gates; absent for secure sums.
    pub gates: Option<Gates>,
    /// p: how many features.
    pub features: u32,
    /// n: how many records at most.
    pub records: u32,
    /// How many sums.
    pub sums: usize,
    /// ε of the plan, at δ.
    pub epsilon: Option<Epsilon>,
    /// ε with all repetitions.
    pub largest_epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
    /// A sum of fewer parties is never opened; absent where trustees open sums of any number of parties.
    pub quorum: Option<u32>,
    /// How many parties may tell others their shares of the noise; absent where trustees make the noise.
    pub colluders: Option<u32>,
}

/// A trustee of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedTrustee {
    /// Its name.
    pub name: String,
    /// The public half of its identity key.
    pub identity: Digest,
}

impl From<&TrusteeEntry> for NamedTrustee {
    fn from(entry: &TrusteeEntry) -> Self {
        Self {
            name: entry.name.clone(),
            identity: entry.identity,
        }
    }
}

impl StudyAnswer {
    /// What is said of `agreed`, which is written down in `folder`.
    #[must_use]
    pub fn of(agreed: &Agreed, folder: PathBuf) -> Self {
        let agreement = agreed.agreement();
        let delta = agreement.plan.budget.delta();
        let planned = agreement.plan.spending().ok();
        let planned = planned.and_then(|spending| spending.to_approx_dp(delta));
        let is_protected = agreement.noise == Provenance::Cryptographic;
        Self {
            label: (!is_protected).then_some("NOT PRIVATE"),
            protected: is_protected,
            study: *agreed.digest(),
            words: spoken_digest(agreed.digest()),
            purpose: agreement.purpose.clone(),
            folder,
            title: agreement.title.clone(),
            procedure: agreement.procedure,
            coordinator: agreement.coordinator,
            parties: agreement.parties.clone(),
            sparsity: agreement.setting.sparsity,
            keep: agreement.setting.choice.into(),
            trustees: agreement
                .trustees
                .iter()
                .flatten()
                .map(NamedTrustee::from)
                .collect(),
            gates: agreement.gates,
            features: agreement.setting.n_features,
            records: agreement.setting.n_records,
            sums: agreed.n_steps(),
            epsilon: planned.map(ApproxDp::epsilon),
            largest_epsilon: agreed.ceiling().epsilon(),
            delta,
            quorum: agreed.participation().map(Participation::quorum),
            colluders: agreed.participation().map(Participation::colluders),
        }
    }
}

/// The key of a data-protection officer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OfficerAnswer {
    /// The public key.
    pub officer: Digest,
    /// The file that holds it.
    pub file: PathBuf,
}

/// A policy that an officer signed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SignedPolicyAnswer {
    /// What it allows.
    pub policy: Policy,
    /// The file of the signature.
    pub file: PathBuf,
    /// The officer's public key.
    pub officer: Digest,
    /// For whom it counts.
    pub party: PolicyParty,
}

/// The party for which a policy was signed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PolicyParty {
    /// Its name.
    pub name: String,
    /// Its key.
    pub identity: Digest,
}

/// A study that was cancelled.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct CancelAnswer {
    /// The digest of the agreement.
    pub study: Digest,
    /// Always true.
    pub cancelled: bool,
}

/// What may be published of a study.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExportAnswer {
    /// Where it was written.
    pub folder: PathBuf,
    /// The files beside the agreement.
    pub files: Vec<String>,
}

/// A study that a coordinator served to its end.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EndedAnswer {
    /// How the fit ended, in one word.
    pub status: &'static str,
    /// What must be read before anything else: why the model is no more than the mean, or must not be interpreted.
    pub alarm: Option<String>,
    /// What the study promises.
    pub guarantee: Guarantee,
    /// How it ended.
    pub ending: String,
    /// How many parties signed the receipt.
    pub signed_by: usize,
    /// How many trustees signed it; absent in a study of secure sums.
    pub trustees_signed: Option<usize>,
    /// What was written.
    pub files: Vec<PathBuf>,
}

impl EndedAnswer {
    /// What is said of a study with this receipt and this model.
    #[must_use]
    pub fn of(receipt: &SignedReceipt, model: &Model, files: Vec<PathBuf>) -> Self {
        Self {
            status: model.status_name(),
            alarm: model.alarm(),
            guarantee: receipt.receipt.guarantee.clone(),
            ending: receipt.receipt.ending.clone(),
            signed_by: receipt.parties.len(),
            trustees_signed: receipt
                .receipt
                .agreement
                .trustees
                .as_ref()
                .map(|_| receipt.trustees.len()),
            files,
        }
    }
}

/// A study that was rehearsed in one process. NOT PRIVATE.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RehearsalAnswer {
    /// Always `NOT PRIVATE`.
    pub label: &'static str,
    /// The names of the features that are reported.
    pub features: Vec<String>,
    /// The fit, in bounded units.
    pub fit: Fit,
    /// What a real study would have spent.
    pub ledger: LedgerRecord,
    /// How many parties answered each sum.
    pub survivors: Vec<u32>,
}
