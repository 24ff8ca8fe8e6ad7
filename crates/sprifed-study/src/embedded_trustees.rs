//! All clients, three trustees and the coordinator of a study in one process: the backend that makes
//! choices and sums from shared bits.
//!
//! Every message is the one that would travel between machines: uploads are sealed and signed, each
//! trustee computes on its two shares, and only an index or noisy sums are opened. The process sees all
//! records all the same, so what it reports must say so.
//!
//! Each trustee charges its own copy of the ledger before its noise is drawn, and all three before a
//! record is read. Clients are made, sealed and dropped some at a time.

use std::ops::Range;
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sha2::{Digest as _, Sha256};
use sprifed_noise::{
    DrawnShare, NoiseGenerator, NoiseParameterError, OutOfBounds, PrivateSum, Provenance,
};
use sprifed_privacy::{
    Gates, Ledger, LedgerError, NoiseOrigin, Permit, PrivacyUnit, Purchase, SumPurchase, Trustee,
};
use sprifed_query::{
    Answer, AskedBlock, ChoiceBackend, ChoiceQuery, Contributor, Part, Plan, PlannedChoice,
    PlannedStep, PlannedSum, RecordSource, SumBackend, SumQuery,
};
use sprifed_secure_sum::{ClientId, Phase};
use sprifed_trustees::{DealtNoise, Embedded, EmbeddedFailed, Output, Step, TrusteeId};

use crate::agreement::Agreed;
use crate::embedded::Attendance;
use crate::hexadecimal::Digest;
use crate::party_key::PartyKey;
use crate::trustee_attempt::OpenedStep;
use crate::trustee_key::TrusteeKey;
use crate::trustee_step::{IllegalTrusteeStep, step_with};

mod course;

use course::{AgreedCourse, Course};

#[cfg(test)]
mod tests;

/// How many clients are at work at a time.
const AT_A_TIME: usize = 64;

