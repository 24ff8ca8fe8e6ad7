//! The receipt of a study: its questions, parties, noise and cost, signed by all parties that
//! agree. Any reader can recompute the guarantee from it alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sprifed_noise::Provenance;
use sprifed_privacy::{
    ApproxDp, Currency, Delta, Epsilon, GuaranteeFacts, GuaranteeMoment, GuaranteeTable, Ledger,
    LedgerLine, LedgerRecord, Mu, PrivacyUnit, Relation,
};
use sprifed_query::PlannedStep;
use sprifed_recovery::Fit;
use sprifed_secure_sum::{ClientId, IdentityKey, is_signed_statement};

use crate::agreement::{Agreed, Agreement};
use crate::derivation::Derivation;
use crate::hexadecimal::{Digest, Signature};
use crate::transcript::{Released, SignedOutcome};
use crate::trustee_attempt::RefusedAttempt;

mod contents;
mod fitness;
mod verify;

#[cfg(test)]
mod tests;

pub use contents::SumContents;
pub(crate) use fitness::Known;
pub use fitness::Unfit;
pub use verify::{Problem, Verified};

/// What a coordinator's and a party's signature for a receipt are about.
const RECEIPT: &str = "receipt";

/// One sum that was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SumRecord {
    /// Its number.
    pub sum: u32,
    /// Which step of the plan it answers.
    pub step: u32,
    /// What it is for.
    pub purpose: String,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a sum ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Outcome {
    /// It was unmasked.
    Unmasked {
        /// Whose vectors and noise are in it, by place in the roster.
        survivors: Vec<u32>,
        /// The standard deviation of the noise that all of them added, in units of the largest
        /// contribution, for each block.
        noise: Vec<f64>,
    },
    /// There is no sum.
    Abandoned {
        /// Why.
        reason: String,
    },
    /// Three trustees opened it, a sum or a choice.
    Opened {
        /// Whose numbers are in it, by place in the roster.
        clients: Vec<u32>,
        /// Whose numbers left the norm of the sum, and are not in it; in the same way.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        outside: Vec<u32>,
        /// The standard deviation of the noise that the three added, in units of the largest
        /// contribution, for each block of a sum.
        noise: Vec<f64>,
        /// The candidate that was chosen; absent of a sum, whose values are in the transcript.
        index: Option<u32>,
        /// The transcript before it.
        transcript: Digest,
        /// What the three signed.
        signed: SignedOutcome,
    },
    /// A trustee found that a proof or an opening does not fit: the study ended.
    Refused {
        /// The transcript before the attempt.
        transcript: Digest,
        /// What it found, with its signature.
        refused: RefusedAttempt,
    },
    /// Three trustees signed that they opened nothing; the next attempt was not charged again.
    Unopened {
        /// The transcript before the attempt.
        transcript: Digest,
        /// One signature of each trustee, in the order of the agreement.
        signatures: [Signature; 3],
    },
}

impl Outcome {
    /// What trustees opened after this transcript; `None` if it is nothing of theirs.
    pub(crate) fn opened(
        agreed: &Agreed,
        released: &Released,
        noise: Vec<f64>,
        transcript: Digest,
    ) -> Option<Self> {
        let (step, _) = agreed.step_of(released.sum)?;
        let index = match (agreed.step(step), released.values.first()) {
            (None, Some(index)) => Some(u32::try_from(*index).ok()?),
            _ => None,
        };
        Some(Self::Opened {
            clients: released.survivors.clone(),
            outside: released.outside.clone(),
            noise,
            index,
            transcript,
            signed: *released.trustees.clone()?,
        })
    }

    /// Whose numbers are in what was released, by place in the roster.
    #[must_use]
    pub fn survivors(&self) -> Option<&[u32]> {
        match self {
            Self::Unmasked { survivors, .. } => Some(survivors),
            Self::Opened { clients, .. } => Some(clients),
            Self::Abandoned { .. } | Self::Unopened { .. } | Self::Refused { .. } => None,
        }
    }

    /// Whose numbers left the norm of what was released, by place in the roster.
    #[must_use]
    pub fn outside(&self) -> &[u32] {
        match self {
            Self::Opened { outside, .. } => outside,
            _ => &[],
        }
    }
}

/// What the study promises.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// Whether the noise was secret; if not, there is no guarantee.
    pub noise: Provenance,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// Which data sets are neighbours.
    pub neighbours: Relation,
    /// μ of all sums.
    pub mu: Option<Mu>,
    /// ε of all sums at δ.
    pub epsilon: Option<Epsilon>,
    /// δ.
    pub delta: Delta,
    /// All of it, as people read it.
    pub statement: GuaranteeTable,
}

