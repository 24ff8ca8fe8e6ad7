//! A party as the network sees it: orders in, reports out, and its own ledger in between.
//!
//! It derives every question itself from the sums that were released, so an order can only say which
//! sum comes next. It computes the model itself, too, and signs no receipt with another one.

use std::collections::VecDeque;
use std::sync::Arc;

use sprifed_privacy::Ledger;
use sprifed_secure_sum::{ClientId, IdentityKey, Rejected};
use zeroize::Zeroizing;

use crate::agreement::Agreed;
use crate::answering_party::{AnsweringParty, Declined, JournalLine};
use crate::derivation::{CannotDerive, Derivation, NotNext};
use crate::hexadecimal::Digest;
use crate::party_effect::PartyEffect;
use crate::party_key::PartyKey;
use crate::receipt::{Known, PartyReceipt, Problem, SignedReceipt, Unfit, covers};
use crate::record_store::RecordStore;
use crate::transcript::{Released, Transcript};
use crate::trustee_attempt::UnopenedSum;
use crate::wire::{Order, Report, TrusteesOrder, Unreadable};

#[cfg(test)]
mod tests;

/// Why a party refused an order; nothing left it, except to say so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderRefused {
    /// Bytes that are no order.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A notice that the protocol refuses.
    #[error("{0}")]
    Protocol(Rejected),
    /// A sum that was not agreed on or cannot be answered.
    #[error(transparent)]
    Declined(#[from] Declined),
    /// A released sum that cannot be the next one.
    #[error(transparent)]
    NotNext(#[from] NotNext),
    /// A sum that was released before, with other numbers.
    #[error(
        "sum {sum} was released before with other numbers; the coordinator shows two transcripts"
    )]
    OtherNumbers {
        /// Which sum.
        sum: u32,
    },
    /// The coordinator asks after other sums than those it has shown to this party.
    #[error(
        "sum {sum} was asked after the transcript {found}, but the sums shown to this party have the digest {required}"
    )]
    OtherTranscript {
        /// Which sum.
        sum: u32,
        /// What the coordinator says.
        found: Digest,
        /// What this party computed.
        required: Digest,
    },
    /// The coordinator and this party derive different questions from the same sums.
    #[error(
        "for sum {sum} the coordinator derives the question {found} and this party {required} from the same sums; \
         nothing was charged. All parties must run the same version of the program"
    )]
    OtherQuestion {
        /// Which sum.
        sum: u32,
        /// The coordinator's.
        found: Digest,
        /// This party's, or that there is none.
        required: String,
    },
    /// The receipt has another model than the released sums give.
    #[error(
        "the receipt has another model than the released sums give; this party does not sign it"
    )]
    OtherModel,
    /// An order for a trustee.
    #[error("the order is for a trustee, and this is a party")]
    ForATrustee,
    /// A receipt that is not to be believed.
    #[error("the receipt is wrong: {0}")]
    Receipt(Box<Problem>),
    /// This party has signed the receipt of the study.
    #[error("this party has signed the receipt of the study and answers nothing more")]
    Over,
    /// A question after this party has signed the receipt of the study: the coordinator's state was put back.
    #[error(
        "sum {sum} was asked, but this party has signed the receipt of the study and answers nothing more"
    )]
    AskedAfterEnd {
        /// Which sum.
        sum: u32,
    },
    /// A receipt of another study, or one that charges less than this party was charged.
    #[error("the receipt says {found}, but {required} is required")]
    OtherReceipt {
        /// What it says.
        found: String,
        /// What it should say.
        required: String,
    },
}

impl From<Unfit> for OrderRefused {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Wrong(problem) => Self::Receipt(Box::new(problem)),
            Unfit::OtherModel => Self::OtherModel,
            Unfit::Other { found, required } => Self::OtherReceipt { found, required },
        }
    }
}

impl OrderRefused {
    /// Whether a party that refuses so has nothing to wait for: no later order could be the end of the study.
    ///
    /// A notice after the end is not: a party that comes back is told the notices first and the receipt then.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Receipt(_)
                | Self::OtherReceipt { .. }
                | Self::OtherModel
                | Self::AskedAfterEnd { .. }
                | Self::OtherQuestion { .. }
                | Self::OtherNumbers { .. }
                | Self::OtherTranscript { .. }
                | Self::Declined(Declined::OtherTranscript { .. })
        )
    }
}

/// One party of one study.
#[derive(Debug)]
pub struct StudyParty<R> {
    answering: AnsweringParty<R>,
    derivation: Derivation,
    /// Which places of its journal hold the upload to which sum.
    uploads: Vec<(u64, u32)>,
    /// How many lines its journal has.
    n_lines: u64,
    identity: IdentityKey,
    software: String,
    /// The receipt that it has signed.
    signed: Option<Digest>,
    effects: VecDeque<PartyEffect>,
}

