//! Verifies a receipt: everything is computed again from the agreement.

use std::collections::BTreeSet;
use std::sync::Arc;

use sprifed_privacy::{Decision, Gates, Ledger, NoiseOrigin, Participation};
use sprifed_secure_sum::is_signed_statement;

use super::{
    Guarantee, Outcome, PartyReceipt, RECEIPT, Receipt, STATEMENT, SignedReceipt, SumContents,
    SumRecord, charged_sums, covers, digest_of, line_of, realised_noise, same_fit,
};
use crate::agreement::{Agreed, AgreedTrustees, IllegalAgreement, TrusteeEntry};
use crate::derivation::Derivation;
use crate::hexadecimal::Digest;
use crate::transcript::{Released, Transcript};
use crate::trustee_attempt::UnopenedSum;

/// Of three trustees at most one colludes, so one of two is honest.
const TRUSTEES_THAT_CONFIRM: u32 = 2;

/// Why a receipt is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: found {found}, but {required} is required")]
pub struct Problem {
    /// Which part of it.
    pub what: String,
    /// What it says.
    pub found: String,
    /// The required content.
    pub required: String,
}

/// A receipt that was verified, with its guarantee computed again.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// What it promises.
    pub guarantee: Guarantee,
    /// The key of the coordinator that signed it.
    pub coordinator: Digest,
    /// The digest of what was agreed on.
    pub agreement: Digest,
    /// How many parties every sum needs, and how many signatures confirm the receipt; where trustees compute, how many
    /// of their signatures do.
    pub quorum: u32,
    /// Names of the parties that signed it.
    pub signed_by: Vec<String>,
    /// Names of the parties that did not.
    pub not_signed_by: Vec<String>,
    /// Names of the trustees that signed it.
    pub trustees_signed: Vec<String>,
    /// Names of the trustees that did not.
    pub trustees_not_signed: Vec<String>,
    /// Whose records the released sums hold, in the order of the plan.
    pub records_in_sums: Vec<SumContents>,
    /// How many sums were abandoned before they were opened.
    pub abandoned_sums: usize,
}

impl Verified {
    /// Whether at least a quorum of parties, or two trustees, have signed the receipt, and not the coordinator alone.
    ///
    /// # Guarantee
    /// Then no sum that was opened is missing from it, and so none from its cost, as long as no more
    /// parties collude than the agreement says.
    ///
    /// # Why
    /// A party signs only if the receipt has every sum that it was charged for and states no smaller
    /// cost than its own ledger (`StudyParty`). A sum is opened only with at least a quorum of survivors,
    /// each of which was charged before it sent anything. Two sets of a quorum share at least
    /// 2 · quorum − n of the n parties, which an agreement requires to be more than its colluders
    /// (`sprifed_secure_sum::Parameters`). So at least one honest party was in the sum and signed.
    /// Three trustees are charged before they open anything, and each signs only if the receipt has every attempt
    /// that it began. At most one colludes, so one of two that signed is honest.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        let has_trustees =
            !(self.trustees_signed.is_empty() && self.trustees_not_signed.is_empty());
        let signers = match has_trustees {
            true => self.trustees_signed.len(),
            false => self.signed_by.len(),
        };
        u32::try_from(signers).is_ok_and(|signers| signers >= self.quorum)
    }
}

fn problem(what: &str, found: impl ToString, required: impl ToString) -> Problem {
    Problem {
        what: what.to_owned(),
        found: found.to_string(),
        required: required.to_string(),
    }
}

fn contradiction(error: &IllegalAgreement) -> Problem {
    problem(
        "the agreement",
        format!("a contradiction ({error})"),
        "none",
    )
}

