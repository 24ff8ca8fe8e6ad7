//! One party's side of a study: it charges its own ledger, answers what was agreed on, and nothing
//! else.
//!
//! Effects come one by one, and each must be carried out before the next is polled: a charge is on
//! the disk before the first record is read for it, an upload before it leaves. After a restart the
//! same journal makes the same party.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sprifed_noise::DrawnNoise;
use sprifed_privacy::Ledger;
use sprifed_query::Contributor;
use sprifed_secure_sum::{
    CheckedCertificate, ClientId, ClientOutput, IdentityKey, JournalEntry, Notice, Phase, Rejected,
    SignedMessage, UploadRefused,
};

use crate::agreement::{Agreed, Paid};
use crate::asked::{Asked, blocks_of};
use crate::hexadecimal::Digest;
use crate::party_effect::PartyEffect;
use crate::party_key::PartyKey;
use crate::record_store::RecordStore;
use crate::trustee_attempt::UnopenedSum;
use crate::wire::Report;

mod channel;
mod declined;
mod protocol_entries;
#[cfg(test)]
mod tests;

use channel::Channel;
pub use declined::Declined;
use declined::check_records;

/// What a party must still know after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalLine {
    /// Its ledger was charged for this sum. No record was read for it before.
    Charged {
        /// Which sum.
        sum: u32,
        /// The transcript before it.
        transcript: Digest,
    },
    /// It masked a vector for this sum, which it was charged for.
    Uploaded {
        /// Which sum.
        sum: u32,
        /// The message, to be sent again as it is: the masks hide this vector only.
        message: Vec<u8>,
    },
    /// It sent this message of the exchange of keys, and will send no other.
    Published {
        /// What stands for the notice that it answers.
        told: Digest,
        /// The message, to be sent again as it is: what it comes from may be erased.
        message: Vec<u8>,
    },
    /// It confirmed this survivor set.
    Confirmed {
        /// Which sum.
        sum: u32,
        /// The digest it signed.
        digest: Digest,
    },
    /// It signed the receipt of the study: it answers nothing more, whatever a coordinator says.
    Ended {
        /// The digest it signed.
        receipt: Digest,
    },
    /// It left the study before its end: it answers nothing more, and what it was charged is final.
    Left,
    /// It takes part in this attempt of trustees on an earlier charge, of which nothing was opened.
    Carried {
        /// Which attempt, by its number.
        sum: u32,
        /// The transcript before it.
        transcript: Digest,
    },
}

/// One party in one study.
#[derive(Debug)]
pub struct AnsweringParty<R> {
    agreed: Arc<Agreed>,
    key: PartyKey,
    channel: Channel,
    ledger: Ledger,
    records: R,
    /// Steps and attempts that it was charged for, and the transcript before each.
    charged: BTreeMap<(usize, u32), Digest>,
    /// The last charge, until its records are read.
    unread: Option<Unread>,
    /// The last upload of before a restart, which may have been lost on its way.
    uploaded: Option<(u32, Report)>,
    /// What it wants done; an error stands for a sum that was charged and cannot be answered.
    effects: VecDeque<Result<PartyEffect, Declined>>,
}

/// A sum that is charged and not answered yet.
#[derive(Debug)]
struct Unread {
    sum: u32,
    transcript: Digest,
    /// The charge; none if it is an earlier one, of which nothing was opened.
    paid: Option<Paid>,
    /// What is asked; nothing after a restart, until it is asked again.
    query: Option<Arc<Asked>>,
}

