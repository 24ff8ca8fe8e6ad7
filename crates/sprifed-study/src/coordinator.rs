//! The coordinator of a study: it opens one sum after the other and sends the released sums to
//! every party. It is trusted only with the order of events. The questions follow from the released
//! sums.
//!
//! ```text
//! Keys ─▶ Shares ─▶ for each step: Uploads ─▶ Confirmations ─▶ Unmasking ─▶ next step, or again
//!                                                                    └─▶ Receipts ─▶ Ended
//! Keys ─▶ with trustees, for each step: Noise ─▶ Uploads ─▶ Running ─▶ next step
//!                                                      └─▶ Abandoning ─▶ again
//! ```
//!
//! It is a function of its inputs: messages, and the moments at which a phase is closed. A shell that
//! stores them can rebuild it. A sum that has ended is stored as a checkpoint instead.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use sprifed_privacy::Ledger;
use sprifed_secure_sum::{ClientId, CoordinatorOutput, IdentityKey, Phase, Reason, SumOutcome};
use sprifed_trustees::TrusteeId;

use crate::agreement::Agreed;
use crate::asked::Asked;
use crate::checkpoint::{Checkpoint, SumEnding};
use crate::derivation::Derivation;
use crate::receipt::{Outcome, Receipt, SignedReceipt, SumRecord, realised_noise};
use crate::transcript::{Released, Transcript};
use crate::wire::{Order, Report, Unreadable, is_declined_by};

/// More phases than a sum has, so that their number grows when one is restored.
const PHASES: u64 = 4;

mod cancel;
mod effects;
mod engine;
mod rounds;
#[cfg(test)]
pub(crate) mod tests;
mod trustees;

pub use effects::{CoordinatorEffect, CoordinatorError, MessageRefused, StudyPhase, TrusteePhase};
use engine::Engine;
use trustees::Attempting;

/// The coordinator of one study.
pub struct StudyCoordinator {
    agreed: Arc<Agreed>,
    identity: IdentityKey,
    software: String,
    engine: Engine,
    derivation: Derivation,
    stage: Stage,
    ledger: Ledger,
    history: Vec<SumRecord>,
    declined: Vec<(ClientId, String)>,
    effects: VecDeque<CoordinatorEffect>,
    phases: u64,
    /// Whether the last message had been accepted before.
    was_known: bool,
}

enum Stage {
    Setup(Phase),
    Summing(Summing),
    Attempting(Attempting),
    Receipts(Box<SignedReceipt>),
    Ended(Box<SignedReceipt>),
    /// Only inside a transition.
    Moving,
}

#[derive(Clone, Copy)]
struct Summing {
    phase: Phase,
    sum: u32,
    step: usize,
    attempt: u32,
    /// The question, by the digest of its discrete part.
    question: crate::Digest,
}

impl StudyCoordinator {
    /// Opens the study.
    ///
    /// # Errors
    /// When the key is not the coordinator's or the procedure cannot begin.
    pub fn open(
        agreed: Arc<Agreed>,
        identity: IdentityKey,
        software: &str,
    ) -> Result<Self, CoordinatorError> {
        let agreement = agreed.agreement();
        let (found, required) = (crate::Digest(identity.public()), agreement.coordinator);
        if found != required {
            return Err(CoordinatorError::OtherIdentity { found, required });
        }
        let engine = Engine::open(&agreed);
        let derivation = Derivation::begin(Arc::clone(&agreed))?;
        Ok(Self {
            ledger: agreed.new_ledger(),
            engine,
            derivation,
            stage: Stage::Setup(Phase::Keys),
            software: software.to_owned(),
            agreed,
            identity,
            history: Vec::new(),
            declined: Vec::new(),
            effects: VecDeque::new(),
            phases: 0,
            was_known: false,
        })
    }