impl SignedReceipt {
    /// Recomputes the guarantee from the receipt alone.
    ///
    /// # Guarantee
    /// If this succeeds, the coordinator named in the agreement signed exactly this; every sum that
    /// was opened is in it once and was charged; every unmasked one had its quorum; and the stated
    /// numbers are those that the accountant computes.
    ///
    /// # Errors
    /// With the first problem found.
    pub fn verify(&self) -> Result<Verified, Problem> {
        let receipt = &self.receipt;
        let agreed =
            Agreed::new(receipt.agreement.clone()).map_err(|error| contradiction(&error))?;
        let digest = *agreed.digest();
        if digest != receipt.agreement_digest {
            let found = receipt.agreement_digest;
            return Err(problem("the agreement's digest", found, digest));
        }
        let coordinator = &receipt.agreement.coordinator;
        let signed = receipt.digest();
        if !is_signed_statement(&coordinator.0, RECEIPT, &signed.0, &self.coordinator.0) {
            let required = format!("one by the key {coordinator} for exactly this document");
            return Err(problem("the coordinator's signature", "another", required));
        }
        check_sums(receipt, &agreed)?;
        let ledger = check_ledger(receipt, &agreed)?;
        let guarantee = Guarantee::of(&receipt.agreement, &ledger, &agreed);
        if guarantee != receipt.guarantee {
            let found = &receipt.guarantee.statement;
            return Err(problem("the guarantee", found, &guarantee.statement));
        }
        let signers = self.signers()?;
        let (mut signed_by, mut not_signed_by) = (Vec::new(), Vec::new());
        for (id, party) in (0..).zip(&receipt.agreement.parties) {
            let list = if signers.contains(&id) {
                &mut signed_by
            } else {
                &mut not_signed_by
            };
            list.push(party.name.clone());
        }
        let (trustees_signed, trustees_not_signed) = self.trustees_that_signed()?;
        Ok(Verified {
            coordinator: *coordinator,
            agreement: digest,
            quorum: agreed
                .participation()
                .map_or(TRUSTEES_THAT_CONFIRM, Participation::quorum),
            guarantee,
            signed_by,
            not_signed_by,
            trustees_signed,
            trustees_not_signed,
            records_in_sums: receipt.sum_contents(),
            abandoned_sums: receipt.n_abandoned(),
        })
    }

    /// Derives the model again from the sums that the study released.
    ///
    /// # Guarantee
    /// If this succeeds, these are the sums that the signers of the receipt saw, and the receipt's model
    /// is what the agreed procedure makes of them.
    ///
    /// # Errors
    /// With the first problem found.
    pub fn verify_transcript(&self, released: &[Released]) -> Result<(), Problem> {
        let receipt = &self.receipt;
        let agreed =
            Agreed::new(receipt.agreement.clone()).map_err(|error| contradiction(&error))?;
        let derivation = Derivation::begin(Arc::new(agreed));
        let mut derivation =
            derivation.map_err(|error| problem("the procedure", error, "one that can begin"))?;
        check_released(receipt, released)?;
        for sum in released {
            let taken = derivation.take(sum.clone());
            taken.map_err(|error| problem("the transcript", error, "sums in order"))?;
        }
        let (found, required) = (derivation.transcript().head(), receipt.transcript);
        if found != required {
            return Err(problem("the digest of the transcript", found, required));
        }
        if !same_fit(receipt.fit.as_ref(), derivation.fit()) {
            let required = "the one that the released sums give";
            return Err(problem("the model", "another", required));
        }
        Ok(())
    }

    /// The names of the trustees that signed, and of the others.
    fn trustees_that_signed(&self) -> Result<(Vec<String>, Vec<String>), Problem> {
        let mut signers = BTreeSet::new();
        for (trustee, signature) in &self.trustees {
            let what = format!("the signature of trustee {trustee}");
            if !self.is_signed_by_trustee(*trustee, signature) {
                return Err(problem(&what, "another", "one for exactly this document"));
            }
            if !signers.insert(*trustee) {
                return Err(problem(&what, "two", "one"));
            }
        }
        let entries = self.receipt.agreement.trustees.iter().flatten();
        let (signed, others): (Vec<_>, Vec<_>) = (0..)
            .zip(entries)
            .partition(|(place, _)| signers.contains(place));
        let names = |entries: Vec<(u32, &TrusteeEntry)>| {
            let names = entries.into_iter().map(|(_, entry)| entry.name.clone());
            names.collect()
        };
        Ok((names(signed), names(others)))
    }

