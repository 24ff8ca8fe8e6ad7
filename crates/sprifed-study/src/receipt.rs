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
use sprifed_recovery::Fit;
use sprifed_secure_sum::{ClientId, IdentityKey, is_signed_statement};

use crate::agreement::{Agreed, Agreement};
use crate::derivation::Derivation;
use crate::hexadecimal::{Digest, Signature};

mod contents;
mod verify;

#[cfg(test)]
mod tests;

pub use contents::SumContents;
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

    /// Takes a party's signature; false if it is not one.
    pub(crate) fn take(&mut self, party: ClientId, signature: [u8; 64]) -> bool {
        let fits = self.is_signed_by(party.0, &Signature(signature));
        let known = self.parties.iter().any(|(id, _)| *id == party.0);
        if fits && !known {
            self.parties.push((party.0, Signature(signature)));
            self.parties.sort_unstable_by_key(|(id, _)| *id);
        }
        fits && !known
    }

    fn is_signed_by(&self, party: u32, signature: &Signature) -> bool {
        let parties = &self.receipt.agreement.parties;
        parties.get(party as usize).is_some_and(|party| {
            let digest = self.receipt.digest();
            is_signed_statement(&party.identity.0, RECEIPT, &digest.0, &signature.0)
        })
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
        let delta = agreement.plan.budget.delta();
        let spent = ledger.spent().map(ApproxDp::epsilon);
        let sums = ledger.spending().sums();
        let mu = sums.and_then(|sums| sums.mu().ok());
        let statement = GuaranteeTable::new(&GuaranteeFacts {
            cost: ledger.spent(),
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
            epsilon: spent,
            delta,
            statement,
        }
    }
}

/// The line that the ledger must have for this sum.
fn line_of(agreed: &Agreed, record: &SumRecord) -> Option<LedgerLine> {
    let (step, _) = agreed.step_of(record.sum)?;
    Some(LedgerLine::Sum(agreed.purchase(agreed.step(step)?)))
}

/// The ledger that a party must have at least: one charge for each sum that it is in.
fn least_ledger(receipt: &Receipt, agreed: &Agreed, party: u32) -> Option<Ledger> {
    let plan = &receipt.agreement.plan;
    let mut ledger = Ledger::open(agreed.ceiling(), plan.relation, plan.unit);
    for record in &receipt.sums {
        let Outcome::Unmasked { survivors, .. } = &record.outcome else {
            continue;
        };
        if survivors.contains(&party) {
            let (step, _) = agreed.step_of(record.sum)?;
            let purchase = agreed.purchase(agreed.step(step)?);
            drop(ledger.spend(&record.purpose, purchase).ok()?);
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

/// The noise that `survivors` parties added to a sum, for each block.
pub(crate) fn realised_noise(agreed: &Agreed, sum: u32, survivors: u32) -> Option<Vec<f64>> {
    let (step, _) = agreed.step_of(sum)?;
    let blocks = agreed.step(step)?.blocks.iter();
    let noise = blocks.map(|planned| {
        let variance = planned.block.share_variance.to_f64() * f64::from(survivors);
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