    /// Takes the bytes of a party whose identity the transport has checked.
    ///
    /// # Errors
    /// When they are refused; nothing has changed then.
    pub fn receive(&mut self, from: ClientId, bytes: &[u8]) -> Result<(), MessageRefused> {
        let refuse = |reason: String| MessageRefused {
            party: from,
            reason,
            is_final: false,
        };
        let unreadable = |error: Unreadable| refuse(error.to_string());
        self.was_known = false;
        match Report::decode(bytes).map_err(unreadable)? {
            Report::Message(_) if self.receipt().is_some() => {
                Err(refuse("the study is over".to_owned()))
            }
            Report::Message(message) => {
                let Engine::Masks(sums) = &mut self.engine else {
                    return Err(refuse("a masked sum in a study with trustees".to_owned()));
                };
                let taken = sums.handle_message(from, &message);
                taken.map_err(|rejected| MessageRefused {
                    is_final: is_of_another(&rejected.reason),
                    ..refuse(rejected.reason.to_string())
                })
            }
            Report::Trustees(report) => {
                let taken = self.receive_trustees(from, report);
                taken.map_err(|reason| refuse(reason.to_owned()))
            }
            Report::Declined { reason, signature } => {
                if !is_declined_by(&self.agreed, from, &reason, &signature) {
                    return Err(refuse("a reason that its party has not signed".to_owned()));
                }
                if self.has_declined(from) || !self.is_invited(from) {
                    return Err(refuse(
                        "it has declined before, or is not invited".to_owned(),
                    ));
                }
                self.declined.push((from, reason));
                Ok(())
            }
            Report::Countersigned { signature } => {
                let taken = match &mut self.stage {
                    Stage::Receipts(receipt) => receipt.take(from, signature),
                    _ => false,
                };
                let refused = || refuse("a signature that was not asked for".to_owned());
                taken.then_some(()).ok_or_else(refused)
            }
        }
    }

    /// Handles a party that restarted with only its persisted state: sends again what the party
    /// needs.
    pub fn returned(&mut self, party: ClientId) {
        if let Engine::Masks(sums) = &mut self.engine {
            sums.handle_return(party);
        }
        self.carry_over();
        self.send_directory(party);
        let released = self.transcript().released().iter();
        let orders: Vec<Order> = released.cloned().map(Order::Released).collect();
        for order in orders {
            self.send([party], order.encode());
        }
        match &self.stage {
            Stage::Summing(summing)
                if summing.phase == Phase::Upload && self.waits_for().contains(&party) =>
            {
                let order = self.to_order(summing);
                self.send([party], order);
            }
            Stage::Attempting(attempting) => {
                let attempting = *attempting;
                self.send_attempt_again(party, &attempting);
            }
            Stage::Receipts(receipt) | Stage::Ended(receipt) => {
                let order = ended_order(receipt);
                self.send([party], order);
            }
            _ => {}
        }
    }

    /// The parties whose answers the phase lacks, without those that declined.
    #[must_use]
    pub fn waits_for(&self) -> Vec<ClientId> {
        let missing: Vec<ClientId> = match &self.stage {
            Stage::Receipts(receipt) => {
                let n_parties = self.agreed.roster().n_clients();
                let parties = receipt.parties.iter().map(|(id, _)| *id);
                let trustees = receipt.trustees.iter().map(|(id, _)| n_parties + id);
                let signed: BTreeSet<u32> = parties.chain(trustees).collect();
                let seats = self.seats().into_iter();
                seats.filter(|id| !signed.contains(&id.0)).collect()
            }
            Stage::Ended(_) | Stage::Moving => Vec::new(),
            Stage::Setup(_) | Stage::Summing(_) => match &self.engine {
                Engine::Masks(sums) => sums.waits_for().iter().collect(),
                Engine::Trustees(rounds) => rounds.not_enrolled(&self.agreed),
            },
            Stage::Attempting(attempting) => self.awaited_in(attempting),
        };
        let present = missing.into_iter().filter(|id| !self.has_declined(*id));
        present.collect()
    }