    fn signers(&self) -> Result<BTreeSet<u32>, Problem> {
        let mut signers = BTreeSet::new();
        for (party, signature) in &self.parties {
            let what = format!("the signature of party {party}");
            if !self.is_signed_by(*party, signature) {
                return Err(problem(&what, "another", "one for exactly this document"));
            }
            if !signers.insert(*party) {
                return Err(problem(&what, "two", "one"));
            }
        }
        Ok(signers)
    }
}

impl PartyReceipt {
    /// Recomputes the study's guarantee and the party's own charges.
    ///
    /// # Errors
    /// With the first problem found.
    pub fn verify(&self) -> Result<Verified, Problem> {
        let verified = self.study.verify()?;
        let agreement = &self.study.receipt.agreement;
        let statement = &self.statement;
        let what = "the party";
        let party = agreement.parties.get(statement.party as usize);
        let party = party.ok_or_else(|| problem(what, statement.party, "a place in the roster"))?;
        let digest = digest_of(statement);
        if !is_signed_statement(&party.identity.0, STATEMENT, &digest.0, &self.signature.0) {
            let required = format!("one of {:?} for exactly this statement", party.name);
            return Err(problem("the party's signature", "another", required));
        }
        let required = self.study.receipt.digest();
        if statement.receipt_digest != required {
            let found = statement.receipt_digest;
            return Err(problem(
                "the digest of the study's receipt",
                found,
                required,
            ));
        }
        let what = "the party's ledger";
        let ledger = Ledger::replay(&statement.ledger)
            .map_err(|error| problem(what, error, "one that adds up"))?;
        let agreed = Agreed::new(agreement.clone()).map_err(|error| contradiction(&error))?;
        if !covers(&self.study.receipt, &agreed, statement.party, &ledger) {
            let found = format!("{} charges", statement.ledger.entries.len());
            let required = "one for each sum that the party is in, on the agreement's terms";
            return Err(problem(what, found, required));
        }
        Ok(verified)
    }
}

/// Steps come in order, attempts of a step in order, nothing after a failed last attempt.
fn check_sums(receipt: &Receipt, agreed: &Agreed) -> Result<(), Problem> {
    let mut next = (0, 0);
    let mut is_refused = false;
    for record in &receipt.sums {
        let what = format!("sum {}", record.sum);
        if is_refused {
            let required = "nothing after a study that a trustee ended";
            return Err(problem(&what, "another attempt", required));
        }
        let place = agreed.step_of(record.sum);
        if place != Some(next) || u32::try_from(next.0).ok() != Some(record.step) {
            return Err(problem(&what, format!("{place:?}"), format!("{next:?}")));
        }
        let purpose = agreed.purpose(next.0);
        if purpose != Some(record.purpose.as_str()) {
            let required = format!("{purpose:?}");
            return Err(problem(&what, &record.purpose, required));
        }
        match &record.outcome {
            Outcome::Abandoned { .. } => next.1 += 1,
            Outcome::Unmasked { survivors, noise } => {
                check_survivors(&what, survivors, noise, agreed, record.sum)?;
                next = (next.0 + 1, 0);
            }
            Outcome::Opened {
                clients,
                outside,
                noise,
                ..
            } => {
                check_clients(&what, clients, noise, agreed, record.sum)?;
                check_outside(&what, clients, outside, agreed)?;
                check_choice(&what, record, agreed)?;
                next = (next.0 + 1, 0);
            }
            Outcome::Refused {
                transcript,
                refused,
            } => {
                if !refused.holds(agreed, record.sum, *transcript) {
                    let required = "the signature of the trustee that found it";
                    return Err(problem(&what, "a finding of a trustee", required));
                }
                is_refused = true;
                next.1 += 1;
            }
            Outcome::Unopened {
                transcript,
                signatures,
            } => {
                let unopened = UnopenedSum {
                    sum: record.sum,
                    signatures: *signatures,
                };
                // It is not charged again, so it must be true.
                if !unopened.holds(agreed, *transcript) {
                    let required = "the signatures of three trustees";
                    return Err(problem(&what, "an attempt that opened nothing", required));
                }
                next.1 += 1;
            }
        }
    }
    if receipt
        .sums
        .iter()
        .all(|sum| sum.outcome.survivors().is_none())
    {
        let required = Transcript::begin(agreed.digest()).head();
        if receipt.transcript != required {
            return Err(problem("the transcript", receipt.transcript, required));
        }
    }
    let complete = next == (agreed.n_steps(), 0);
    if receipt.fit.is_some() && !complete {
        let required = format!("a model only after all {} steps", agreed.n_steps());
        return Err(problem(
            "the model",
            format!("one after {next:?}"),
            required,
        ));
    }
    Ok(())
}

