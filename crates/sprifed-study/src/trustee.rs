//! A trustee as the network sees it: orders in, reports out, and its own ledger in between.
//!
//! It derives every question itself from what three trustees signed, charges its own copy of the
//! study's ledger before it draws noise, and computes only on shares. Its effects come one by one: a
//! line is on the disk before what follows it leaves.
//!
//! After a restart nothing of an attempt is replayed. If its opening share did not leave, it says so
//! and signs it. If it had signed an outcome, it says that again; otherwise the charge is spent.

use std::collections::VecDeque;
use std::sync::Arc;

use sprifed_noise::{DrawnShare, NoiseParameterError, Provenance};
use sprifed_privacy::{Ledger, LedgerError, Trustee};
use sprifed_secure_sum::{IdentityKey, Roster};
use sprifed_trustees::{
    Attempt, AttemptId, Book, DealtNoise, Effect, Ending, JournalLine as AttemptLine, OutOfOrder,
    OutcomeReport, Refused, Restarted, Setting, SignedFinding, Stage, TrusteeId, UploadRefused,
    unopened_signature,
};
use zeroize::Zeroizing;

use crate::agreement::{Agreed, AgreedTrustees, Paid};
use crate::derivation::{CannotDerive, Derivation, NotNext};
use crate::enrolment::{ClientEnrolment, TrusteeEnrolment, link};
use crate::hexadecimal::{Digest, Signature};
use crate::receipt::{Known, SignedReceipt, Unfit};
use crate::transcript::{Released, SignedOutcome, Transcript};
use crate::trustee_attempt::UnopenedSum;
use crate::trustee_key::TrusteeKey;
use crate::wire::{Order, Report, TrusteesOrder, TrusteesReport, Unreadable};

mod begin;
mod line;
#[cfg(test)]
mod tests;

pub use line::TrusteeLine;

