//! A party as the network sees it: orders in, reports out, and its own ledger in between.

use std::collections::VecDeque;
use std::sync::Arc;

use sprifed_privacy::Ledger;
use sprifed_query::RecordSource;
use sprifed_secure_sum::{ClientId, IdentityKey, Rejected};

use crate::agreement::Agreed;
use crate::hexadecimal::Digest;
use crate::participant::{Declined, JournalLine, Participant, ParticipantOutput};
use crate::party_key::PartyKey;
use crate::receipt::{PartyReceipt, Problem, SignedReceipt, covers};
use crate::wire::{Order, Report, Unreadable};

/// What a party wants done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum PartyEffect {
    /// Store this before the effects that follow are carried out.
    Persist(JournalLine),
    /// Send these bytes to the coordinator.
    Send(Vec<u8>),
    /// The study is over for this party.
    Ended(Box<PartyReceipt>),
}

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
    /// A question that was not agreed on or can not be answered.
    #[error(transparent)]
    Declined(#[from] Declined),
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

impl OrderRefused {
    /// Whether a party that refuses so has nothing to wait for: no later order could be the end of the study.
    ///
    /// A notice after the end is not: a party that comes back is told the notices first and the receipt then.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Receipt(_) | Self::OtherReceipt { .. } | Self::AskedAfterEnd { .. }
        )
    }
}

/// One party of one study.
#[derive(Debug)]
pub struct StudyParty<R> {
    participant: Participant<R>,
    identity: IdentityKey,
    software: String,
    /// The receipt that it has signed.
    signed: Option<Digest>,
    effects: VecDeque<PartyEffect>,
}

impl<R: RecordSource> StudyParty<R> {
    /// Joins the study, or joins it again with everything that was persisted.
    ///
    /// # Caller must
    /// have checked the agreement against the party's policy.
    ///
    /// # Errors
    /// When the party is not invited or its records are not what was agreed on.
    pub fn join(
        agreed: Arc<Agreed>,
        me: ClientId,
        identity: IdentityKey,
        key: PartyKey,
        records: R,
        journal: &[JournalLine],
        software: &str,
    ) -> Result<Self, Declined> {
        let own = identity.clone();
        let signed = journal.iter().find_map(|line| match line {
            JournalLine::Ended { receipt } => Some(*receipt),
            _ => None,
        });
        let mut party = Self {
            signed,
            participant: Participant::join(agreed, me, own, key, records, journal)?,
            identity,
            software: software.to_owned(),
            effects: VecDeque::new(),
        };
        party.carry_over();
        Ok(party)
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
                let taken = self.participant.handle_notice(&notice);
                taken.map_err(OrderRefused::Protocol)?;
            }
            Order::Ask { sum, query } => {
                if let Err(declined) = self.participant.answer(sum, &query) {
                    self.carry_over();
                    if is_final(&declined) {
                        let reason = declined.to_string();
                        let report = Report::Declined { reason }.encode();
                        self.effects.push_back(PartyEffect::Send(report));
                    }
                    return Err(declined.into());
                }
            }
            Order::Ended { receipt } => self.end(&receipt)?,
        }
        self.carry_over();
        Ok(())
    }

    /// The next thing to do; drain it after every call.
    pub fn poll(&mut self) -> Option<PartyEffect> {
        self.effects.pop_front()
    }

    /// What this party was charged.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        self.participant.ledger()
    }

    /// Whether it has signed the receipt of the study.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.signed.is_some()
    }

    fn end(&mut self, receipt: &[u8]) -> Result<(), OrderRefused> {
        let unreadable = |error: serde_json::Error| Unreadable::Body(error.to_string());
        let receipt: SignedReceipt = serde_json::from_slice(receipt).map_err(unreadable)?;
        let verified = receipt.verify();
        verified.map_err(|problem| OrderRefused::Receipt(Box::new(problem)))?;
        let agreed = self.participant.agreed();
        let (found, required) = (receipt.receipt.agreement_digest, *agreed.digest());
        if found != required {
            return Err(OrderRefused::OtherReceipt {
                found: format!("agreement {found}"),
                required: required.to_string(),
            });
        }
        let (found, required) = (receipt.receipt.digest(), self.signed);
        if let Some(required) = required.filter(|signed| *signed != found) {
            return Err(OrderRefused::OtherReceipt {
                found: format!("digest {found}"),
                required: format!("{required}, which this party has signed,"),
            });
        }
        let charged = self.ledger().spent().map(|spent| spent.epsilon());
        let stated = receipt.receipt.ledger.spent;
        if charged > stated {
            let words = |epsilon: Option<_>| format!("epsilon = {epsilon:?}");
            return Err(OrderRefused::OtherReceipt {
                found: words(stated),
                required: format!("at least {}, as this party was charged,", words(charged)),
            });
        }
        // The totals may agree although a sum is kept silent: this party may have missed another one.
        let stated = receipt.receipt.sums.iter().map(|record| record.sum);
        if let Some(sum) = self.participant.unstated(&stated.collect()) {
            return Err(OrderRefused::OtherReceipt {
                found: format!("nothing of sum {sum}"),
                required: "every sum that this party was charged for".to_owned(),
            });
        }
        let (me, agreed) = (self.participant.id(), self.participant.agreed());
        if !covers(&receipt.receipt, agreed, me.0, self.ledger()) {
            return Err(OrderRefused::OtherReceipt {
                found: "that this party is in more sums than its journal knows".to_owned(),
                required: "a journal that was not lost or put back".to_owned(),
            });
        }
        if self.signed.is_none() {
            let signed = receipt.receipt.digest();
            self.signed = Some(signed);
            let line = JournalLine::Ended { receipt: signed };
            self.effects.push_back(PartyEffect::Persist(line));
        }
        let identity = &self.identity;
        let signature = receipt.countersign(identity);
        let ledger = self.participant.ledger();
        let kept = PartyReceipt::new(&self.software, receipt, me, ledger, identity);
        let report = Report::Countersigned { signature }.encode();
        self.effects.push_back(PartyEffect::Send(report));
        self.effects.push_back(PartyEffect::Ended(Box::new(kept)));
        Ok(())
    }

    fn carry_over(&mut self) {
        while let Some(output) = self.participant.poll_output() {
            self.effects.push_back(match output {
                ParticipantOutput::Persist(line) => PartyEffect::Persist(line),
                ParticipantOutput::Send(message) => {
                    PartyEffect::Send(Report::Message(message).encode())
                }
            });
        }
    }
}

/// Whether a party that declines so is out of the study, or only of this sum.
const fn is_final(declined: &Declined) -> bool {
    !matches!(declined, Declined::OutOfOrder { .. } | Declined::Upload(_))
}