/// The document of a study that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The name and version of the coordinator's program.
    pub software: String,
    /// What was agreed on.
    pub agreement: Agreement,
    /// Its digest.
    pub agreement_digest: Digest,
    /// Every sum that was opened, in order.
    pub sums: Vec<SumRecord>,
    /// What was charged, in order.
    pub ledger: LedgerRecord,
    /// What that promises.
    pub guarantee: Guarantee,
    /// The digest of the agreement and all released sums.
    pub transcript: Digest,
    /// The model in bounded units, if there is one.
    pub fit: Option<Fit>,
    /// How the study ended, as text.
    pub ending: String,
}

/// A receipt and its signatures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedReceipt {
    /// The document.
    pub receipt: Receipt,
    /// The coordinator's signature.
    pub coordinator: Signature,
    /// Parties that agree, by place in the roster.
    pub parties: Vec<(u32, Signature)>,
    /// Trustees that agree, by place in the agreement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trustees: Vec<(u32, Signature)>,
}

/// What one party was charged, by its own ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyStatement {
    /// The name and version of the party's program.
    pub software: String,
    /// Its place in the roster.
    pub party: u32,
    /// Its own ledger.
    pub ledger: LedgerRecord,
    /// The digest of the study's receipt.
    pub receipt_digest: Digest,
}

/// What a party keeps: the study's receipt, its own ledger, and its signature for both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyReceipt {
    /// The study's receipt, as the coordinator signed it.
    pub study: SignedReceipt,
    /// The party's own statement.
    pub statement: PartyStatement,
    /// The party's signature for them.
    pub signature: Signature,
}

/// What a party's signature for its own statement is about.
const STATEMENT: &str = "party statement";

impl Receipt {
    /// The receipt of a study with this history.
    pub(crate) fn new(
        software: &str,
        agreed: &Agreed,
        sums: Vec<SumRecord>,
        ledger: &Ledger,
        derivation: &Derivation,
        ending: String,
    ) -> Self {
        let agreement = agreed.agreement().clone();
        Self {
            software: software.to_owned(),
            agreement_digest: *agreed.digest(),
            guarantee: Guarantee::of(&agreement, ledger, agreed),
            agreement,
            sums,
            ledger: ledger.record(),
            transcript: derivation.transcript().head(),
            fit: derivation.fit().cloned(),
            ending,
        }
    }

    /// The digest that is signed.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of(self)
    }

    pub(crate) fn sign(self, identity: &IdentityKey) -> SignedReceipt {
        let signature = identity.sign_statement(RECEIPT, &self.digest().0);
        SignedReceipt {
            receipt: self,
            coordinator: Signature(signature),
            parties: Vec::new(),
            trustees: Vec::new(),
        }
    }
}

impl SignedReceipt {
    /// The receipt as it is stored.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// A party's signature for it.
    pub(crate) fn countersign(&self, identity: &IdentityKey) -> [u8; 64] {
        identity.sign_statement(RECEIPT, &self.receipt.digest().0)
    }

    /// Takes the signature of a party, or of a trustee with its number after the last party; false if
    /// it is not one.
    pub(crate) fn take(&mut self, seat: ClientId, signature: [u8; 64]) -> bool {
        let n_parties = u32::try_from(self.receipt.agreement.parties.len()).unwrap_or(u32::MAX);
        let signature = Signature(signature);
        let place = seat.0.checked_sub(n_parties);
        let (fits, list, place) = match place {
            None => (
                self.is_signed_by(seat.0, &signature),
                &mut self.parties,
                seat.0,
            ),
            Some(place) => (
                self.is_signed_by_trustee(place, &signature),
                &mut self.trustees,
                place,
            ),
        };
        let known = list.iter().any(|(id, _)| *id == place);
        if fits && !known {
            list.push((place, signature));
            list.sort_unstable_by_key(|(id, _)| *id);
        }
        fits && !known
    }

    fn is_signed_by(&self, party: u32, signature: &Signature) -> bool {
        let parties = &self.receipt.agreement.parties;
        let party = parties.get(party as usize);
        party.is_some_and(|party| self.is_signed_with(&party.identity, signature))
    }

    fn is_signed_by_trustee(&self, trustee: u32, signature: &Signature) -> bool {
        let trustees = self.receipt.agreement.trustees.as_ref();
        let trustee = trustees.and_then(|trustees| trustees.get(trustee as usize));
        trustee.is_some_and(|trustee| self.is_signed_with(&trustee.identity, signature))
    }

    fn is_signed_with(&self, identity: &Digest, signature: &Signature) -> bool {
        let digest = self.receipt.digest();
        is_signed_statement(&identity.0, RECEIPT, &digest.0, &signature.0)
    }
}