/// Why there is no answer of trustees.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrusteesError {
    /// The request is not the next step of the plan.
    #[error(
        "the procedure asked {found} for step {step}, which is not what the plan has next; this is a bug"
    )]
    NotPlanned {
        /// The request.
        found: String,
        /// The next step.
        step: usize,
    },
    /// A client holds more than the plan allows for.
    #[error("{client} holds {found} units, but at most {required} were planned for")]
    TooManyUnits {
        /// Who.
        client: ClientId,
        /// How many it holds.
        found: usize,
        /// How many were planned for.
        required: u32,
    },
    /// The plan protects clients, but the records are not grouped by client.
    #[error("the plan protects each client, but the records of {client} are not grouped by client")]
    Ungrouped {
        /// Whose records.
        client: ClientId,
    },
    /// No client takes part in a step.
    #[error("no client took part in step {step}; nothing was opened")]
    NoClient {
        /// Which step.
        step: usize,
    },
    /// The agreement has no trustees.
    #[error("the agreement names no trustees")]
    NoTrustees,
    /// A key is not the one that the agreement names.
    #[error("{trustee} of the agreement has another key")]
    OtherKey {
        /// Which trustee, counted from zero.
        trustee: TrusteeId,
    },
    /// An attempt that the agreement does not allow.
    #[error("the agreement has no such attempt at step {step}")]
    NoAttempt {
        /// Which step.
        step: usize,
    },
    /// Trustees cannot compute the step.
    #[error(transparent)]
    Step(#[from] IllegalTrusteeStep),
    /// The ledger refused.
    #[error(transparent)]
    Ledger(#[from] Box<LedgerError>),
    /// The noise cannot be drawn.
    #[error(transparent)]
    Noise(#[from] Box<NoiseParameterError>),
    /// A contribution did not fit.
    #[error(transparent)]
    Bounds(#[from] OutOfBounds),
    /// The trustees opened nothing.
    #[error("the trustees opened nothing: {0}")]
    Trustees(#[from] EmbeddedFailed),
}

/// All clients, three trustees and the coordinator of one study.
pub struct EmbeddedTrustees<'a, R> {
    plan: Plan,
    clients: Vec<Client<R>>,
    units: Vec<u32>,
    parties: Embedded,
    /// Each trustee's copy of the study's ledger.
    ledgers: [Ledger; 3],
    course: Course,
    attendance: Box<Attendance<'a>>,
    next_step: usize,
    /// How many clients were in each step.
    present: Vec<u32>,
    /// The clients that were in the last one.
    attending: Vec<u32>,
    gates: Gates,
}

/// One client: its records, and the place of its first unit among all units.
struct Client<R> {
    id: ClientId,
    records: R,
    first_unit: u64,
}

impl<'a, S: RecordSource> EmbeddedTrustees<'a, Part<'a, S>> {
    /// Clients that hold so many `units` of `source` each, one after the other.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn over(
        source: &'a S,
        plan: Plan,
        units: Vec<u32>,
        key: &PartyKey,
        attendance: Box<Attendance<'a>>,
    ) -> Result<Self, TrusteesError> {
        let mut start = 0;
        let range = |units: &u32| {
            let range: Range<usize> = start..start + *units as usize;
            start = range.end;
            Part::of(source, range)
        };
        let parts = units.iter().map(range).collect();
        Self::open(parts, plan, units, key, attendance)
    }
}

impl<'a, R: RecordSource + Send> EmbeddedTrustees<'a, R> {
    /// The study `agreed` of other machines in one process, from its beginning: with the records of all parties, the
    /// noise of these trustees, and the same rounding. Each step is opened as `steps` says, and beyond its end in the
    /// first attempt, with all clients inside.
    ///
    /// # Errors
    /// As [`Self::open`], and when the agreement does not name trustees with these keys.
    pub fn again(
        records: Vec<R>,
        agreed: &Arc<Agreed>,
        trustees: [TrusteeKey; 3],
        steps: Vec<OpenedStep>,
        attendance: Box<Attendance<'a>>,
    ) -> Result<Self, TrusteesError> {
        let course = AgreedCourse::new(Arc::clone(agreed), trustees, steps)?;
        let (plan, parties) = (agreed.agreement().plan.clone(), &agreed.agreement().parties);
        let units = parties.iter().map(|party| party.units).collect();
        let study = Self::open(records, plan, units, &PartyKey::simulated(0, 0), attendance)?;
        Ok(Self {
            course: Course::Agreed(Box::new(course)),
            ..study
        })
    }

    /// Clients with these records, of which each may hold so many `units`; all keys come from `key`.
    ///
    /// # Errors
    /// When the plan's noise does not come from trustees, a client holds more than was planned for, or a
    /// step is too large.
    pub fn open(
        records: Vec<R>,
        plan: Plan,
        units: Vec<u32>,
        key: &PartyKey,
        attendance: Box<Attendance<'a>>,
    ) -> Result<Self, TrusteesError> {
        let mut first_unit = 0;
        let mut clients = Vec::with_capacity(records.len());
        for (id, records) in (0..).map(ClientId).zip(records) {
            let found = records.n_units();
            let required = units.get(id.0 as usize).copied().unwrap_or(0);
            if found > required as usize {
                let client = id;
                return Err(TrusteesError::TooManyUnits {
                    client,
                    found,
                    required,
                });
            }
            // Safety of the guarantee: ungrouped, each record of a client would count as a client.
            if plan.unit == PrivacyUnit::Client && found > 0 && !records.is_grouped() {
                return Err(TrusteesError::Ungrouped { client: id });
            }
            clients.push(Client {
                id,
                records,
                first_unit,
            });
            first_unit += u64::from(required);
        }
        // A step that trustees cannot compute is refused before anything is spent.
        for planned in &plan.steps {
            step_with(Gates::Unproved, &plan, planned, &units)?;
        }
        let study = digest(&plan, &units, key);
        let n_clients = u32::try_from(clients.len()).unwrap_or(u32::MAX);
        let new_ledger = || Ledger::open(plan.budget, plan.relation, plan.unit);
        Ok(Self {
            parties: Embedded::new(key.trustees_seed(&study), study.0, n_clients)?,
            ledgers: [new_ledger(), new_ledger(), new_ledger()],
            course: Course::Own {
                key: key.clone(),
                study,
            },
            plan,
            clients,
            units,
            attendance,
            next_step: 0,
            present: Vec::new(),
            attending: Vec::new(),
            gates: Gates::Unproved,
        })
    }

    /// The same study, in which trustees prove their gates and verify norms, as between machines. In one process it
    /// protects against nothing and takes about ten times as long.
    #[must_use]
    pub fn proved(self) -> Self {
        Self {
            gates: Gates::Proved,
            ..self
        }
    }

    /// What the trustees compute in a planned step.
    fn trustee_step(&self, planned: &PlannedStep) -> Result<Step, IllegalTrusteeStep> {
        step_with(self.gates, &self.plan, planned, &self.units)
    }

    /// What has been spent so far; the ledgers of all three trustees say the same.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        let [first, ..] = &self.ledgers;
        first
    }

    /// How many clients were in each step that the trustees opened.
    #[must_use]
    pub fn present(&self) -> &[u32] {
        &self.present
    }

    /// Where the noise comes from.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        self.course.provenance()
    }

    /// The seed of the public rounding of a step.
    #[must_use]
    pub fn dither_seed(&self, step: usize) -> u64 {
        self.course.dither_seed(step)
    }

    /// The next step, if it is the one that is asked for.
    fn planned(&self, step: usize) -> Option<&PlannedStep> {
        let is_next = step == self.next_step;
        self.plan.steps.get(step).filter(|_| is_next)
    }

    fn not_planned(&self, found: String) -> TrusteesError {
        TrusteesError::NotPlanned {
            found,
            step: self.next_step,
        }
    }

    /// All three trustees charge their ledgers.
    fn charge<P: Purchase + Clone>(
        &mut self,
        purpose: &str,
        purchase: &P,
    ) -> Result<[Permit<P>; 3], TrusteesError> {
        let [first, second, third] = &mut self.ledgers;
        let charge =
            |ledger: &mut Ledger| ledger.spend(purpose, purchase.clone()).map_err(Box::new);
        Ok([charge(first)?, charge(second)?, charge(third)?])
    }

    /// The noise of one step: one share of each trustee, each from a charge of its own.
    fn draw<P: Purchase>(
        &self,
        permits: [Permit<P>; 3],
        draw: impl Fn(Permit<P>, Trustee, &mut NoiseGenerator) -> DrawnOrNot<P>,
    ) -> Result<[DealtNoise; 3], TrusteesError>
    where
        DealtNoise: From<DrawnShare<P>>,
    {
        let [first, second, third] = permits;
        let share = |permit, trustee| {
            let step = self.next_step;
            let generator = self.course.noise(trustee, step);
            let mut generator = generator.ok_or(TrusteesError::NoAttempt { step })?;
            let share = draw(permit, trustee, &mut generator).map_err(Box::new)?;
            Ok::<_, TrusteesError>(DealtNoise::from(share))
        };
        Ok([
            share(first, Trustee::First)?,
            share(second, Trustee::Second)?,
            share(third, Trustee::Third)?,
        ])
    }

    /// Clients upload, trustees compute and open. Records are read in here, after all charges.
    fn open_step(
        &mut self,
        step: Step,
        noise: [DealtNoise; 3],
        blocks: &[AskedBlock<'_>],
    ) -> Result<Output, TrusteesError> {
        let number = self.next_step;
        let dither_seed = self.dither_seed(number);
        self.next_step += 1;
        let as_sum = u32::try_from(number).unwrap_or(u32::MAX);
        let is_present = |client: &&Client<R>| (self.attendance)(Phase::Upload, as_sum, client.id);
        let present: Vec<&Client<R>> = self.clients.iter().filter(is_present).collect();
        if present.is_empty() {
            return Err(TrusteesError::NoClient { step: number });
        }
        let contribution = |client: &&Client<R>| {
            let contributor = Contributor::new(blocks.to_vec(), dither_seed);
            let contributor = contributor.starting_at(client.first_unit);
            let sum = contributor.sum(&client.records, 0..client.records.n_units())?;
            Ok((client.id, sum.into_upload()))
        };
        let contributions = present.chunks(AT_A_TIME).flat_map(|some| {
            let some: Vec<_> = some.par_iter().map(contribution).collect();
            some
        });
        let output = self
            .parties
            .run_on::<TrusteesError>(step, noise, contributions)?;
        let present: Vec<ClientId> = present.iter().map(|client| client.id).collect();
        self.course.go_on(number, &present, &output);
        let n_present = u32::try_from(present.len()).unwrap_or(u32::MAX);
        self.attending = present.iter().map(|client| client.0).collect();
        self.present.push(n_present);
        Ok(output)
    }

    fn planned_sum(&self, query: &SumQuery) -> Option<(PlannedStep, PlannedSum)> {
        let planned = self.planned(query.step)?;
        let PlannedStep::Sum(sum) = planned else {
            return None;
        };
        let is_planned = sum.admits(&query.questions);
        is_planned.then(|| (planned.clone(), sum.clone()))
    }

    fn planned_choice(&self, query: &ChoiceQuery) -> Option<(PlannedStep, PlannedChoice)> {
        let planned = self.planned(query.step)?;
        let PlannedStep::Choice(choice) = planned else {
            return None;
        };
        let is_planned = choice.purchase.candidates as usize == query.scores.coordinates();
        is_planned.then(|| (planned.clone(), choice.clone()))
    }
}

