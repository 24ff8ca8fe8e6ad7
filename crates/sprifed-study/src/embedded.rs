//! All parties of a study in one process: the backend that adds up masked shares.
//!
//! Each party draws its own noise, masks its own vector and signs its own messages; the
//! coordinator's state machine sees what it would see over a network. Vectors are made, added and
//! dropped a few at a time, so memory grows with the parties or with the features, not with both.

use std::sync::Arc;

use rayon::iter::{IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use sprifed_noise::Provenance;
use sprifed_privacy::{Ledger, LedgerError};
use sprifed_query::{Answer, Part, PlannedSum, RecordSource, SumBackend, SumQuery};
use sprifed_secure_sum::{
    Abandoned, CheckedCertificate, ClientId, ClientSet, Coordinator, CoordinatorOutput, Notice,
    Phase, Rejected, SignedMessage, SumOutcome, SumRefused, UnmaskedSum,
};

use crate::agreement::Agreed;
use crate::answering_party::{AnsweringParty, Declined};
use crate::asked::Asked;
use crate::party_effect::PartyEffect;
use crate::party_key::PartyKey;
use crate::transcript::{Released, Transcript};
use crate::wire::Report;

#[cfg(test)]
mod tests;

/// How many parties are at work on one message at a time.
const AT_A_TIME: usize = 64;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// The agreement names trustees, who compute elsewhere.
    #[error("the agreement has trustees; secure sums in one process have none")]
    HasTrustees,
    /// A party did not join or answer.
    #[error("{party}: {source}")]
    Party {
        /// Which party.
        party: ClientId,
        /// Why.
        source: Box<Declined>,
    },
    /// A message was refused, which honest parties of one process never see.
    #[error("a message was refused: {0}; this is a bug")]
    Refused(Rejected),
    /// The request is not the next step of the plan.
    #[error("the procedure asked for step {found}, but step {required} is next; this is a bug")]
    NotPlanned {
        /// The step of the request.
        found: usize,
        /// The next step.
        required: usize,
    },
    /// The sum ended without a result; nothing was unmasked.
    #[error("step {step} ended without a sum: {reason}")]
    Abandoned {
        /// Which step.
        step: usize,
        /// Why.
        reason: Abandoned,
    },
    /// The keys could not be exchanged.
    #[error("the exchange of keys failed: {0}")]
    NotSetUp(Abandoned),
    /// The sum could not be opened.
    #[error(transparent)]
    Closed(#[from] SumRefused),
    /// The ledger refused.
    #[error(transparent)]
    Ledger(#[from] Box<LedgerError>),
}

/// Decides whether a party is present, from the phase, the sum (zero in the exchange of keys) and
/// the party.
pub type Attendance<'a> = dyn Fn(Phase, u32, ClientId) -> bool + Sync + 'a;

/// All parties are present, always.
#[must_use]
pub fn all_present(_: Phase, _: u32, _: ClientId) -> bool {
    true
}

/// A party is present in the steps of `released` that it was in.
#[must_use]
pub fn present_as_in(released: &[Released]) -> Box<Attendance<'static>> {
    let present: Vec<Vec<u32>> = released.iter().map(|one| one.survivors.clone()).collect();
    Box::new(move |_: Phase, step: u32, party: ClientId| {
        let present = present.get(step as usize);
        present.is_some_and(|present| present.contains(&party.0))
    })
}

/// All parties and the coordinator of one study.
pub struct Embedded<'a, R> {
    agreed: Arc<Agreed>,
    parties: Vec<AnsweringParty<R>>,
    coordinator: Coordinator,
    ledger: Ledger,
    attendance: Box<Attendance<'a>>,
    provenance: Provenance,
    /// What was released. The parties share the derivation of questions, which is the caller's.
    transcript: Transcript,
}

impl<'a, S: RecordSource> Embedded<'a, Part<'a, S>> {
    /// Sets up the parties derived from `key`, each with the units of `source` that the agreement
    /// gives it.
    ///
    /// # Errors
    /// When a party refuses or too few of them are present.
    pub fn over(
        source: &'a S,
        agreed: Arc<Agreed>,
        key: &PartyKey,
        attendance: Box<Attendance<'a>>,
    ) -> Result<Self, EmbeddedError> {
        let mut start = 0;
        let parties = agreed.agreement().parties.iter().map(|party| {
            let units = start..start + party.units as usize;
            start = units.end;
            Part::of(source, units)
        });
        let parts = parties.collect();
        Self::open(agreed, key, parts, attendance)
    }
}