/// Three trustees signed the index of a choice. The signatures for a sum are checked with the transcript, which has its
/// values.
fn check_choice(what: &str, record: &SumRecord, agreed: &Agreed) -> Result<(), Problem> {
    let Outcome::Opened {
        clients,
        outside,
        index,
        transcript,
        signed,
        ..
    } = &record.outcome
    else {
        return Ok(());
    };
    let is_sum = agreed.step(record.step as usize).is_some();
    let is_right = match index {
        None => is_sum,
        Some(_) if is_sum => false,
        Some(index) => {
            let released = Released {
                sum: record.sum,
                survivors: clients.clone(),
                outside: outside.clone(),
                values: vec![i64::from(*index)],
                trustees: Some(Box::new(signed.clone())),
            };
            agreed.is_opened(&released, *transcript)
        }
    };
    if is_right {
        return Ok(());
    }
    let required = "the index of a choice with the signatures of three trustees, or a sum";
    Err(problem(what, format!("{index:?}"), required))
}

/// What the receipt says of each sum is what was released, and comes after what was released before.
pub(super) fn check_released(receipt: &Receipt, released: &[Released]) -> Result<(), Problem> {
    let unmasked = receipt
        .sums
        .iter()
        .map(|record| (record.sum, &record.outcome))
        .filter_map(|(sum, outcome)| Some((sum, outcome.survivors()?, outcome.outside())));
    let stated: Vec<(u32, &[u32], &[u32])> = unmasked.collect();
    let shown: Vec<_> = released
        .iter()
        .map(|sum| (sum.sum, sum.survivors.as_slice(), sum.outside.as_slice()))
        .collect();
    if stated != shown {
        let text = |sums: &[(u32, &[u32], &[u32])]| format!("{sums:?}");
        return Err(problem(
            "the sums of the transcript",
            text(&shown),
            text(&stated),
        ));
    }
    let mut transcript = Transcript::begin(&receipt.agreement_digest);
    let records = receipt.sums.iter();
    let records = records.filter(|record| record.outcome.survivors().is_some());
    for (sum, record) in released.iter().zip(records) {
        check_signed(record, sum, transcript.head())?;
        transcript.push(sum.clone());
    }
    Ok(())
}

/// What the receipt says that trustees signed, and after which transcript, is what they signed.
fn check_signed(record: &SumRecord, released: &Released, head: Digest) -> Result<(), Problem> {
    let Outcome::Opened {
        transcript, signed, ..
    } = &record.outcome
    else {
        return Ok(());
    };
    if *transcript == head && Some(signed) == released.trustees.as_deref() {
        return Ok(());
    }
    let required = "those of the transcript";
    let what = format!("the signatures for sum {}", record.sum);
    Err(problem(&what, "others", required))
}