/// Why a trustee refused an order, or cannot take part. Nothing left it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrusteeRefused {
    /// Bytes that are no order.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// An order for a party.
    #[error("the order is for a party, and this is a trustee")]
    ForAParty,
    /// The agreement does not have this trustee.
    #[error("the agreement has no trustee with this identity key, or with other study keys")]
    NotNamed,
    /// Its noise is not of the kind that was agreed on.
    #[error("the noise here is of another kind than the agreement says")]
    OtherNoise,
    /// The questions cannot be derived.
    #[error(transparent)]
    CannotDerive(#[from] CannotDerive),
    /// Its journal contradicts itself, or its keys.
    #[error(
        "the journal of this study was lost, put back or written by two copies of this trustee"
    )]
    OtherJournal,
    /// Another trustee's message of the enrolment is missing, or is not its own.
    #[error("{trustee} did not enrol, or its message is not what it signed")]
    NotEnrolled {
        /// Which.
        trustee: TrusteeId,
    },
    /// An order before all have enrolled.
    #[error("the order came before all have enrolled")]
    TooEarly,
    /// A released outcome that cannot be the next one.
    #[error(transparent)]
    NotNext(#[from] NotNext),
    /// A step that was released before, with another outcome.
    #[error(
        "step {step} was released before with another outcome; the coordinator shows two transcripts"
    )]
    OtherOutcome {
        /// Which step.
        step: usize,
    },
    /// An attempt at another step than the next one, or after another transcript.
    #[error("attempt {sum} was ordered after other outcomes than those that this trustee knows")]
    OtherTranscript {
        /// Which attempt.
        sum: u32,
    },
    /// The coordinator and this trustee derive different questions from the same outcomes.
    #[error(
        "for attempt {sum} the coordinator derives another question from the same outcomes; all must run the same version of the program"
    )]
    OtherQuestion {
        /// Which attempt.
        sum: u32,
    },
    /// An attempt that is not under way.
    #[error("attempt {sum} is not under way")]
    NotUnderWay {
        /// Which attempt.
        sum: u32,
    },
    /// An attempt that does not follow.
    #[error(transparent)]
    OutOfOrder(#[from] OutOfOrder),
    /// The ledger refused.
    #[error(transparent)]
    Ledger(#[from] Box<LedgerError>),
    /// The noise cannot be drawn.
    #[error(transparent)]
    Noise(#[from] Box<NoiseParameterError>),
    /// A client's upload is left out.
    #[error(transparent)]
    Upload(#[from] UploadRefused),
    /// A message of a peer, or an order about an attempt.
    #[error(transparent)]
    Attempt(#[from] Refused),
    /// A receipt that this trustee does not sign.
    #[error(transparent)]
    Receipt(Box<Unfit>),
    /// This trustee has signed the receipt of the study.
    #[error("this trustee has signed the receipt of the study and answers nothing more")]
    Over,
}

impl TrusteeRefused {
    /// Whether a trustee that refuses so has nothing to wait for.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(
            self,
            Self::OtherOutcome { .. } | Self::OtherQuestion { .. } | Self::Receipt(_)
        )
    }
}

/// What a trustee wants done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum TrusteeEffect {
    /// Store this before the next effect is polled.
    Persist(TrusteeLine),
    /// Secrets are not needed any more: store the key as it is now.
    Forget,
    /// Send this to the coordinator, which passes on what is for another trustee.
    Send(Report),
    /// The study is over for this trustee: erase its key.
    Ended(Box<SignedReceipt>),
}

/// An attempt whose charge was handed out to be stored.
#[derive(Debug)]
struct Charged {
    sum: u32,
    attempt: AttemptId,
    paid: Paid,
}

/// One trustee of one study.
#[derive(Debug)]
pub struct StudyTrustee {
    agreed: Arc<Agreed>,
    me: TrusteeId,
    identity: IdentityKey,
    key: TrusteeKey,
    /// Random bytes of this process.
    fresh: Zeroizing<[u8; 32]>,
    derivation: Derivation,
    book: Book,
    /// The last outcome that it signed.
    said: Option<Box<OutcomeReport>>,
    /// Every attempt that it began, the transcript before it, and whether it was charged anew.
    begun: Vec<(u32, Digest, bool)>,
    ledger: Ledger,
    /// Until its noise is drawn.
    charged: Option<Charged>,
    attempt: Option<(u32, Attempt)>,
    signed: Option<Digest>,
    effects: VecDeque<TrusteeEffect>,
}

impl StudyTrustee {
    /// Takes part, or takes part again with everything that was persisted. `fresh` are 32 random bytes that
    /// no other process of this trustee had.
    ///
    /// # Caller must
    /// have checked the agreement against the trustee's policy.
    ///
    /// # Errors
    /// When the agreement does not name this trustee with these keys, or the journal is not its own.
    pub fn join(
        agreed: Arc<Agreed>,
        identity: IdentityKey,
        key: TrusteeKey,
        fresh: [u8; 32],
        journal: &[TrusteeLine],
    ) -> Result<Self, TrusteeRefused> {
        let trustees = agreed.trustees().ok_or(TrusteeRefused::NotNamed)?;
        let me = trustees.place_of(&Digest(identity.public()));
        let me = me.ok_or(TrusteeRefused::NotNamed)?;
        if key.provenance() != agreed.agreement().noise {
            return Err(TrusteeRefused::OtherNoise);
        }
        let keys = key.pairing(identity.public());
        if keys
            .as_ref()
            .is_some_and(|keys| keys.public() != trustees.key(me))
        {
            return Err(TrusteeRefused::NotNamed);
        }
        if keys.is_none() && !key.is_enrolled() {
            return Err(TrusteeRefused::OtherJournal);
        }
        let enrolment = keys.and_then(|keys| TrusteeEnrolment::new(&agreed, me, &identity, &keys));
        let mut trustee = Self {
            derivation: Derivation::begin(Arc::clone(&agreed))?,
            ledger: agreed.new_ledger(),
            agreed,
            me,
            identity,
            key,
            fresh: Zeroizing::new(fresh),
            book: Book::default(),
            said: None,
            begun: Vec::new(),
            charged: None,
            attempt: None,
            signed: None,
            effects: VecDeque::new(),
        };
        for line in journal {
            trustee.enter(line)?;
        }
        if trustee.signed.is_some() {
            return Ok(trustee);
        }
        // A key that can be repeated is not stored: it enrols again after each start.
        let is_stored = trustee.key.provenance() == Provenance::Cryptographic;
        if is_stored && !trustee.begun.is_empty() && !trustee.key.is_enrolled() {
            return Err(TrusteeRefused::OtherJournal);
        }
        // Keys that are further than the journal: it was lost, or is an older copy.
        let begun = trustee.begun.iter();
        let mut begun = begun.filter_map(|(sum, _, _)| trustee.agreed.step_of(*sum));
        let is_behind = |(step, _): (usize, u32)| step + 1 < trustee.key.step() as usize;
        if trustee.key.step() > 0 && begun.next_back().is_none_or(is_behind) {
            return Err(TrusteeRefused::OtherJournal);
        }
        if let Some(enrolment) = enrolment {
            trustee.send(TrusteesReport::Trustee(enrolment));
        }
        trustee.abandon()?;
        Ok(trustee)
    }

    /// Takes a line of the journal.
    fn enter(&mut self, line: &TrusteeLine) -> Result<(), TrusteeRefused> {
        match line {
            TrusteeLine::Begun { transcript, line } => {
                self.book.enter(line)?;
                let charges = self.book.charges();
                let AttemptLine::Charged { step, attempt, .. } = line else {
                    return Err(TrusteeRefused::OtherJournal);
                };
                let sum = self.agreed.sum_number(*step as usize, *attempt);
                let sum = sum.ok_or(TrusteeRefused::OtherJournal)?;
                let is_new = charges as usize != self.n_charges();
                self.begun.push((sum, *transcript, is_new));
                if is_new {
                    drop(self.pay(sum)?);
                }
            }
            TrusteeLine::Attempt(line) => {
                self.book.enter(line)?;
                self.keep_outcome(line);
            }
            TrusteeLine::Ended { receipt } => self.signed = Some(*receipt),
        }
        Ok(())
    }

    fn n_charges(&self) -> usize {
        self.begun.iter().filter(|(_, _, is_new)| *is_new).count()
    }

    /// Remembers an outcome that is signed: its signature and the keys of the step may be gone before the coordinator has it.
    fn keep_outcome(&mut self, line: &AttemptLine) {
        if let AttemptLine::Opened(report) = line {
            self.said = Some(report.clone());
        }
    }

    /// Ends the attempt that the journal was in, and says how.
    fn abandon(&mut self) -> Result<(), TrusteeRefused> {
        let Some((sum, transcript, _)) = self.begun.last().copied() else {
            return Ok(());
        };
        let attempt = self.agreed.attempt_id(sum, transcript);
        let attempt = attempt.ok_or(TrusteeRefused::OtherJournal)?;
        let is_opened = matches!(self.book.last(), Some((_, _, Stage::Opened)));
        // A step whose keys are erased is over. Of another attempt at it there is nothing to say.
        if attempt.step < self.key.step() && !is_opened {
            return Ok(());
        }
        let me = (self.me, &self.identity);
        let restarted = Restarted::new(&mut self.book, attempt, me, self.said.as_deref())?;
        for effect in restarted.effects {
            self.carry_out(sum, effect)?;
        }
        Ok(())
    }

    /// Takes the bytes of the coordinator.
    ///
    /// # Errors
    /// When they are refused.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), TrusteeRefused> {
        let order = Order::decode(bytes)?;
        if self.signed.is_some() && !matches!(order, Order::Ended { .. }) {
            return Err(TrusteeRefused::Over);
        }
        match order {
            Order::Trustees(order) => self.receive_order(order),
            Order::Released(released) => self.take_released(released),
            Order::Ended { receipt } => self.end(&receipt),
            Order::Notice(_) | Order::Ask { .. } => Err(TrusteeRefused::ForAParty),
        }
    }

    fn receive_order(&mut self, order: TrusteesOrder) -> Result<(), TrusteeRefused> {
        match order {
            TrusteesOrder::Directory { trustees, clients } => self.enrol(&trustees, &clients),
            TrusteesOrder::Attempt {
                sum,
                transcript,
                question,
                unopened,
            } => self.begin(sum, transcript, question, &unopened),
            TrusteesOrder::Upload(bytes) => {
                let (_, attempt) = self.attempt.as_mut().ok_or(UploadRefused::Closed)?;
                attempt.receive_upload(&bytes)?;
                Ok(())
            }
            TrusteesOrder::Close { sum } => self.in_attempt(sum, Attempt::close_uploads),
            TrusteesOrder::GiveUp { sum } => self.give_up(sum),
            TrusteesOrder::Peer { from, bytes } => {
                let sum = self.attempt.as_ref().map(|(sum, _)| *sum);
                let sum = sum.ok_or(TrusteeRefused::Attempt(Refused::Ended))?;
                self.in_attempt(sum, |attempt| attempt.receive(from, &bytes))
            }
        }
    }

    /// Does something in the attempt that is under way, and carries out what follows.
    fn in_attempt(
        &mut self,
        sum: u32,
        act: impl FnOnce(&mut Attempt) -> Result<(), Refused>,
    ) -> Result<(), TrusteeRefused> {
        let under_way = self.attempt.as_mut().filter(|(number, _)| *number == sum);
        let (_, attempt) = under_way.ok_or(TrusteeRefused::NotUnderWay { sum })?;
        let done = act(attempt);
        let mut effects = Vec::new();
        while let Some(effect) = attempt.poll() {
            effects.push(effect);
        }
        self.book = *attempt.book();
        for effect in effects {
            self.carry_out(sum, effect)?;
        }
        Ok(done?)
    }

    fn give_up(&mut self, sum: u32) -> Result<(), TrusteeRefused> {
        if self.charged.take_if(|charged| charged.sum == sum).is_some() {
            // Its noise was never drawn.
            return self.abandon();
        }
        match self.in_attempt(sum, Attempt::give_up) {
            Err(TrusteeRefused::Attempt(Refused::Spent)) => self.in_attempt(sum, |attempt| {
                attempt.leave();
                Ok(())
            }),
            Err(TrusteeRefused::NotUnderWay { .. }) => self.say_again(sum),
            done => done,
        }
    }

    /// Says again how an attempt ended that is not under way any more.
    fn say_again(&mut self, sum: u32) -> Result<(), TrusteeRefused> {
        match self.begun.last() {
            Some((last, _, _)) if *last == sum => self.abandon(),
            _ => Err(TrusteeRefused::NotUnderWay { sum }),
        }
    }

    fn carry_out(&mut self, sum: u32, effect: Effect) -> Result<(), TrusteeRefused> {
        match effect {
            Effect::Persist(line) => {
                self.keep_outcome(&line);
                let line = TrusteeLine::Attempt(line);
                self.effects.push_back(TrusteeEffect::Persist(line));
            }
            Effect::SendPeer(to, bytes) => self.send(TrusteesReport::Peer { to, bytes }),
            Effect::SendCoordinator(bytes) => {
                let is_refusal = SignedFinding::decode(&bytes).is_ok();
                self.send(match unopened_signature(&bytes) {
                    Ok(_) => TrusteesReport::Unopened(bytes),
                    Err(_) if is_refusal => TrusteesReport::Refused(bytes),
                    Err(_) => TrusteesReport::Outcome(bytes),
                });
            }
            Effect::Ended(ending) => {
                self.attempt = None;
                self.ended(sum, ending)?;
            }
        }
        Ok(())
    }

    fn ended(&mut self, sum: u32, ending: Ending) -> Result<(), TrusteeRefused> {
        match ending {
            Ending::Unopened => Ok(()),
            // After a refusal the journal takes no further line: the study ends with this charge.
            Ending::Spent | Ending::Refused(_) => {
                self.send(TrusteesReport::Spent { sum });
                Ok(())
            }
            Ending::Opened {
                output,
                set,
                clients,
                signatures,
            } => {
                let trustees = SignedOutcome {
                    set: Digest(set),
                    signatures: signatures.0.map(Signature),
                };
                let released = Released::opened(sum, &clients, &output, Some(trustees));
                // The coordinator may lack a signature that came here, and this trustee goes back to no
                // earlier step: it is told before the keys of this one are erased.
                self.send(TrusteesReport::Settled(Box::new(released.clone())));
                self.take_released(released)
            }
        }
    }

    /// Takes the next outcome that three trustees signed; one that is known already changes nothing.
    fn take_released(&mut self, released: Released) -> Result<(), TrusteeRefused> {
        let step = self.agreed.step_of(released.sum).map(|(step, _)| step);
        let known = self.transcript().released();
        if let Some((step, known)) = step.and_then(|step| Some((step, known.get(step)?))) {
            return match *known == released {
                true => Ok(()),
                false => Err(TrusteeRefused::OtherOutcome { step }),
            };
        }
        self.derivation.check(&released)?;
        let after = self.transcript().head_after(&released);
        let step = self.transcript().released().len();
        // What it began in the next step, it began after this very transcript.
        let of_next = |sum: u32| {
            self.agreed
                .step_of(sum)
                .is_some_and(|(of, _)| of == step + 1)
        };
        let mut begun = self.begun.iter();
        if begun.any(|(sum, transcript, _)| of_next(*sum) && *transcript != after) {
            return Err(TrusteeRefused::OtherOutcome { step });
        }
        self.derivation.take(released)?;
        self.attempt = None;
        self.charged = None;
        let next = u32::try_from(step).unwrap_or(u32::MAX).saturating_add(1);
        if self.key.step() < next {
            self.key.erase_before(next);
            self.effects.push_back(TrusteeEffect::Forget);
        }
        Ok(())
    }

    fn end(&mut self, receipt: &[u8]) -> Result<(), TrusteeRefused> {
        let unreadable = |error: serde_json::Error| Unreadable::Body(error.to_string());
        let receipt: SignedReceipt = serde_json::from_slice(receipt).map_err(unreadable)?;
        let refuse = |unfit: Unfit| TrusteeRefused::Receipt(Box::new(unfit));
        let begun: Vec<u32> = self.begun.iter().map(|(sum, _, _)| *sum).collect();
        let known = Known {
            who: "this trustee",
            derivation: &self.derivation,
            signed: self.signed,
            charged: &begun,
            ledger: &self.ledger,
        };
        known.check(&receipt, &self.agreed).map_err(refuse)?;
        if self.signed.is_none() {
            let receipt = receipt.receipt.digest();
            self.signed = Some(receipt);
            let line = TrusteeLine::Ended { receipt };
            self.effects.push_back(TrusteeEffect::Persist(line));
        }
        self.attempt = None;
        self.charged = None;
        let signature = receipt.countersign(&self.identity);
        let report = Report::Countersigned { signature };
        self.effects.push_back(TrusteeEffect::Send(report));
        self.effects
            .push_back(TrusteeEffect::Ended(Box::new(receipt)));
        Ok(())
    }

    /// The next thing to do; poll until there is nothing.
    ///
    /// # Caller must
    /// carry out each effect before it polls the next: noise is drawn in here, and only after the charge
    /// for it was handed out.
    ///
    /// # Errors
    /// When an attempt that was charged cannot begin.
    pub fn poll(&mut self) -> Result<Option<TrusteeEffect>, TrusteeRefused> {
        if self.effects.is_empty() {
            self.draw_noise()?;
        }
        Ok(self.effects.pop_front())
    }

    /// The key of this trustee as it is to be stored from now on; `None` for a key that is not stored.
    #[must_use]
    pub fn stored_key(&self) -> Option<Zeroizing<String>> {
        self.key.to_stored()
    }

    /// What is left of its key.
    #[cfg(test)]
    pub(crate) const fn key(&self) -> &TrusteeKey {
        &self.key
    }

    /// Which of the three it is.
    #[must_use]
    pub const fn id(&self) -> TrusteeId {
        self.me
    }

    /// What its copy of the ledger was charged.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What was opened so far.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        self.derivation.transcript()
    }

    /// Whether it has signed the receipt of the study.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.signed.is_some()
    }

    fn send(&mut self, report: TrusteesReport) {
        let effect = TrusteeEffect::Send(Report::Trustees(report));
        self.effects.push_back(effect);
    }
}