impl<'a, R: RecordSource + Send> Embedded<'a, R> {
    /// Sets up all parties, each with its part of the records, and exchanges keys.
    ///
    /// # Errors
    /// When a party refuses or too few of them are present.
    pub fn open(
        agreed: Arc<Agreed>,
        key: &PartyKey,
        records: Vec<R>,
        attendance: Box<Attendance<'a>>,
    ) -> Result<Self, EmbeddedError> {
        let study = agreed.study().cloned().ok_or(EmbeddedError::HasTrustees)?;
        let joined: Result<Vec<_>, EmbeddedError> = (0..)
            .map(ClientId)
            .zip(records)
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|(id, records)| {
                let own = key.of_party(id.0);
                let agreed = Arc::clone(&agreed);
                AnsweringParty::join(agreed, id, own.identity(), own, records, &[])
                    .map_err(declined(id))
            })
            .collect();
        let plan = &agreed.agreement().plan;
        let ledger = Ledger::open(agreed.ceiling(), plan.relation, plan.unit);
        let mut study = Self {
            parties: joined?,
            coordinator: Coordinator::open(study),
            provenance: key.provenance(),
            ledger,
            attendance,
            transcript: Transcript::begin(agreed.digest()),
            agreed,
        };
        let all: Vec<ClientId> = study.parties.iter().map(AnsweringParty::id).collect();
        study.collect(Phase::Keys, 0, &all)?;
        // The directory, what was encapsulated, and the bundles.
        for phase in [Phase::Agree, Phase::Shares, Phase::Shares] {
            study.pass_on(phase, 0)?;
        }
        Ok(study)
    }

    /// What has been spent so far; every party's own ledger says the same.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What was agreed on.
    #[must_use]
    pub const fn agreed(&self) -> &Arc<Agreed> {
        &self.agreed
    }

    /// The parties.
    #[must_use]
    pub fn parties(&self) -> &[AnsweringParty<R>] {
        &self.parties
    }

    /// How many parties each released sum is over.
    #[must_use]
    pub fn survivors(&self) -> Vec<u32> {
        let released = self.transcript.released().iter();
        let counts = released.map(|sum| u32::try_from(sum.survivors.len()).unwrap_or(u32::MAX));
        counts.collect()
    }

    /// The sums that were released.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Closes the phase before `phase`, and collects the answers of all parties that get a notice.
    fn pass_on(&mut self, phase: Phase, sum: u32) -> Result<Option<UnmaskedSum>, EmbeddedError> {
        self.coordinator.close_phase();
        let mut checked: Option<CheckedCertificate> = None;
        loop {
            let mut notices: Vec<(ClientId, Notice)> = Vec::with_capacity(AT_A_TIME);
            let mut ended = None;
            while notices.len() < AT_A_TIME {
                match self.coordinator.poll_output() {
                    Some(CoordinatorOutput::Send(to, notice)) => notices.push((to, notice)),
                    Some(CoordinatorOutput::SumEnded(outcome)) => ended = Some(outcome),
                    Some(CoordinatorOutput::StudyAbandoned(reason)) => {
                        return Err(EmbeddedError::NotSetUp(reason));
                    }
                    None => break,
                }
            }
            if let Some(outcome) = ended {
                return self.end(outcome).map(Some);
            }
            if notices.is_empty() {
                return Ok(None);
            }
            notices.retain(|(to, _)| self.attends(phase, sum, *to));
            let Some((first, notice)) = notices.first() else {
                continue;
            };
            // Every party checks every signature, where parties do not share a process.
            if phase == Phase::Unmask && checked.is_none() {
                let party = self.parties.get(first.0 as usize);
                let result = party
                    .map(|party| party.check_certificate(notice))
                    .transpose();
                checked = result.map_err(EmbeddedError::Refused)?;
            }
            self.tell(&notices, checked.as_ref())?;
            let told: Vec<ClientId> = notices.iter().map(|(to, _)| *to).collect();
            self.collect(phase, sum, &told)?;
        }
    }

    /// A party that leaves a sum misses the rest of it.
    fn attends(&self, phase: Phase, sum: u32, id: ClientId) -> bool {
        let before = phase != Phase::Unmask || (self.attendance)(Phase::Confirm, sum, id);
        before && (self.attendance)(phase, sum, id)
    }

    fn tell(
        &mut self,
        notices: &[(ClientId, Notice)],
        checked: Option<&CheckedCertificate>,
    ) -> Result<(), EmbeddedError> {
        let notice_of = |id: ClientId| notices.iter().find(|(to, _)| *to == id);
        let told = self.parties.par_iter_mut().try_for_each(|party| {
            let Some((_, notice)) = notice_of(party.id()) else {
                return Ok(());
            };
            match checked {
                Some(checked) => party.handle_checked(notice, checked),
                None => party.handle_notice(notice),
            }
        });
        told.map_err(EmbeddedError::Refused)
    }

    /// Hands the messages of these parties to the coordinator.
    fn collect(&mut self, phase: Phase, sum: u32, from: &[ClientId]) -> Result<(), EmbeddedError> {
        for id in from {
            let Some(party) = self.parties.get_mut(id.0 as usize) else {
                continue;
            };
            let present = (self.attendance)(phase, sum, *id);
            while let Some(message) = next_message(party).map_err(declined(*id))? {
                if present {
                    let taken = self.coordinator.handle_message(*id, &message);
                    taken.map_err(EmbeddedError::Refused)?;
                }
            }
        }
        Ok(())
    }

    fn upload(&mut self, sum: u32, query: &SumQuery) -> Result<(), EmbeddedError> {
        let (transcript, query) = (self.transcript.head(), Arc::new(Asked::Sum(query.clone())));
        let expected = self.coordinator.waits_for();
        let mut start = 0;
        while start < self.parties.len() {
            let end = (start + AT_A_TIME).min(self.parties.len());
            let part = self.parties.get_mut(start..end).unwrap_or_default();
            let attendance = &self.attendance;
            part.par_iter_mut()
                .filter(|party| is_there(&expected, attendance.as_ref(), sum, party.id()))
                .try_for_each(|party| {
                    let asked = party.ask(sum, transcript, &query, &[]);
                    asked.map_err(declined(party.id()))?;
                    // The charge is kept in memory, as is everything else here.
                    party.answer_charged();
                    Ok::<(), EmbeddedError>(())
                })?;
            let told: Vec<ClientId> = part.iter().map(AnsweringParty::id).collect();
            self.collect(Phase::Upload, sum, &told)?;
            start = end;
        }
        Ok(())
    }

    fn end(&mut self, outcome: SumOutcome) -> Result<UnmaskedSum, EmbeddedError> {
        match outcome {
            SumOutcome::Unmasked(sum) => Ok(sum),
            SumOutcome::Abandoned { reason, .. } => Err(EmbeddedError::Abandoned {
                step: self.transcript.released().len(),
                reason,
            }),
        }
    }

    fn add_up(&mut self, sum: u32, query: &SumQuery) -> Result<UnmaskedSum, EmbeddedError> {
        self.coordinator.open_sum(sum, self.transcript.head().0)?;
        self.upload(sum, query)?;
        let mut ended = None;
        for phase in [Phase::Confirm, Phase::Unmask, Phase::Upload] {
            ended = self.pass_on(phase, sum)?;
        }
        ended.ok_or(EmbeddedError::Closed(SumRefused::NotIdle))
    }

    fn decode(&self, ended: UnmaskedSum, planned: &PlannedSum) -> Result<Answer, EmbeddedError> {
        let (shares, ids) = (ended.survivors().len(), ended.survivors());
        let survivors: Vec<u32> = ids.iter().map(|id| id.0).collect();
        let sum = ended.into_private_sum(planned.to_sum_plan(), self.provenance);
        let sum = sum.ok_or(SumRefused::NotIdle)?;
        let parties = u32::try_from(self.parties.len()).unwrap_or(u32::MAX);
        Ok(Answer::decode(&sum, planned, shares).by_survivors(parties, &survivors))
    }
}

