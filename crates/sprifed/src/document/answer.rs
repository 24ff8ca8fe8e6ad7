//! What is said of a document that was computed again.

use schemars::JsonSchema;
use serde::Serialize;
use sprifed_privacy::Epsilon;
use sprifed_study::{Digest, SumContents, Verified};

use super::Proof;
use crate::guarantee::Guarantee;

/// What a proof says, by the kind of its document.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ProofAnswer {
    /// Of a model, which is not signed.
    Model {
        /// What the plan and the ledger give.
        guarantee: Box<Guarantee>,
    },
    /// Of a study.
    Study(ReceiptAnswer),
    /// Of a party's receipt.
    Party(ReceiptAnswer),
}

/// What the receipt of a study says.
#[derive(Clone, Debug, Serialize)]
pub struct ReceiptAnswer {
    /// What the study promises.
    pub guarantee: sprifed_study::Guarantee,
    /// Whether as many parties have signed as the quorum.
    pub confirmed: bool,
    /// Names of the parties that signed.
    pub signed_by: Vec<String>,
    /// Names of the parties that did not.
    pub not_signed_by: Vec<String>,
    /// Names of the trustees that signed; none in a study of secure sums.
    pub trustees_signed: Vec<String>,
    /// Names of the trustees that did not.
    pub trustees_not_signed: Vec<String>,
    /// The key of the coordinator.
    pub coordinator: Digest,
    /// The digest of what was agreed on.
    pub agreement: Digest,
}

impl From<Verified> for ReceiptAnswer {
    fn from(verified: Verified) -> Self {
        Self {
            confirmed: verified.is_confirmed(),
            guarantee: verified.guarantee,
            signed_by: verified.signed_by,
            not_signed_by: verified.not_signed_by,
            trustees_signed: verified.trustees_signed,
            trustees_not_signed: verified.trustees_not_signed,
            coordinator: verified.coordinator,
            agreement: verified.agreement,
        }
    }
}

impl From<Proof> for ProofAnswer {
    fn from(proof: Proof) -> Self {
        match proof {
            Proof::Model(guarantee) => Self::Model {
                guarantee: guarantee.into(),
            },
            Proof::Study(verified) => Self::Study(verified.into()),
            Proof::Party(verified, _, _) => Self::Party(verified.into()),
        }
    }
}

/// What `verify` says of a model, which is not signed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelVerification {
    /// Always false: there is no signature.
    pub verified: bool,
    /// Always true: plan, ledger and guarantee say the same.
    pub consistent: bool,
    /// Always false.
    pub signed: bool,
    /// Always false: coefficients are not signed.
    pub model_checked: bool,
    /// What the plan and the ledger give.
    pub guarantee: Guarantee,
}

impl From<Guarantee> for ModelVerification {
    fn from(guarantee: Guarantee) -> Self {
        Self {
            verified: false,
            consistent: true,
            signed: false,
            model_checked: false,
            guarantee,
        }
    }
}

/// What `verify` says of the receipt of a study or of one of its parties.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StudyVerification {
    /// The key of the coordinator.
    pub coordinator: Digest,
    /// The digest of what was agreed on.
    pub agreement: Digest,
    /// Whether it is to be believed: the party signed for itself, or as many parties as the quorum.
    pub verified: bool,
    /// Whether as many parties have signed as the quorum, or two of three trustees.
    pub confirmed: bool,
    /// How many signatures of parties confirm it; where trustees compute, how many of theirs.
    pub quorum: u32,
    /// Whether a model file was compared with it.
    pub model_checked: bool,
    /// Whether the model was derived again from the released sums.
    pub model_derived_again: bool,
    /// Whose records the released sums hold.
    pub records_in_sums: Vec<SumContents>,
    /// How many sums were abandoned before they were opened.
    pub abandoned_sums: usize,
    /// The party whose receipt it is.
    pub speaks_for: Option<String>,
    /// What the study promises.
    pub guarantee: sprifed_study::Guarantee,
    /// Names of the parties that signed.
    pub signed_by: Vec<String>,
    /// Names of the parties that did not.
    pub not_signed_by: Vec<String>,
    /// Names of the trustees that signed; none in a study of secure sums.
    pub trustees_signed: Vec<String>,
    /// Names of the trustees that did not.
    pub trustees_not_signed: Vec<String>,
    /// The party, and the epsilon that it signs to have been charged.
    pub charged_to_party: Option<(String, Option<Epsilon>)>,
}

impl StudyVerification {
    /// What is said of a receipt; `charged` is of the party whose receipt it is.
    #[must_use]
    pub fn of(verified: &Verified, charged: Option<(String, Option<Epsilon>)>) -> Self {
        Self {
            coordinator: verified.coordinator,
            agreement: verified.agreement,
            // What a party signed for itself needs no other signature.
            verified: charged.is_some() || verified.is_confirmed(),
            confirmed: verified.is_confirmed(),
            quorum: verified.quorum,
            model_checked: false,
            model_derived_again: false,
            records_in_sums: verified.records_in_sums.clone(),
            abandoned_sums: verified.abandoned_sums,
            speaks_for: charged.as_ref().map(|(name, _)| name.clone()),
            guarantee: verified.guarantee.clone(),
            signed_by: verified.signed_by.clone(),
            not_signed_by: verified.not_signed_by.clone(),
            trustees_signed: verified.trustees_signed.clone(),
            trustees_not_signed: verified.trustees_not_signed.clone(),
            charged_to_party: charged,
        }
    }
}