    /// Ends the phase with the answers so far: all parties answered, or the time is over.
    pub fn close_phase(&mut self) {
        self.phases += 1;
        match core::mem::replace(&mut self.stage, Stage::Moving) {
            Stage::Receipts(receipt) => {
                let effect = CoordinatorEffect::Ended(receipt.clone());
                self.effects.push_back(effect);
                self.stage = Stage::Ended(receipt);
            }
            Stage::Setup(_) if matches!(self.engine, Engine::Trustees(_)) => self.close_enrolment(),
            Stage::Attempting(attempting) => self.close_attempt(attempting),
            Stage::Setup(phase @ (Phase::Keys | Phase::Agree)) => {
                self.stage = Stage::Setup(match phase {
                    Phase::Keys => Phase::Agree,
                    _ => Phase::Shares,
                });
                self.close_masks();
                self.carry_over();
            }
            Stage::Setup(_) => {
                self.close_masks();
                if !self.carry_over() {
                    self.next();
                }
            }
            Stage::Summing(mut summing) => {
                summing.phase = match summing.phase {
                    Phase::Upload => Phase::Confirm,
                    _ => Phase::Unmask,
                };
                self.stage = Stage::Summing(summing);
                self.close_masks();
                self.carry_over();
            }
            unchanged @ (Stage::Ended(_) | Stage::Moving) => self.stage = unchanged,
        }
    }

    fn close_masks(&mut self) {
        if let Engine::Masks(sums) = &mut self.engine {
            sums.close_phase();
        }
    }

    /// Restores the state after this sum had ended.
    ///
    /// # Errors
    /// When the bytes are no checkpoint of the sum that is open now.
    pub fn restore(&mut self, epoch: u32, bytes: &[u8]) -> Result<(), CoordinatorError> {
        let refuse = |reason: String| CoordinatorError::Checkpoint { epoch, reason };
        let checkpoint = Checkpoint::decode(bytes).map_err(refuse)?;
        if checkpoint.ending == SumEnding::Cancelled {
            return self.restore_cancelled(epoch, checkpoint.sum);
        }
        let open = self.open_sum();
        if open != Some(checkpoint.sum) || epoch != self.epoch() {
            let found = checkpoint.sum;
            return Err(refuse(format!(
                "it is of sum {found}, but {open:?} is open"
            )));
        }
        self.phases += PHASES;
        let new = Engine::open(&self.agreed);
        self.engine = match core::mem::replace(&mut self.engine, new) {
            Engine::Masks(sums) => Engine::Masks(Box::new(sums.without_open_sum())),
            rounds @ Engine::Trustees(_) => rounds,
        };
        self.end_sum(checkpoint.ending);
        Ok(())
    }

    /// The next thing to do; drain it after every call.
    pub fn poll(&mut self) -> Option<CoordinatorEffect> {
        self.effects.pop_front()
    }

    /// How far the study is.
    #[must_use]
    pub fn phase(&self) -> StudyPhase {
        match &self.stage {
            Stage::Setup(Phase::Keys) => StudyPhase::Keys,
            Stage::Setup(_) => StudyPhase::Shares,
            Stage::Summing(summing) => StudyPhase::Sum {
                sum: summing.sum,
                step: summing.step,
                phase: summing.phase,
            },
            Stage::Attempting(attempting) => StudyPhase::Attempt {
                sum: attempting.sum,
                step: attempting.step,
                phase: attempting.phase,
            },
            Stage::Receipts(_) => StudyPhase::Receipts,
            Stage::Ended(_) | Stage::Moving => StudyPhase::Ended,
        }
    }

