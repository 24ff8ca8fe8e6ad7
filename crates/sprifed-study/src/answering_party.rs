//! One party's side of a study: it charges its own ledger, answers what was agreed on, and nothing
//! else.
//!
//! Effects come one by one, and each must be carried out before the next is polled: a charge is on
//! the disk before the first record is read for it, an upload before it leaves. After a restart the
//! same journal makes the same party.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sprifed_noise::DrawnNoise;
use sprifed_privacy::{Ledger, Permit, SumPurchase};
use sprifed_query::{AskedBlock, Contributor, PlannedSum, RecordSource, SumQuery};
use sprifed_secure_sum::{
    CheckedCertificate, Client, ClientId, ClientOutput, IdentityKey, JournalEntry, Notice, Phase,
    Rejected, SignedMessage, UploadRefused,
};

use crate::agreement::Agreed;
use crate::hexadecimal::Digest;
use crate::party_effect::PartyEffect;
use crate::party_key::PartyKey;
use crate::record_store::RecordStore;
use crate::wire::Report;

mod declined;
mod protocol_entries;
#[cfg(test)]
mod tests;

pub use declined::Declined;
use declined::check_records;
use protocol_entries::protocol_entries;

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
}

/// One party in one study.
#[derive(Debug)]
pub struct AnsweringParty<R> {
    agreed: Arc<Agreed>,
    key: PartyKey,
    client: Client,
    ledger: Ledger,
    records: R,
    /// Steps and attempts that it was charged for, and the transcript before each.
    charged: BTreeMap<(usize, u32), Digest>,
    /// The last charge, until its records are read.
    unread: Option<Unread>,
    /// The last upload of before a restart, which may have been lost on its way.
    uploaded: Option<(u32, SignedMessage)>,
    /// What it wants done; an error stands for a sum that was charged and cannot be answered.
    effects: VecDeque<Result<PartyEffect, Declined>>,
}