impl PartyReceipt {
    /// What `party` keeps of a study.
    pub(crate) fn new(
        software: &str,
        study: SignedReceipt,
        party: ClientId,
        ledger: &Ledger,
        identity: &IdentityKey,
    ) -> Self {
        let statement = PartyStatement {
            software: software.to_owned(),
            party: party.0,
            ledger: ledger.record(),
            receipt_digest: study.receipt.digest(),
        };
        let signature = identity.sign_statement(STATEMENT, &digest_of(&statement).0);
        Self {
            study,
            statement,
            signature: Signature(signature),
        }
    }

    /// The receipt as it is stored.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

impl Guarantee {
    /// What `ledger` promises to each unit of a study.
    pub(crate) fn of(agreement: &Agreement, ledger: &Ledger, agreed: &Agreed) -> Self {
        // Where the study ended may depend on what was released.
        let cost = ledger.spent().map(|_| agreed.ceiling());
        let sums = ledger.spending().sums();
        let mu = sums.and_then(|sums| sums.mu().ok());
        let mu = mu.filter(|_| ledger.spent() == cost);
        let statement = GuaranteeTable::new(&GuaranteeFacts {
            cost,
            moment: GuaranteeMoment::Final,
            currency: mu
                .filter(|_| ledger.spending().selections().is_empty())
                .map(Currency::Gaussian),
            ..agreed.guarantee_facts()
        });
        Self {
            noise: agreement.noise,
            unit: agreement.plan.unit,
            neighbours: agreement.plan.relation,
            mu,
            epsilon: cost.map(ApproxDp::epsilon),
            delta: agreed.ceiling().delta(),
            statement,
        }
    }
}

/// The sums that have a charge of their own: not those that follow an attempt of which trustees
/// opened nothing.
fn charged_sums(sums: &[SumRecord]) -> impl Iterator<Item = &SumRecord> {
    let before = core::iter::once(None).chain(sums.iter().map(Some));
    let is_carried = |record: &SumRecord, before: Option<&SumRecord>| {
        before.is_some_and(|before| {
            let is_unopened = matches!(before.outcome, Outcome::Unopened { .. });
            is_unopened && before.step == record.step
        })
    };
    let sums = sums.iter().zip(before);
    sums.filter(move |(record, before)| !is_carried(record, *before))
        .map(|(record, _)| record)
}

/// The line that the ledger must have for this sum.
fn line_of(agreed: &Agreed, record: &SumRecord) -> Option<LedgerLine> {
    let (step, _) = agreed.step_of(record.sum)?;
    agreed.line(step)
}

/// The ledger that a party must have at least: one charge for each sum that it is in.
fn least_ledger(receipt: &Receipt, agreed: &Agreed, party: u32) -> Option<Ledger> {
    let mut ledger = agreed.new_ledger();
    for record in &receipt.sums {
        let Some(survivors) = record.outcome.survivors() else {
            continue;
        };
        if survivors.contains(&party) {
            let (step, _) = agreed.step_of(record.sum)?;
            drop(agreed.charge(&mut ledger, step).ok()??);
        }
    }
    Some(ledger)
}

/// Whether `charged` covers every sum of the study that `party` is in.
pub(crate) fn covers(receipt: &Receipt, agreed: &Agreed, party: u32, charged: &Ledger) -> bool {
    least_ledger(receipt, agreed, party).is_some_and(|least| {
        let same_terms = (charged.budget(), charged.relation(), charged.unit())
            == (least.budget(), least.relation(), least.unit());
        let epsilon = |ledger: &Ledger| ledger.spent().map(ApproxDp::epsilon);
        same_terms && epsilon(charged) >= epsilon(&least)
    })
}

/// The noise of `shares` shares in a sum, for each block; of a choice nothing is said.
pub(crate) fn realised_noise(agreed: &Agreed, sum: u32, shares: u32) -> Option<Vec<f64>> {
    let (step, _) = agreed.step_of(sum)?;
    let PlannedStep::Sum(planned) = agreed.planned(step)? else {
        return Some(Vec::new());
    };
    let blocks = planned.blocks.iter();
    let noise = blocks.map(|planned| {
        let variance = planned.block.share_variance.to_f64() * f64::from(shares);
        variance.sqrt() / planned.steps
    });
    Some(noise.collect())
}

/// Whether two models are the same to the last bit of every number.
pub(crate) fn same_fit(one: Option<&Fit>, other: Option<&Fit>) -> bool {
    digest_of(&one) == digest_of(&other)
}

/// The digest of a document by its values, however its text is laid out.
fn digest_of(document: &impl Serialize) -> Digest {
    // Through a value, whose fields are sorted: what is signed does not depend on their order.
    let value = serde_json::to_value(document).unwrap_or_default();
    let text = serde_json::to_vec(&value).unwrap_or_default();
    Digest(Sha256::digest(text).into())
}