impl<R: RecordStore> StudyParty<R> {
    /// Joins the study, or joins it again with everything that was persisted.
    ///
    /// # Caller must
    /// have checked the agreement against the party's policy.
    ///
    /// # Errors
    /// When the party is not invited, or its records are open and not what was agreed on.
    pub fn join(
        agreed: Arc<Agreed>,
        me: ClientId,
        identity: IdentityKey,
        key: PartyKey,
        records: R,
        journal: &[JournalLine],
        software: &str,
    ) -> Result<Self, CannotJoin> {
        let own = identity.clone();
        let derivation = Derivation::begin(Arc::clone(&agreed))?;
        let signed = journal.iter().find_map(|line| match line {
            JournalLine::Ended { receipt } => Some(*receipt),
            _ => None,
        });
        let mut party = Self {
            signed,
            answering: AnsweringParty::join(agreed, me, own, key, records, journal)?,
            derivation,
            uploads: Vec::new(),
            n_lines: 0,
            identity,
            software: software.to_owned(),
            effects: VecDeque::new(),
        };
        journal.iter().for_each(|line| party.count(line));
        party.check_charges(0, party.derivation.transcript().head())?;
        Ok(party)
    }

    /// The sum that was charged before a restart and not answered: the process ended in between. It counts as spent.
    #[must_use]
    pub fn unanswered(&self) -> Option<u32> {
        self.answering.unanswered()
    }