impl<R: RecordSource + Send> SumBackend for Embedded<'_, R> {
    type Error = EmbeddedError;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, EmbeddedError> {
        let next_step = self.transcript.released().len();
        let not_planned = EmbeddedError::NotPlanned {
            found: query.step,
            required: next_step,
        };
        let agreed = Arc::clone(&self.agreed);
        let next = Some(next_step).filter(|next| *next == query.step);
        let (Some(planned), Some(sum)) = (
            next.and_then(|step| agreed.step(step)),
            next.and_then(|step| agreed.sum_number(step, 0)),
        ) else {
            return Err(not_planned);
        };
        let purchase = agreed.purchase(planned);
        drop(
            self.ledger
                .spend(&planned.purpose, purchase)
                .map_err(Box::new)?,
        );
        let ended = self.add_up(sum, query)?;
        self.transcript.push(Released {
            trustees: None,
            outside: Vec::new(),
            sum,
            survivors: ended.survivors().iter().map(|id| id.0).collect(),
            values: ended.values().to_vec(),
        });
        for party in &mut self.parties {
            party.forget(next_step);
        }
        self.decode(ended, planned)
    }
}

impl<R> core::fmt::Debug for Embedded<'_, R> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (parties, step) = (self.parties.len(), self.transcript.released().len());
        write!(formatter, "Embedded({parties} parties, step {step})")
    }
}

fn is_there(expected: &ClientSet, attendance: &Attendance<'_>, sum: u32, id: ClientId) -> bool {
    expected.contains(id) && attendance(Phase::Upload, sum, id)
}

fn declined(party: ClientId) -> impl Fn(Declined) -> EmbeddedError {
    move |source| EmbeddedError::Party {
        party,
        source: Box::new(source),
    }
}

/// What a party sends next. What it persists is lost with the process, as is everything else.
fn next_message<R: RecordSource>(
    party: &mut AnsweringParty<R>,
) -> Result<Option<SignedMessage>, Declined> {
    loop {
        match party.poll()? {
            None => return Ok(None),
            Some(PartyEffect::Send(Report::Message(message))) => return Ok(Some(message)),
            Some(_) => {}
        }
    }
}