    /// Zero while keys are exchanged, then which of all sums that were opened, counted from one.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        let ended = u32::try_from(self.history.len()).unwrap_or(u32::MAX);
        match &self.stage {
            Stage::Setup(_) => 0,
            _ => ended.saturating_add(1),
        }
    }

    /// How many phases were closed.
    #[must_use]
    pub const fn phases_closed(&self) -> u64 {
        self.phases
    }

    /// What was agreed on.
    #[must_use]
    pub const fn agreed(&self) -> &Arc<Agreed> {
        &self.agreed
    }

    /// What was charged.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The sums that were released.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        self.derivation.transcript()
    }

    /// The sums that have ended.
    #[must_use]
    pub fn history(&self) -> &[SumRecord] {
        &self.history
    }

    /// Parties that declined, and why.
    #[must_use]
    pub fn declined(&self) -> &[(ClientId, String)] {
        &self.declined
    }

    /// The receipt, once the last sum has ended.
    #[must_use]
    pub fn receipt(&self) -> Option<&SignedReceipt> {
        match &self.stage {
            Stage::Receipts(receipt) | Stage::Ended(receipt) => Some(receipt),
            _ => None,
        }
    }

    fn has_declined(&self, party: ClientId) -> bool {
        self.declined.iter().any(|(id, _)| *id == party)
    }

    fn is_invited(&self, party: ClientId) -> bool {
        self.agreed.identity_at(party).is_some()
    }

    /// The numbers of all parties, and of the trustees after them.
    fn seats(&self) -> Vec<ClientId> {
        let trustees = self.agreed.trustees().into_iter();
        let trustees = trustees.flat_map(|all| TrusteeId::ALL.map(|trustee| all.seat(trustee)));
        self.agreed.roster().clients().chain(trustees).collect()
    }

    /// Passes on the output of the sums; true if a sum or the study ended.
    fn carry_over(&mut self) -> bool {
        let mut ended = false;
        while let Some(output) = self.engine.poll() {
            match output {
                CoordinatorOutput::Send(to, notice) => {
                    let bytes = Order::Notice(notice).encode();
                    self.send([to], bytes);
                }
                CoordinatorOutput::StudyAbandoned(reason) => {
                    ended = true;
                    self.finish(format!("the exchange of keys failed: {reason}"));
                }
                CoordinatorOutput::SumEnded(outcome) => {
                    ended = true;
                    let sum = match &outcome {
                        SumOutcome::Unmasked(sum) => sum.sum(),
                        SumOutcome::Abandoned { sum, .. } => *sum,
                    };
                    let ending = SumEnding::of(outcome);
                    let checkpoint = Checkpoint { sum, ending };
                    let (epoch, bytes) = (self.epoch(), checkpoint.encode());
                    self.effects
                        .push_back(CoordinatorEffect::Checkpoint { epoch, bytes });
                    self.end_sum(checkpoint.ending);
                }
            }
        }
        ended
    }

    fn end_sum(&mut self, ending: SumEnding) {
        let (sum, attempt) = match core::mem::replace(&mut self.stage, Stage::Moving) {
            Stage::Summing(summing) => (summing.sum, summing.attempt),
            Stage::Attempting(attempting) => (attempting.sum, attempting.attempt),
            unchanged => {
                self.stage = unchanged;
                return;
            }
        };
        match ending {
            SumEnding::Unmasked { survivors, values } => self.release(Released {
                sum,
                survivors,
                values,
                trustees: None,
                outside: Vec::new(),
            }),
            SumEnding::Opened(released) => self.release(released),
            SumEnding::Unopened(signatures) => self.end_unopened(sum, attempt, signatures),
            SumEnding::Refused(refused) => self.end_refused(sum, refused),
            SumEnding::Abandoned { reason } => {
                let failure = format!("sum {sum}: {reason}");
                self.record(sum, Outcome::Abandoned { reason });
                self.ask(attempt + 1, false, &failure);
            }
            SumEnding::Cancelled => self.end_cancelled(Some(sum)),
        }
    }

    /// Sends the released sum to every invited party, and continues with the next question.
    fn release(&mut self, released: Released) {
        let (sum, survivors) = (released.sum, released.survivors.clone());
        let shares = match &self.engine {
            Engine::Masks(_) => u32::try_from(survivors.len()).unwrap_or(u32::MAX),
            Engine::Trustees(_) => self.agreed.agreement().plan.origin.most_shares(),
        };
        let noise = realised_noise(&self.agreed, sum, shares).unwrap_or_default();
        let before = self.transcript().head();
        let outcome = match &mut self.engine {
            Engine::Masks(_) => Some(Outcome::Unmasked { survivors, noise }),
            Engine::Trustees(rounds) => {
                rounds.end_step();
                Outcome::opened(&self.agreed, &released, noise, before)
            }
        };
        if let Some(outcome) = outcome {
            self.record(sum, outcome);
        }
        let order = Order::Released(released.clone()).encode();
        if let Err(error) = self.derivation.take(released) {
            return self.finish(error.to_string());
        }
        self.send(self.seats(), order);
        self.next();
    }

    fn record(&mut self, sum: u32, outcome: Outcome) {
        let step = self.agreed.step_of(sum).map_or(0, |(step, _)| step);
        let purpose = self.agreed.purpose(step).map(ToOwned::to_owned);
        self.history.push(SumRecord {
            sum,
            step: u32::try_from(step).unwrap_or(u32::MAX),
            purpose: purpose.unwrap_or_default(),
            outcome,
        });
    }

    fn next(&mut self) {
        if let Some(problem) = self.derivation.problem() {
            return self.finish(problem.to_string());
        }
        if self.derivation.fit().is_some() {
            return self.finish("complete".to_owned());
        }
        self.ask(0, false, "not planned");
    }

    /// Opens a sum for the next question, or ends the study if there is none left for it. An attempt that
    /// goes on an earlier charge is not charged.
    fn ask(&mut self, attempt: u32, is_carried: bool, before: &str) {
        let agreed = Arc::clone(&self.agreed);
        let step = self.derivation.query().map(Asked::step);
        let (Some(step), Some(question)) = (step, self.derivation.question()) else {
            return self.finish("there is no question".to_owned());
        };
        let Some(sum) = agreed.sum_number(step, attempt) else {
            let ending = format!("step {step} failed and no repetition is left ({before})");
            return self.finish(ending);
        };
        if !is_carried && let Err(error) = agreed.charge(&mut self.ledger, step).map(drop) {
            return self.finish(error.to_string());
        }
        let transcript = self.transcript().head();
        let sums = match &mut self.engine {
            Engine::Masks(sums) => sums,
            Engine::Trustees(_) => {
                let phase = TrusteePhase::Noise;
                return self.open_attempt(Attempting {
                    phase,
                    sum,
                    step,
                    attempt,
                    question,
                });
            }
        };
        if let Err(error) = sums.open_sum(sum, transcript.0) {
            return self.finish(error.to_string());
        }
        let parties: Vec<ClientId> = sums.waits_for().iter().collect();
        let summing = Summing {
            phase: Phase::Upload,
            sum,
            step,
            attempt,
            question,
        };
        let order = self.to_order(&summing);
        // A party that declined would be charged for an answer that it cannot give.
        let parties = parties.into_iter().filter(|id| !self.has_declined(*id));
        let parties: Vec<ClientId> = parties.collect();
        self.send(parties, order);
        self.stage = Stage::Summing(summing);
    }

    fn finish(&mut self, ending: String) {
        let receipt = Receipt::new(
            &self.software,
            &self.agreed,
            self.history.clone(),
            &self.ledger,
            &self.derivation,
            ending,
        );
        let receipt = receipt.sign(&self.identity);
        let order = ended_order(&receipt);
        self.send(self.seats(), order);
        self.stage = Stage::Receipts(Box::new(receipt));
    }

    fn to_order(&self, summing: &Summing) -> Vec<u8> {
        let order = Order::Ask {
            sum: summing.sum,
            transcript: self.transcript().head(),
            question: summing.question,
        };
        order.encode()
    }

    /// Bytes that were queued last for another party are not held a second time.
    fn send(&mut self, parties: impl IntoIterator<Item = ClientId>, bytes: Vec<u8>) {
        let bytes: Arc<[u8]> = match self.effects.back() {
            Some(CoordinatorEffect::Send(_, last)) if **last == *bytes => Arc::clone(last),
            _ => Arc::from(bytes),
        };
        let sends = parties.into_iter();
        self.effects
            .extend(sends.map(|id| CoordinatorEffect::Send(id, Arc::clone(&bytes))));
    }
}

fn ended_order(receipt: &SignedReceipt) -> Vec<u8> {
    let receipt = receipt.to_json();
    Order::Ended { receipt }.encode()
}

impl core::fmt::Debug for StudyCoordinator {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "StudyCoordinator({:?})", self.phase())
    }
}

/// Whether a message was refused because of its sender: the next messages of that sender are
/// refused too.
const fn is_of_another(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Stranger | Reason::ForgedSender { .. } | Reason::BadSignature
    )
}