impl<R: RecordStore> AnsweringParty<R> {
    /// Joins the study as `me`, or joins it again with everything that was persisted.
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
    ) -> Result<Self, Declined> {
        if journal.contains(&JournalLine::Left) {
            return Err(Declined::HasLeft);
        }
        let agreement = agreed.agreement();
        let not_invited = || Declined::NotInvited { party: me };
        let party = agreement.parties.get(me.0 as usize);
        party.ok_or_else(not_invited)?;
        if key.provenance() != agreement.noise {
            let (found, required) = (key.provenance(), agreement.noise);
            return Err(Declined::OtherNoise { found, required });
        }
        if let Some(records) = records.opened() {
            check_records(&agreed, me, records)?;
        }
        if agreed.place_of(&Digest(identity.public())) != Some(me) {
            return Err(not_invited());
        }
        let mut key = key;
        let mut effects = VecDeque::new();
        let channel = Channel::open(&agreed, me, identity, &mut key, journal, &mut effects)?;
        let ledger = agreed.new_ledger();
        let mut party = Self {
            agreed,
            key,
            channel,
            ledger,
            records,
            charged: BTreeMap::new(),
            unread: None,
            uploaded: None,
            effects,
        };
        for line in journal {
            match line {
                JournalLine::Charged { sum, transcript } => {
                    party.charge_again(*sum, *transcript, true)?;
                }
                JournalLine::Carried { sum, transcript } => {
                    party.charge_again(*sum, *transcript, false)?;
                }
                JournalLine::Uploaded { sum, message } => {
                    party.unread = None;
                    let report = party.channel.stored_upload(message);
                    party.uploaded = report.map(|report| (*sum, report));
                }
                JournalLine::Published { .. }
                | JournalLine::Confirmed { .. }
                | JournalLine::Ended { .. }
                | JournalLine::Left => {}
            }
        }
        party.carry_over();
        Ok(party)
    }

    /// A charge of before the restart: a second one is not needed to answer as it would have been then.
    fn charge_again(&mut self, sum: u32, transcript: Digest, is_new: bool) -> Result<(), Declined> {
        let agreed = Arc::clone(&self.agreed);
        let place = charged_sum(&agreed, sum)?;
        let paid = match is_new {
            true => Some(charge(&mut self.ledger, &agreed, sum)?),
            false => None,
        };
        self.charged.insert(place, transcript);
        self.unread = Some(Unread {
            sum,
            transcript,
            paid,
            query: None,
        });
        Ok(())
    }

    /// Asks for this party's part of `sum`, in which `query` follows the `transcript`; `unopened` are
    /// attempts of trustees at this step that opened nothing.
    ///
    /// # Guarantee
    /// The charge comes out to be persisted before a record is read; records are read when the next effect is
    /// polled. A sum is charged and answered once, whatever the coordinator says. Asked again after the
    /// same transcript, the party sends what it sent before. An attempt goes on an earlier charge only if
    /// three trustees signed that nothing was opened of the last attempt that this party was in.
    ///
    /// # Errors
    /// When it was not agreed on, comes out of order or after another transcript, or the ledger refuses.
    pub fn ask(
        &mut self,
        sum: u32,
        transcript: Digest,
        query: &Arc<Asked>,
        unopened: &[UnopenedSum],
    ) -> Result<(), Declined> {
        let agreed = Arc::clone(&self.agreed);
        if !self.channel.is_ready() {
            return Err(UploadRefused::NotReady.into());
        }
        let place = agreed.step_of(sum);
        if let Some(required) = place.and_then(|place| self.charged.get(&place)).copied() {
            return self.ask_again(sum, transcript, required, query);
        }
        let step = self.check_planned(&agreed, sum, query)?;
        let is_carried = self.is_carried(step, transcript, unopened);
        let paid = match is_carried {
            true => None,
            false => Some(charge(&mut self.ledger, &agreed, sum)?),
        };
        self.charged.extend(place.map(|place| (place, transcript)));
        self.persist(match is_carried {
            true => JournalLine::Carried { sum, transcript },
            false => JournalLine::Charged { sum, transcript },
        });
        self.unread = Some(Unread {
            sum,
            transcript,
            paid,
            query: Some(Arc::clone(query)),
        });
        Ok(())
    }

    /// Whether nothing was opened of the last attempt at this step that this party was in.
    fn is_carried(&self, step: usize, transcript: Digest, unopened: &[UnopenedSum]) -> bool {
        let last = self.charged_in(step).last();
        last.is_some_and(|(last, after)| {
            let mut proofs = unopened.iter().filter(|proof| proof.sum == last);
            after == transcript && proofs.any(|proof| proof.holds(&self.agreed, transcript))
        })
    }

    /// A sum that was charged before: it is answered once, with the bytes that it would have had then.
    fn ask_again(
        &mut self,
        sum: u32,
        found: Digest,
        required: Digest,
        query: &Arc<Asked>,
    ) -> Result<(), Declined> {
        if found != required {
            return Err(Declined::OtherTranscript {
                sum,
                found,
                required,
            });
        }
        let uploaded = self.uploaded.as_ref();
        if let Some((_, report)) = uploaded.filter(|(uploaded, _)| *uploaded == sum) {
            let report = report.clone();
            self.effects.push_back(Ok(PartyEffect::Send(report)));
            return Ok(());
        }
        match &mut self.unread {
            Some(unread) if unread.sum == sum => {
                unread.query = Some(Arc::clone(query));
                Ok(())
            }
            _ => Err(Declined::OutOfOrder { sum, last: sum }),
        }
    }

    /// Opens the records for a sum whose charge was persisted, and masks the answer.
    pub(crate) fn answer_charged(&mut self) {
        let asked = self.unread.take_if(|unread| unread.query.is_some());
        let Some(asked) = asked else {
            return;
        };
        if let Err(declined) = self.answer(asked) {
            self.effects.push_back(Err(declined));
        }
    }

    fn answer(&mut self, asked: Unread) -> Result<(), Declined> {
        let Unread {
            sum,
            transcript,
            paid,
            query,
        } = asked;
        let agreed = Arc::clone(&self.agreed);
        let (step, _) = charged_sum(&agreed, sum)?;
        let blocks = agreed.planned(step).map(blocks_of).unwrap_or_default();
        // Before records are read, as it was paid for.
        let noise = match (&self.channel, paid) {
            (Channel::Masks(_), Some(Paid::Sum(permit))) => {
                let generator = self.key.noise(&agreed, sum, &transcript);
                let mut generator = generator.ok_or(UploadRefused::Erased { sum })?;
                Some(DrawnNoise::draw(permit, &mut generator).map_err(Box::new)?)
            }
            _ => None,
        };
        let records = self.records.open()?;
        let me = self.channel.id();
        check_records(&agreed, me, records)?;
        let blocks = query.as_ref().map(|query| query.asked_blocks(&blocks));
        let contributor = Contributor::new(blocks.unwrap_or_default(), agreed.dither_seed(sum))
            .starting_at(agreed.first_unit(me));
        let total = contributor.sum_of_all(records)?;
        match (&mut self.channel, noise) {
            (Channel::Masks(client), Some(noise)) => {
                let noised = noise.release(total).map_err(Box::new)?;
                client.upload(sum, &transcript.0, &noised)?;
                self.carry_over();
            }
            (Channel::Trustees(client), _) => {
                let message = client.upload(&agreed, &self.key, sum, transcript, total)?;
                let line = JournalLine::Uploaded {
                    sum,
                    message: message.clone(),
                };
                let report = self.channel.stored_upload(&message);
                self.persist(line);
                let send = report.map(|report| Ok(PartyEffect::Send(report)));
                self.effects.extend(send);
            }
            (Channel::Masks(_), None) => return Err(UploadRefused::NotReady.into()),
        }
        Ok(())
    }

    /// A sum of this step was released: what hid this party's part of it is not needed any more.
    pub(crate) fn forget(&mut self, step: usize) {
        let of_step = |sum: u32| self.agreed.step_of(sum).is_some_and(|(of, _)| of == step);
        self.unread.take_if(|unread| of_step(unread.sum));
        self.uploaded.take_if(|(sum, _)| of_step(*sum));
        self.key.forget_step(step);
        if let (Some(sum), Channel::Masks(client)) =
            (self.agreed.sum_number(step, 0), &mut self.channel)
        {
            client.forget(sum);
        }
    }

    /// What is left of its key.
    pub(crate) const fn key(&self) -> &PartyKey {
        &self.key
    }

    /// Takes a notice about the sums.
    ///
    /// # Errors
    /// When it is refused; nothing has changed then.
    pub fn handle_notice(&mut self, notice: &Notice) -> Result<(), Rejected> {
        self.channel.masks()?.handle_message(notice)?;
        self.carry_over();
        Ok(())
    }

    /// Checks a certificate on behalf of all parties of this process.
    ///
    /// # Errors
    /// When the notice is no certificate of this party's survivor set.
    pub fn check_certificate(&self, notice: &Notice) -> Result<CheckedCertificate, Rejected> {
        self.channel.masks_ref()?.check_certificate(notice)
    }

    /// Takes a certificate whose signatures another party of this process has checked.
    ///
    /// # Errors
    /// When it is refused; nothing has changed then.
    pub fn handle_checked(
        &mut self,
        notice: &Notice,
        checked: &CheckedCertificate,
    ) -> Result<(), Rejected> {
        let client = self.channel.masks()?;
        client.handle_checked(notice, checked)?;
        self.carry_over();
        Ok(())
    }

    /// The next thing to do; poll until there is nothing.
    ///
    /// # Caller must
    /// carry out each effect before it polls the next: records are read in here, and only after the
    /// charge for them was handed out.
    ///
    /// # Errors
    /// When a sum that was charged cannot be answered.
    pub fn poll(&mut self) -> Result<Option<PartyEffect>, Declined> {
        if self.effects.is_empty() {
            self.answer_charged();
        }
        self.effects.pop_front().transpose()
    }

    /// Who this is.
    #[must_use]
    pub fn id(&self) -> ClientId {
        self.channel.id()
    }

    /// What it has been charged.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The numbers of the sums that it was charged for, and of those that went on such a charge.
    pub(crate) fn charged_sums(&self) -> Vec<u32> {
        let numbers = self.charged.keys();
        let number = |(step, attempt): &(usize, u32)| self.agreed.sum_number(*step, *attempt);
        numbers.filter_map(number).collect()
    }

    /// The transcripts in which sums of `step` were charged.
    pub(crate) fn charged_in(&self, step: usize) -> impl Iterator<Item = (u32, Digest)> {
        let of_step = self.charged.range((step, 0)..=(step, u32::MAX));
        of_step.filter_map(|((step, attempt), transcript)| {
            Some((self.agreed.sum_number(*step, *attempt)?, *transcript))
        })
    }

    /// The sum that was charged before a restart and not answered.
    #[must_use]
    pub fn unanswered(&self) -> Option<u32> {
        self.unread.as_ref().map(|unread| unread.sum)
    }

    /// What was agreed on.
    #[must_use]
    pub const fn agreed(&self) -> &Arc<Agreed> {
        &self.agreed
    }

    /// The step of a sum that may be asked now.
    fn check_planned(&self, agreed: &Agreed, sum: u32, query: &Asked) -> Result<usize, Declined> {
        let found = || {
            let blocks = query.questions().len();
            format!("{blocks} questions for step {}", query.step())
        };
        let Some((step, attempt)) = agreed.step_of(sum) else {
            return Err(self.not_planned(sum, &found()));
        };
        let n_features = agreed.agreement().setting.n_columns();
        let planned = agreed.planned(step);
        let fits = |planned| query.step() == step && query.is_planned(planned, n_features);
        if !planned.is_some_and(fits) {
            return Err(self.not_planned(sum, &found()));
        }
        let before = self.charged.keys().next_back().copied();
        if let Some(before) = before.filter(|before| *before >= (step, attempt)) {
            let last = agreed.sum_number(before.0, before.1).unwrap_or(sum);
            return Err(Declined::OutOfOrder { sum, last });
        }
        Ok(step)
    }

    fn not_planned(&self, sum: u32, found: &str) -> Declined {
        let step = self.agreed.step_of(sum).map(|(step, _)| step);
        let planned = step.and_then(|step| Some((step, self.agreed.purpose(step)?)));
        Declined::NotPlanned {
            sum,
            found: found.to_owned(),
            required: planned.map_or_else(
                || format!("{} sums", self.agreed.n_sums()),
                |(step, purpose)| format!("step {step}: {purpose}"),
            ),
        }
    }

    fn carry_over(&mut self) {
        while let Some(output) = self.channel.poll() {
            match output {
                // The message follows, and is what is stored.
                ClientOutput::Persist(JournalEntry::Uploaded { .. }) => {}
                ClientOutput::Persist(JournalEntry::Published { told, message }) => {
                    let told = Digest(told);
                    self.persist(JournalLine::Published { told, message });
                }
                ClientOutput::Persist(JournalEntry::Confirmed { sum, digest }) => {
                    let digest = Digest(digest);
                    self.persist(JournalLine::Confirmed { sum, digest });
                }
                ClientOutput::Send(message) => {
                    if message.phase == Phase::Shares {
                        // They were stored just before: what sealed them is not needed any more.
                        self.key.forget_setup();
                    }
                    if message.phase == Phase::Upload {
                        let (sum, message) = (message.sum, message.encode());
                        self.persist(JournalLine::Uploaded { sum, message });
                    }
                    self.send(message);
                }
            }
        }
    }

    fn persist(&mut self, line: JournalLine) {
        self.effects.push_back(Ok(PartyEffect::Persist(line)));
    }

    fn send(&mut self, message: SignedMessage) {
        let report = Report::Message(message);
        self.effects.push_back(Ok(PartyEffect::Send(report)));
    }
}

/// What a party with this journal was charged in the study.
///
/// # Errors
/// When the journal is not of this study.
pub fn charged_by(agreed: &Agreed, journal: &[JournalLine]) -> Result<Ledger, Declined> {
    let mut ledger = agreed.new_ledger();
    for line in journal {
        if let JournalLine::Charged { sum, .. } = line {
            drop(charge(&mut ledger, agreed, *sum)?);
        }
    }
    Ok(ledger)
}

/// The step and attempt of a sum that a journal says was charged.
fn charged_sum(agreed: &Agreed, sum: u32) -> Result<(usize, u32), Declined> {
    agreed.step_of(sum).ok_or_else(|| Declined::NotPlanned {
        sum,
        found: "a sum of the journal".to_owned(),
        required: format!("{} sums", agreed.n_sums()),
    })
}

fn charge(ledger: &mut Ledger, agreed: &Agreed, sum: u32) -> Result<Paid, Declined> {
    let (step, _) = charged_sum(agreed, sum)?;
    let paid = agreed.charge(ledger, step).map_err(Box::new)?;
    paid.ok_or(Declined::OtherJournal)
}
