//! One party's side of a study: it charges its own ledger, answers what was agreed on, and nothing
//! else.
//!
//! Outputs come in order and must be carried out in order: what is persisted is on disk before
//! the message that depends on it leaves. After a restart the same journal makes the same party.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sprifed_noise::{DrawnNoise, NoiseParameterError, OutOfBounds, Provenance, ReleaseError};
use sprifed_privacy::{Ledger, LedgerError};
use sprifed_query::{AskedBlock, Contributor, PlannedSum, RecordSource, SumQuery};
use sprifed_secure_sum::{
    CheckedCertificate, Client, ClientId, ClientOutput, IdentityKey, JournalEntry, Notice, Phase,
    Rejected, SignedMessage, UploadRefused,
};

use crate::agreement::Agreed;
use crate::hexadecimal::Digest;
use crate::party_key::PartyKey;

#[cfg(test)]
mod tests;

/// What a party wants done, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParticipantOutput {
    /// Store this before the outputs that follow are carried out.
    Persist(JournalLine),
    /// Send this to the coordinator.
    Send(SignedMessage),
}

/// What a party must still know after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalLine {
    /// Its ledger was charged for this sum and it masked a vector for it: one line, so that neither
    /// is ever stored without the other.
    Uploaded {
        /// Which sum.
        sum: u32,
        /// The context in which the vector was masked.
        context: Digest,
        /// The message, to be sent again as it is: the masks hide this vector only.
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

/// Why a party does not answer. Nothing left it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// It is not on the roster with this identity.
    #[error("the roster does not have {party} with this identity key")]
    NotInvited {
        /// Which place of the roster.
        party: ClientId,
    },
    /// It left the study before.
    #[error("this party has left the study and answers nothing more in it")]
    HasLeft,
    /// Its noise is not of the kind that was agreed on.
    #[error("the noise here is {found:?}, but the agreement says {required:?}")]
    OtherNoise {
        /// The noise of this party.
        found: Provenance,
        /// The noise agreed on.
        required: Provenance,
    },
    /// It holds more privacy units than the agreement says.
    #[error("there are {found} privacy units here, but the agreement says at most {required}")]
    TooManyUnits {
        /// Units held.
        found: usize,
        /// Units agreed on.
        required: u32,
    },
    /// It holds records of another width.
    #[error("the records have {found} features, but the agreement says {required}")]
    OtherFeatures {
        /// Features of the records.
        found: usize,
        /// Features agreed on.
        required: u32,
    },
    /// A sum that was not agreed on, or not with this question.
    #[error("sum {sum} was asked with {found}, but the agreement says {required}")]
    NotPlanned {
        /// Which sum.
        sum: u32,
        /// What was asked.
        found: String,
        /// What was agreed on.
        required: String,
    },
    /// A sum that comes before one that was answered already.
    #[error("sum {sum} was asked after sum {last}; sums are answered in order, each once")]
    OutOfOrder {
        /// Which sum.
        sum: u32,
        /// The last one answered.
        last: u32,
    },
    /// The ledger refused.
    #[error(transparent)]
    Ledger(#[from] Box<LedgerError>),
    /// The noise can not be drawn.
    #[error(transparent)]
    Noise(#[from] Box<NoiseParameterError>),
    /// A contribution did not fit.
    #[error(transparent)]
    Bounds(#[from] OutOfBounds),
    /// The release was refused.
    #[error(transparent)]
    Release(#[from] Box<ReleaseError>),
    /// The masks refused.
    #[error(transparent)]
    Upload(#[from] UploadRefused),
}

/// One party in one study.
#[derive(Debug)]
pub struct Participant<R> {
    agreed: Arc<Agreed>,
    key: PartyKey,
    client: Client,
    ledger: Ledger,
    records: R,
    /// Steps and attempts that it was charged for.
    answered: BTreeSet<(usize, u32)>,
    /// The last upload of before a restart, which may have been lost on its way.
    uploaded: Option<(u32, SignedMessage)>,
    outputs: VecDeque<ParticipantOutput>,
}

impl<R: RecordSource> Participant<R> {
    /// Joins the study as `me`, or joins it again with everything that was persisted.
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
    ) -> Result<Self, Declined> {
        if journal.contains(&JournalLine::Left) {
            return Err(Declined::HasLeft);
        }
        let agreement = agreed.agreement();
        let not_invited = || Declined::NotInvited { party: me };
        let party = agreement.parties.get(me.0 as usize);
        let required = party.ok_or_else(not_invited)?.units;
        if key.provenance() != agreement.noise {
            let (found, required) = (key.provenance(), agreement.noise);
            return Err(Declined::OtherNoise { found, required });
        }
        let found = records.n_units();
        if u32::try_from(found).is_ok_and(|found| found > required) {
            return Err(Declined::TooManyUnits { found, required });
        }
        let (found, required) = (records.n_features(), agreement.setting.n_features);
        if found != required as usize {
            return Err(Declined::OtherFeatures { found, required });
        }
        let masks = key.masks(agreed.digest());
        let protocol: Vec<JournalEntry> = journal.iter().filter_map(protocol_entry).collect();
        let study = Arc::clone(agreed.study());
        let client =
            Client::resume(study, me, identity, masks, &protocol).ok_or_else(not_invited)?;
        let ledger = new_ledger(&agreed);
        let mut participant = Self {
            agreed,
            key,
            client,
            ledger,
            records,
            answered: BTreeSet::new(),
            uploaded: None,
            outputs: VecDeque::new(),
        };
        for line in journal {
            match line {
                JournalLine::Uploaded { sum, message, .. } => {
                    participant.charge_again(*sum)?;
                    let message = SignedMessage::decode(message).ok();
                    participant.uploaded = message.map(|message| (*sum, message));
                }
                JournalLine::Confirmed { .. } | JournalLine::Ended { .. } | JournalLine::Left => {}
            }
        }
        participant.carry_over();
        Ok(participant)
    }

    /// A charge of before the restart; its permit is spent already.
    fn charge_again(&mut self, sum: u32) -> Result<(), Declined> {
        let agreed = Arc::clone(&self.agreed);
        let planned = agreed.step_of(sum).and_then(|(step, _)| agreed.step(step));
        let planned = planned.ok_or_else(|| self.not_planned(sum, "a sum of the journal"))?;
        charge(&mut self.ledger, &agreed, planned)?;
        self.answered.extend(agreed.step_of(sum));
        Ok(())
    }

    /// Answers `query` as this party's part of `sum`.
    ///
    /// # Guarantee
    /// The ledger is charged before a record is read, and both it and the upload are persisted
    /// before the upload leaves. A sum is answered once, whatever the coordinator says; asked again,
    /// the party sends what it sent before.
    ///
    /// # Errors
    /// When it was not agreed on, comes out of order, or the ledger refuses.
    pub fn answer(&mut self, sum: u32, query: &SumQuery) -> Result<(), Declined> {
        if let Some((uploaded, message)) = &self.uploaded
            && *uploaded == sum
        {
            let message = message.clone();
            self.outputs.push_back(ParticipantOutput::Send(message));
            return Ok(());
        }
        let agreed = Arc::clone(&self.agreed);
        let planned = self.planned(&agreed, sum, query)?;
        if !self.client.is_ready() {
            return Err(UploadRefused::NotReady.into());
        }
        let purchase = agreed.purchase(planned);
        let permit = self
            .ledger
            .spend(&planned.purpose, purchase)
            .map_err(Box::new)?;
        self.answered.extend(agreed.step_of(sum));
        let context = *agreed.digest();
        let mut generator = self.key.noise(agreed.digest(), sum, &context);
        let noise = DrawnNoise::draw(permit, &mut generator).map_err(Box::new)?;
        let blocks = query.questions.iter().zip(&planned.blocks);
        let blocks = blocks
            .map(|(question, planned)| AskedBlock { question, planned })
            .collect();
        let contributor = Contributor::new(blocks, agreed.dither_seed(sum))
            .starting_at(agreed.first_unit(self.client.id()));
        let total = contributor.sum(&self.records, 0..self.records.n_units())?;
        let noised = noise.release(total).map_err(Box::new)?;
        self.client.upload(sum, &context.0, &noised)?;
        self.carry_over();
        Ok(())
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

    /// The next thing to do; drain it after every call.
    pub fn poll_output(&mut self) -> Option<ParticipantOutput> {
        self.outputs.pop_front()
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
        let numbers = self.answered.iter();
        let mut numbers =
            numbers.filter_map(|(step, attempt)| self.agreed.sum_number(*step, *attempt));
        numbers.find(|sum| !stated.contains(sum))
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
        let before = self.answered.last().copied();
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
        let mut masked_in = Digest([0; 32]);
        while let Some(output) = self.client.poll_output() {
            match output {
                // The message follows, and is stored with it.
                ClientOutput::Persist(JournalEntry::Uploaded { context, .. }) => {
                    masked_in = Digest(context);
                }
                ClientOutput::Persist(JournalEntry::Confirmed { sum, digest }) => {
                    let digest = Digest(digest);
                    self.persist(JournalLine::Confirmed { sum, digest });
                }
                ClientOutput::Send(message) => {
                    if message.phase == Phase::Upload {
                        self.persist(JournalLine::Uploaded {
                            sum: message.sum,
                            context: masked_in,
                            message: message.encode(),
                        });
                    }
                    self.outputs.push_back(ParticipantOutput::Send(message));
                }
            }
        }
    }

    fn persist(&mut self, line: JournalLine) {
        self.outputs.push_back(ParticipantOutput::Persist(line));
    }
}

/// What a party with this journal was charged in the study.
///
/// # Errors
/// When the journal is not of this study.
pub fn charged_by(agreed: &Agreed, journal: &[JournalLine]) -> Result<Ledger, Declined> {
    let mut ledger = new_ledger(agreed);
    for line in journal {
        let JournalLine::Uploaded { sum, .. } = line else {
            continue;
        };
        let planned = agreed.step_of(*sum).and_then(|(step, _)| agreed.step(step));
        let planned = planned.ok_or_else(|| Declined::NotPlanned {
            sum: *sum,
            found: "a sum of the journal".to_owned(),
            required: format!("{} sums", agreed.study().n_sums()),
        })?;
        charge(&mut ledger, agreed, planned)?;
    }
    Ok(ledger)
}

fn new_ledger(agreed: &Agreed) -> Ledger {
    let plan = &agreed.agreement().plan;
    Ledger::open(agreed.ceiling(), plan.relation, plan.unit)
}

/// Charges again what was charged before; the permit is spent already.
fn charge(ledger: &mut Ledger, agreed: &Agreed, planned: &PlannedSum) -> Result<(), Declined> {
    let spent = ledger.spend(&planned.purpose, agreed.purchase(planned));
    drop(spent.map_err(Box::new)?);
    Ok(())
}

fn protocol_entry(line: &JournalLine) -> Option<JournalEntry> {
    match line {
        JournalLine::Uploaded { sum, context, .. } => Some(JournalEntry::Uploaded {
            sum: *sum,
            context: context.0,
        }),
        JournalLine::Confirmed { sum, digest } => Some(JournalEntry::Confirmed {
            sum: *sum,
            digest: digest.0,
        }),
        JournalLine::Ended { .. } | JournalLine::Left => None,
    }
}