fn check_clients(
    what: &str,
    clients: &[u32],
    noise: &[f64],
    agreed: &Agreed,
    sum: u32,
) -> Result<(), Problem> {
    let known = clients.iter().all(|id| *id < agreed.roster().n_clients());
    let ascend = clients.is_sorted_by(|one, next| one < next);
    if agreed.trustees().is_none() || !known || !ascend || clients.is_empty() {
        let required = "invited parties, each once and in order, of a study with trustees";
        return Err(problem(what, format!("{clients:?}"), required));
    }
    let expected = realised_noise(agreed, sum, NoiseOrigin::Trustees.most_shares());
    if expected.as_deref() != Some(noise) {
        let (found, required) = (format!("noise {noise:?}"), format!("{expected:?}"));
        return Err(problem(what, found, required));
    }
    Ok(())
}

/// Only sums whose norms are verified leave out parties, and those are not in them.
fn check_outside(
    what: &str,
    clients: &[u32],
    outside: &[u32],
    agreed: &Agreed,
) -> Result<(), Problem> {
    let trustees = agreed.trustees().map(AgreedTrustees::gates);
    let is_verified = outside.is_empty() || trustees == Some(Gates::Proved);
    let known = outside.iter().all(|id| *id < agreed.roster().n_clients());
    let ascend = outside.is_sorted_by(|one, next| one < next);
    let are_counted = outside.iter().any(|id| clients.contains(id));
    if is_verified && known && ascend && !are_counted {
        return Ok(());
    }
    let required =
        "invited parties that are not in the sum, each once and in order, where norms are verified";
    Err(problem(what, format!("{outside:?} outside"), required))
}

fn check_survivors(
    what: &str,
    survivors: &[u32],
    noise: &[f64],
    agreed: &Agreed,
    sum: u32,
) -> Result<(), Problem> {
    let Some(participation) = agreed.participation() else {
        return Err(problem(what, "a masked sum", "one that trustees opened"));
    };
    let distinct = survivors.iter().collect::<BTreeSet<_>>();
    let known = survivors.iter().all(|id| *id < participation.clients());
    let count = u32::try_from(survivors.len()).unwrap_or(u32::MAX);
    let enough = participation.decide(count) == Ok(Decision::Release);
    if !known || !enough || distinct.len() != survivors.len() {
        let required = format!("at least {} different ones", participation.quorum());
        return Err(problem(what, format!("{count} survivors"), required));
    }
    let expected = realised_noise(agreed, sum, count);
    if expected.as_deref() != Some(noise) {
        let (found, required) = (format!("noise {noise:?}"), format!("{expected:?}"));
        return Err(problem(what, found, required));
    }
    Ok(())
}

/// One charge for each sum that was opened, and nothing else.
fn check_ledger(receipt: &Receipt, agreed: &Agreed) -> Result<Ledger, Problem> {
    let what = "the ledger";
    let record = &receipt.ledger;
    let plan = &receipt.agreement.plan;
    let found = (record.budget, record.relation, record.unit);
    let required = (agreed.ceiling(), plan.relation, plan.unit);
    if found != required {
        let (found, required) = (format!("{found:?}"), format!("{required:?}"));
        return Err(problem(what, found, required));
    }
    let charged: Vec<&SumRecord> = charged_sums(&receipt.sums).collect();
    if record.entries.len() != charged.len() {
        let required = format!("{}, one for each sum", charged.len());
        return Err(problem(
            what,
            format!("{} lines", record.entries.len()),
            required,
        ));
    }
    for (entry, sum) in record.entries.iter().zip(charged) {
        if Some(&entry.line) != line_of(agreed, sum).as_ref() {
            let found = format!("another line than that of sum {}", sum.sum);
            return Err(problem(what, found, "what was agreed on"));
        }
    }
    Ledger::replay(record).map_err(|error| problem(what, error, "lines that add up"))
}