/// A sum that is charged and not answered yet.
#[derive(Debug)]
struct Unread {
    sum: u32,
    transcript: Digest,
    permit: Permit<SumPurchase>,
    /// What is asked; nothing after a restart, until it is asked again.
    query: Option<Arc<SumQuery>>,
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
        let masks = key.masks(&agreed);
        let protocol = protocol_entries(journal);
        let study = Arc::clone(agreed.study());
        if agreed.place_of(&Digest(identity.public())) != Some(me) {
            return Err(not_invited());
        }
        let client = Client::resume(study, me, identity, masks, &protocol);
        let client = client.ok_or(Declined::OtherJournal)?;
        let ledger = new_ledger(&agreed);
        let mut party = Self {
            agreed,
            key,
            client,
            ledger,
            records,
            charged: BTreeMap::new(),
            unread: None,
            uploaded: None,
            effects: VecDeque::new(),
        };
        for line in journal {
            match line {
                JournalLine::Charged { sum, transcript } => {
                    party.charge_again(*sum, *transcript)?;
                }
                JournalLine::Uploaded { sum, message } => {
                    party.unread = None;
                    let message = SignedMessage::decode(message).ok();
                    party.uploaded = message.map(|message| (*sum, message));
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
    fn charge_again(&mut self, sum: u32, transcript: Digest) -> Result<(), Declined> {
        let agreed = Arc::clone(&self.agreed);
        let (place, planned) = charged_sum(&agreed, sum)?;
        let permit = charge(&mut self.ledger, &agreed, planned)?;
        self.charged.insert(place, transcript);
        self.unread = Some(Unread {
            sum,
            transcript,
            permit,
            query: None,
        });
        Ok(())
    }

    /// Asks for this party's part of `sum`, in which `query` follows the `transcript`.
    ///
    /// # Guarantee
    /// The charge comes out to be persisted before a record is read; records are read when the next effect is
    /// polled. A sum is charged and answered once, whatever the coordinator says. Asked again after the
    /// same transcript, the party sends what it sent before.
    ///
    /// # Errors
    /// When it was not agreed on, comes out of order or after another transcript, or the ledger refuses.
    pub fn ask(
        &mut self,
        sum: u32,
        transcript: Digest,
        query: &Arc<SumQuery>,
    ) -> Result<(), Declined> {
        let agreed = Arc::clone(&self.agreed);
        if !self.client.is_ready() {
            return Err(UploadRefused::NotReady.into());
        }
        let place = agreed.step_of(sum);
        if let Some(required) = place.and_then(|place| self.charged.get(&place)).copied() {
            return self.ask_again(sum, transcript, required, query);
        }
        let planned = self.planned(&agreed, sum, query)?;
        let permit = charge(&mut self.ledger, &agreed, planned)?;
        self.charged.extend(place.map(|place| (place, transcript)));
        self.persist(JournalLine::Charged { sum, transcript });
        self.unread = Some(Unread {
            sum,
            transcript,
            permit,
            query: Some(Arc::clone(query)),
        });
        Ok(())
    }

    /// A sum that was charged before: it is answered once, with the bytes that it would have had then.
    fn ask_again(
        &mut self,
        sum: u32,
        found: Digest,
        required: Digest,
        query: &Arc<SumQuery>,
    ) -> Result<(), Declined> {
        if found != required {
            return Err(Declined::OtherTranscript {
                sum,
                found,
                required,
            });
        }
        let uploaded = self.uploaded.as_ref();
        if let Some((_, message)) = uploaded.filter(|(uploaded, _)| *uploaded == sum) {
            let message = message.clone();
            self.send(message);
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
            permit,
            query,
        } = asked;
        let agreed = Arc::clone(&self.agreed);
        let (_, planned) = charged_sum(&agreed, sum)?;
        let questions = query.as_ref().map_or(&[][..], |query| &query.questions);
        let generator = self.key.noise(&agreed, sum, &transcript);
        let mut generator = generator.ok_or(UploadRefused::Erased { sum })?;
        let noise = DrawnNoise::draw(permit, &mut generator).map_err(Box::new)?;
        let blocks = questions.iter().zip(&planned.blocks);
        let blocks = blocks
            .map(|(question, planned)| AskedBlock { question, planned })
            .collect();
        let records = self.records.open()?;
        check_records(&agreed, self.client.id(), records)?;
        let contributor = Contributor::new(blocks, agreed.dither_seed(sum))
            .starting_at(agreed.first_unit(self.client.id()));
        let total = contributor.sum(records, 0..records.n_units())?;
        let noised = noise.release(total).map_err(Box::new)?;
        self.client.upload(sum, &transcript.0, &noised)?;
        self.carry_over();
        Ok(())
    }

    /// A sum of this step was released: what hid this party's part of it is not needed any more.
    pub(crate) fn forget(&mut self, step: usize) {
        let of_step = |sum: u32| self.agreed.step_of(sum).is_some_and(|(of, _)| of == step);
        self.unread.take_if(|unread| of_step(unread.sum));
        self.uploaded.take_if(|(sum, _)| of_step(*sum));
        self.key.forget_step(step);
        if let Some(sum) = self.agreed.sum_number(step, 0) {
            self.client.forget(sum);
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
        self.client.handle_message(notice)?;
        self.carry_over();
        Ok(())
    }

    /// Checks a certificate on behalf of all parties of this process.
    ///
    /// # Errors
    /// When the notice is no certificate of this party's survivor set.
    pub fn check_certificate(&self, notice: &Notice) -> Result<CheckedCertificate, Rejected> {
        self.client.check_certificate(notice)
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
        self.client.handle_checked(notice, checked)?;
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
    pub const fn id(&self) -> ClientId {
        self.client.id()
    }

    /// What it has been charged.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The first sum that it was charged for and that is not among `stated`.
    pub(crate) fn unstated(&self, stated: &BTreeSet<u32>) -> Option<u32> {
        let numbers = self.charged.keys();
        let mut numbers =
            numbers.filter_map(|(step, attempt)| self.agreed.sum_number(*step, *attempt));
        numbers.find(|sum| !stated.contains(sum))
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

    fn planned<'a>(
        &self,
        agreed: &'a Agreed,
        sum: u32,
        query: &SumQuery,
    ) -> Result<&'a PlannedSum, Declined> {
        let found = || {
            let blocks = query.questions.len();
            format!("{blocks} questions for step {}", query.step)
        };
        let Some((step, attempt)) = agreed.step_of(sum) else {
            return Err(self.not_planned(sum, &found()));
        };
        let n_features = agreed.agreement().setting.n_features;
        let planned = agreed
            .step(step)
            .filter(|planned| planned.admits(&query.questions) && query.step == step)
            .filter(|_| query.questions.iter().all(|q| q.fits(n_features)));
        let planned = planned.ok_or_else(|| self.not_planned(sum, &found()))?;
        let before = self.charged.keys().next_back().copied();
        if let Some(before) = before.filter(|before| *before >= (step, attempt)) {
            let last = agreed.sum_number(before.0, before.1).unwrap_or(sum);
            return Err(Declined::OutOfOrder { sum, last });
        }
        Ok(planned)
    }

    fn not_planned(&self, sum: u32, found: &str) -> Declined {
        let step = self.agreed.step_of(sum).map(|(step, _)| step);
        let planned = step.and_then(|step| Some((step, self.agreed.step(step)?)));
        Declined::NotPlanned {
            sum,
            found: found.to_owned(),
            required: planned.map_or_else(
                || format!("{} sums", self.agreed.study().n_sums()),
                |(step, sum)| format!("step {step}: {}", sum.purpose),
            ),
        }
    }

    fn carry_over(&mut self) {
        while let Some(output) = self.client.poll_output() {
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
    let mut ledger = new_ledger(agreed);
    for line in journal {
        if let JournalLine::Charged { sum, .. } = line {
            let (_, planned) = charged_sum(agreed, *sum)?;
            drop(charge(&mut ledger, agreed, planned)?);
        }
    }
    Ok(ledger)
}

/// The step and attempt of a sum that a journal says was charged, and its plan.
fn charged_sum(agreed: &Agreed, sum: u32) -> Result<((usize, u32), &PlannedSum), Declined> {
    let place = agreed.step_of(sum);
    let found = place.and_then(|place| Some((place, agreed.step(place.0)?)));
    found.ok_or_else(|| Declined::NotPlanned {
        sum,
        found: "a sum of the journal".to_owned(),
        required: format!("{} sums", agreed.study().n_sums()),
    })
}

fn new_ledger(agreed: &Agreed) -> Ledger {
    let plan = &agreed.agreement().plan;
    Ledger::open(agreed.ceiling(), plan.relation, plan.unit)
}

fn charge(
    ledger: &mut Ledger,
    agreed: &Agreed,
    planned: &PlannedSum,
) -> Result<Permit<SumPurchase>, Declined> {
    let spent = ledger.spend(&planned.purpose, agreed.purchase(planned));
    Ok(spent.map_err(Box::new)?)
}