type DrawnOrNot<P> = Result<DrawnShare<P>, NoiseParameterError>;

impl<R: RecordSource + Send> SumBackend for EmbeddedTrustees<'_, R> {
    type Error = TrusteesError;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, TrusteesError> {
        let found = || format!("a sum of {} blocks", query.questions.len());
        let (step, planned) = self
            .planned_sum(query)
            .ok_or_else(|| self.not_planned(found()))?;
        let step = self.trustee_step(&step)?;
        let purchase = SumPurchase {
            plan: planned.to_sum_plan(),
            origin: self.plan.origin,
            unit: self.plan.unit,
        };
        let permits = self.charge(&planned.purpose, &purchase)?;
        let noise = self.draw(permits, |permit, _, generator| {
            DrawnShare::for_sum(permit, generator)
        })?;
        let blocks = query.questions.iter().zip(&planned.blocks);
        let blocks: Vec<_> = blocks
            .map(|(question, planned)| AskedBlock { question, planned })
            .collect();
        let Output::Sums(values) = self.open_step(step, noise, &blocks)? else {
            return Err(self.not_planned(found()));
        };
        let sum = PrivateSum::assume_opened_by_trustees(purchase.plan, values, self.provenance())
            .ok_or_else(|| self.not_planned(found()))?;
        let clients = u32::try_from(self.clients.len()).unwrap_or(u32::MAX);
        let shares = NoiseOrigin::Trustees.most_shares();
        Ok(Answer::decode(&sum, &planned, shares).by_survivors(clients, &self.attending))
    }
}