    /// The sums that were released so far.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        self.derivation.transcript()
    }

    /// Takes the bytes of the coordinator.
    ///
    /// # Errors
    /// When they are refused. A refused question also tells the coordinator that this party is out.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), OrderRefused> {
        match Order::decode(bytes)? {
            // A coordinator that put its state back must not go on with a party that has settled.
            Order::Notice(_) if self.is_over() => return Err(OrderRefused::Over),
            Order::Ask { sum, .. } if self.is_over() => {
                return Err(OrderRefused::AskedAfterEnd { sum });
            }
            Order::Notice(notice) => {
                let taken = self.answering.handle_notice(&notice);
                taken.map_err(OrderRefused::Protocol)?;
            }
            Order::Released(released) => self.take_released(released)?,
            Order::Ask {
                sum,
                transcript,
                question,
            } => {
                let asked = self.ask(sum, transcript, question, &[]);
                self.say_if_declined(asked)?;
            }
            Order::Trustees(TrusteesOrder::Attempt { sum, .. }) if self.is_over() => {
                return Err(OrderRefused::AskedAfterEnd { sum });
            }
            Order::Trustees(TrusteesOrder::Attempt {
                sum,
                transcript,
                question,
                unopened,
            }) => {
                let asked = self.ask(sum, transcript, question, &unopened);
                self.say_if_declined(asked)?;
            }
            Order::Trustees(_) => return Err(OrderRefused::ForATrustee),
            Order::Ended { receipt } => self.end(&receipt)?,
        }
        Ok(())
    }

    /// The next thing to do; poll until there is nothing.
    ///
    /// # Caller must
    /// carry out each effect before it polls the next: records are read in here, and only after the
    /// charge for them was handed out.
    pub fn poll(&mut self) -> Option<PartyEffect> {
        if self.effects.is_empty() {
            self.carry_over();
        }
        self.effects.pop_front()
    }

    /// Takes the next sum of the transcript; one that is known already changes nothing.
    fn take_released(&mut self, released: Released) -> Result<(), OrderRefused> {
        let known = self.transcript().released().iter();
        if let Some(known) = known.into_iter().find(|known| known.sum == released.sum) {
            let sum = released.sum;
            return if *known == released {
                Ok(())
            } else {
                Err(OrderRefused::OtherNumbers { sum })
            };
        }
        self.derivation.check(&released)?;
        let step = self.transcript().released().len();
        self.check_charges(step + 1, self.transcript().head_after(&released))?;
        self.derivation.take(released)?;
        self.answering.forget(step);
        let agreed = self.answering.agreed();
        let is_of_step = |sum: u32| agreed.step_of(sum).is_some_and(|(of, _)| of == step);
        let uploads = self.uploads.iter().filter(|(_, sum)| is_of_step(*sum));
        let erased = uploads.map(|(place, sum)| {
            let (sum, message) = (*sum, Vec::new());
            (*place, JournalLine::Uploaded { sum, message })
        });
        let lines = erased.collect();
        self.effects.push_back(PartyEffect::Forget { step, lines });
        Ok(())
    }

    /// What was charged for sums of `step` must have been charged after this very transcript.
    fn check_charges(&self, step: usize, found: Digest) -> Result<(), Declined> {
        let mut charged = self.answering.charged_in(step);
        match charged.find(|(_, required)| *required != found) {
            None => Ok(()),
            Some((sum, required)) => Err(Declined::OtherTranscript {
                sum,
                found,
                required,
            }),
        }
    }

    /// Tells the coordinator why a sum that was asked is declined, where that is to be told.
    fn say_if_declined(&mut self, asked: Result<(), OrderRefused>) -> Result<(), OrderRefused> {
        if let Err(refused) = &asked
            && is_reported(refused)
        {
            self.decline(&refused.to_string());
        }
        asked
    }

    fn ask(
        &mut self,
        sum: u32,
        transcript: Digest,
        question: Digest,
        unopened: &[UnopenedSum],
    ) -> Result<(), OrderRefused> {
        let step = self.answering.agreed().step_of(sum).map(|(step, _)| step);
        let next = self.transcript().released().len();
        if let Some(last) = step.filter(|step| *step < next).and(next.checked_sub(1)) {
            // An old order, repeated: what was released is not asked again.
            let last = u32::try_from(last).unwrap_or(u32::MAX);
            return Err(Declined::OutOfOrder { sum, last }.into());
        }
        let required = self.transcript().head();
        if transcript != required {
            return Err(OrderRefused::OtherTranscript {
                sum,
                found: transcript,
                required,
            });
        }
        let (own, query) = (self.derivation.question(), self.derivation.query());
        let (Some(query), true) = (query, own == Some(question)) else {
            let problem = self.derivation.problem().map(ToString::to_string);
            let none = problem.unwrap_or_else(|| "none".to_owned());
            return Err(OrderRefused::OtherQuestion {
                sum,
                found: question,
                required: own.map_or(none, |own| own.to_string()),
            });
        };
        let query = Arc::new(query.clone());
        Ok(self.answering.ask(sum, transcript, &query, unopened)?)
    }

    fn decline(&mut self, reason: &str) {
        let (agreed, me) = (self.answering.agreed(), self.answering.id());
        let report = Report::declined(&self.identity, agreed, me, reason);
        self.effects.push_back(PartyEffect::Send(report));
    }

    /// Remembers where the uploads are in the journal.
    fn count(&mut self, line: &JournalLine) {
        if let JournalLine::Uploaded { sum, .. } = line {
            self.uploads.push((self.n_lines, *sum));
        }
        self.n_lines += 1;
    }

    /// The key of this party as it is to be stored from now on, without what was erased; `None` for
    /// a key that is not stored.
    ///
    /// # Caller must
    /// have carried out every effect before: what is erased here may be needed until then.
    #[must_use]
    pub fn stored_key(&self) -> Option<Zeroizing<String>> {
        self.answering.key().to_stored()
    }

    /// What is left of its key.
    #[cfg(test)]
    pub(crate) const fn key(&self) -> &PartyKey {
        self.answering.key()
    }

    /// What this party was charged.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        self.answering.ledger()
    }

    /// Whether it has signed the receipt of the study.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.signed.is_some()
    }

    fn end(&mut self, receipt: &[u8]) -> Result<(), OrderRefused> {
        let unreadable = |error: serde_json::Error| Unreadable::Body(error.to_string());
        let receipt: SignedReceipt = serde_json::from_slice(receipt).map_err(unreadable)?;
        let charged = self.answering.charged_sums();
        let known = Known {
            who: "this party",
            derivation: &self.derivation,
            signed: self.signed,
            charged: &charged,
            ledger: self.ledger(),
        };
        known.check(&receipt, self.answering.agreed())?;
        let (me, agreed) = (self.answering.id(), self.answering.agreed());
        if !covers(&receipt.receipt, agreed, me.0, self.ledger()) {
            return Err(OrderRefused::OtherReceipt {
                found: "that this party is in more sums than its journal knows".to_owned(),
                required: "a journal that was not lost or put back".to_owned(),
            });
        }
        if self.signed.is_none() {
            let signed = receipt.receipt.digest();
            self.signed = Some(signed);
            self.persist(JournalLine::Ended { receipt: signed });
        }
        let identity = &self.identity;
        let signature = receipt.countersign(identity);
        let ledger = self.answering.ledger();
        let kept = PartyReceipt::new(&self.software, receipt, me, ledger, identity);
        let report = Report::Countersigned { signature };
        self.effects.push_back(PartyEffect::Send(report));
        self.effects.push_back(PartyEffect::Ended(Box::new(kept)));
        Ok(())
    }

    fn persist(&mut self, line: JournalLine) {
        self.count(&line);
        self.effects.push_back(PartyEffect::Persist(line));
    }

    /// Passes on the next effect, one at a time: the one after it may read records.
    fn carry_over(&mut self) {
        match self.answering.poll() {
            Ok(None) => {}
            Ok(Some(PartyEffect::Persist(line))) => self.persist(line),
            Ok(Some(other)) => self.effects.push_back(other),
            Err(declined) => self.decline(&declined.to_coordinator()),
        }
    }
}

/// Why a party cannot join, or not join again.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotJoin {
    /// It is not invited, its records are not what was agreed on, or its journal is of another study.
    #[error(transparent)]
    Declined(#[from] Declined),
    /// It cannot derive the questions of the study.
    #[error(transparent)]
    CannotDerive(#[from] CannotDerive),
}

/// Whether the coordinator is told that this party is out of the study.
const fn is_reported(refused: &OrderRefused) -> bool {
    match refused {
        OrderRefused::Declined(declined) => {
            !matches!(declined, Declined::OutOfOrder { .. } | Declined::Upload(_))
        }
        OrderRefused::OtherQuestion { .. } | OrderRefused::OtherTranscript { .. } => true,
        _ => false,
    }
}