impl<R: RecordSource + Send> ChoiceBackend for EmbeddedTrustees<'_, R> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, TrusteesError> {
        let found = || format!("a choice among {}", query.scores.coordinates());
        let (step, planned) = self
            .planned_choice(query)
            .ok_or_else(|| self.not_planned(found()))?;
        let step = self.trustee_step(&step)?;
        let permits = self.charge(&planned.purpose, &planned.purchase)?;
        let noise = self.draw(permits, DrawnShare::for_choice)?;
        let block = planned.score_block();
        let asked = [AskedBlock {
            question: &query.scores,
            planned: &block,
        }];
        match self.open_step(step, noise, &asked)? {
            Output::Index(index) => Ok(index as usize),
            Output::Sums(_) => Err(self.not_planned(found())),
        }
    }
}

impl<R> core::fmt::Debug for EmbeddedTrustees<'_, R> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (clients, step) = (self.clients.len(), self.next_step);
        write!(
            formatter,
            "EmbeddedTrustees({clients} clients, step {step})"
        )
    }
}

/// Identifies the study: its plan, its clients and the key of this run.
fn digest(plan: &Plan, units: &[u32], key: &PartyKey) -> Digest {
    let plan = serde_json::to_vec(plan).unwrap_or_default();
    let mut hash = Sha256::new_with_prefix(b"sprifed: embedded trustees")
        .chain_update(key.nonce().0)
        .chain_update((plan.len() as u64).to_le_bytes())
        .chain_update(plan);
    for units in units {
        hash.update(units.to_le_bytes());
    }
    Digest(hash.finalize().into())
}
