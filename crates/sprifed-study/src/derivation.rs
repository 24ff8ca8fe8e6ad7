//! Derives the next question of a study from the agreement and the released sums alone.
//!
//! The coordinator and every party have one of these. None of them sends questions to another: a
//! procedure is a function of the plan and of integers that all of them know.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use sprifed_noise::PrivateSum;
use sprifed_privacy::{Decision, NoiseOrigin};
use sprifed_query::{Answer, ChoosingProcedure, ChoosingStep, PlanError, Procedure, Step};
use sprifed_recovery::{AnyChoosing, CertifiedProcedure, Fit, Ready, SummingProcedure};
use sprifed_trustees::Step as TrusteeStep;

use crate::agreement::{Agreed, AgreedTrustees};
use crate::asked::Asked;
use crate::hexadecimal::Digest;
use crate::transcript::{Released, Transcript};

#[cfg(test)]
mod tests;

/// Why the questions of a study cannot be derived.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotDerive {
    /// The procedure has no plan for this setting.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The procedure needs choices, and the study has no trustees.
    #[error("{0} needs choices, which secure sums do not make; name three trustees")]
    NeedsChoices(CertifiedProcedure),
    /// The procedure asks something that is not in the plan of the agreement.
    #[error(
        "the procedure asks {found} for step {step}, which the agreement's plan does not have; \
         the plan was made by another program"
    )]
    NotPlanned {
        /// Which step.
        step: usize,
        /// What it asks.
        found: String,
    },
}

/// A sum that is not the next one of the transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sum {sum} cannot follow: {what} is {found}, but {required} is required")]
pub struct NotNext {
    /// Which sum.
    pub sum: u32,
    /// What is wrong.
    pub what: &'static str,
    /// What was found.
    pub found: String,
    /// What is required.
    pub required: String,
}

/// See the module.
#[derive(Debug)]
pub struct Derivation {
    agreed: Arc<Agreed>,
    transcript: Transcript,
    state: State,
}

#[derive(Debug)]
enum State {
    Asks(Asked, Waiting),
    Done(Box<Fit>),
    /// Its question is not in the plan.
    Broken(CannotDerive),
    /// Only inside a transition.
    Moving,
}

/// The procedure that waits for the answer.
#[derive(Debug)]
enum Waiting {
    Sums(Box<SummingProcedure>),
    Choices(Box<AnyChoosing>),
}

/// What a procedure is resumed with.
enum Resume {
    Answer(Answer),
    Index(usize),
}

impl Derivation {
    /// Before the first sum.
    ///
    /// # Errors
    /// When the procedure cannot begin, or its first question is not in the plan.
    pub fn begin(agreed: Arc<Agreed>) -> Result<Self, CannotDerive> {
        let agreement = agreed.agreement();
        let begun = match agreement.procedure.begin(&agreement.setting)? {
            Ready::Choices(_) if agreed.trustees().is_none() => {
                return Err(CannotDerive::NeedsChoices(agreement.procedure));
            }
            Ready::Sums(procedure) => after_sum(procedure.start()),
            Ready::Choices(procedure) => after_choosing(procedure.start()),
        };
        let mut derivation = Self {
            transcript: Transcript::begin(agreed.digest()),
            agreed,
            state: State::Moving,
        };
        derivation.state = derivation.checked(begun);
        match derivation.state {
            State::Broken(error) => Err(error),
            _ => Ok(derivation),
        }
    }

    /// The next question, unless there is none.
    #[must_use]
    pub const fn query(&self) -> Option<&Asked> {
        match &self.state {
            State::Asks(query, _) => Some(query),
            State::Done(_) | State::Broken(_) | State::Moving => None,
        }
    }

    /// The digest of the discrete part of the next question: which features, how many of what.
    ///
    /// Limits and coefficients are not in it. They may differ in their last bits between processors,
    /// which changes no decision and no noise.
    #[must_use]
    pub fn question(&self) -> Option<Digest> {
        let hash = Sha256::new_with_prefix(b"sprifed: question");
        let part = self.query()?.discrete_part();
        Some(Digest(hash.chain_update(part).finalize().into()))
    }

    /// The model, once the last sum was released.
    #[must_use]
    pub fn fit(&self) -> Option<&Fit> {
        match &self.state {
            State::Done(fit) => Some(fit),
            State::Asks(..) | State::Broken(_) | State::Moving => None,
        }
    }

    /// Why there is neither a question nor a model.
    #[must_use]
    pub const fn problem(&self) -> Option<&CannotDerive> {
        match &self.state {
            State::Broken(problem) => Some(problem),
            State::Asks(..) | State::Done(_) | State::Moving => None,
        }
    }

    /// The sums that were released.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Whether `released` may be the next sum.
    ///
    /// # Errors
    /// With what is wrong about it.
    pub fn check(&self, released: &Released) -> Result<(), NotNext> {
        let sum = released.sum;
        let not_next = |what, found: String, required: String| NotNext {
            sum,
            what,
            found,
            required,
        };
        let required = self.query().map(Asked::step);
        let found = self.agreed.step_of(sum).map(|(step, _)| step);
        if found.is_none() || found != required {
            let text = |step: Option<usize>| step.map_or("none".to_owned(), |s| s.to_string());
            return Err(not_next("its step", text(found), text(required)));
        }
        match self.agreed.trustees() {
            Some(trustees) => self.check_opened(released, trustees),
            None => self.check_unmasked(released),
        }
        .map_err(|(what, found, required)| not_next(what, found, required))
    }

    /// A masked sum: enough survivors, and values that its modulus can have.
    fn check_unmasked(&self, released: &Released) -> Result<(), Wrong> {
        let other = |what| (what, "another".to_owned(), "one of the plan".to_owned());
        if released.trustees.is_some() || !released.outside.is_empty() {
            return Err(other("its origin"));
        }
        let (participation, study) = (self.agreed.participation(), self.agreed.study());
        let shape = study.and_then(|study| study.sum(released.sum));
        let (Some(participation), Some(shape)) = (participation, shape) else {
            return Err(other("the sum"));
        };
        let survivors = &released.survivors;
        let ascend = survivors.is_sorted_by(|one, next| one < next);
        let invited = survivors.iter().all(|id| *id < participation.clients());
        let count = u32::try_from(survivors.len()).unwrap_or(u32::MAX);
        if !ascend || !invited || participation.decide(count) != Ok(Decision::Release) {
            let found = format!("{survivors:?}");
            let quorum = participation.quorum();
            let required = format!("at least {quorum} invited parties, each once and in order,");
            return Err(("the list of survivors", found, required));
        }
        check_values(&released.values, shape.coordinates() as usize, shape.bits())
    }

    /// What trustees opened: three signatures, and values that the step can have.
    fn check_opened(&self, released: &Released, trustees: &AgreedTrustees) -> Result<(), Wrong> {
        if released.survivors.is_empty() {
            let required = "at least one party".to_owned();
            return Err(("the outcome", "one of no party".to_owned(), required));
        }
        if !self.agreed.is_opened(released, self.transcript.head()) {
            let found = "not what three trustees signed".to_owned();
            let required = "the signatures of all three for this outcome".to_owned();
            return Err(("the outcome", found, required));
        }
        let step = self.agreed.step_of(released.sum);
        match step
            .and_then(|(step, _)| trustees.step(step))
            .map(|step| &**step)
        {
            Some(step @ TrusteeStep::Sum(_)) => check_values(
                &released.values,
                step.n_numbers() as usize,
                step.noise_bits(),
            ),
            Some(step @ TrusteeStep::Choice(_)) => {
                let chosen = released.values.first().copied().unwrap_or(-1);
                let candidates = i64::from(step.n_numbers());
                match released.values.len() == 1 && (0..candidates).contains(&chosen) {
                    true => Ok(()),
                    false => {
                        let required = format!("one index below {candidates}");
                        Err(("the choice", format!("{:?}", released.values), required))
                    }
                }
            }
            None => Err(("the step", "none".to_owned(), "one of the plan".to_owned())),
        }
    }

    /// Takes the next released sum.
    ///
    /// # Errors
    /// When it is not the next one; nothing has changed then.
    pub fn take(&mut self, released: Released) -> Result<(), NotNext> {
        self.check(&released)?;
        let resume = self.decode(&released);
        let State::Asks(asked, waiting) = core::mem::replace(&mut self.state, State::Moving) else {
            return Ok(());
        };
        self.transcript.push(released);
        let next = match (resume, waiting) {
            (Some(Resume::Answer(answer)), Waiting::Sums(waiting)) => {
                after_sum(waiting.resume(answer))
            }
            (Some(Resume::Answer(answer)), Waiting::Choices(waiting)) => {
                after_choosing(waiting.resume(answer))
            }
            (Some(Resume::Index(index)), Waiting::Choices(waiting)) => {
                after_choosing(waiting.chosen(index))
            }
            (None | Some(Resume::Index(_)), _) => State::Broken(CannotDerive::NotPlanned {
                step: asked.step(),
                found: "an answer of another kind".to_owned(),
            }),
        };
        self.state = self.checked(next);
        Ok(())
    }

    fn decode(&self, released: &Released) -> Option<Resume> {
        let step = self.query()?.step();
        let Some(planned) = self.agreed.step(step) else {
            let index = released.values.first()?;
            return Some(Resume::Index(usize::try_from(*index).ok()?));
        };
        let (plan, values) = (planned.to_sum_plan(), released.values.clone());
        let provenance = self.agreed.agreement().noise;
        let (sum, shares) = match self.agreed.participation() {
            None => (
                PrivateSum::assume_opened_by_trustees(plan, values, provenance)?,
                NoiseOrigin::Trustees.most_shares(),
            ),
            Some(participation) => {
                let survivors = u32::try_from(released.survivors.len()).ok()?;
                let sum = PrivateSum::assume_unmasked_from(
                    survivors,
                    participation,
                    plan,
                    values,
                    provenance,
                )?;
                (sum, survivors)
            }
        };
        let answer = Answer::decode(&sum, planned, shares);
        let parties = u32::try_from(self.agreed.agreement().parties.len()).ok()?;
        let answer = answer.by_survivors(parties, &released.survivors);
        Some(Resume::Answer(answer))
    }

    /// Refuses a question that is not in the plan.
    fn checked(&self, state: State) -> State {
        let State::Asks(asked, waiting) = state else {
            return state;
        };
        let (step, required) = (asked.step(), self.transcript.released().len());
        let n_features = self.agreed.agreement().setting.n_columns();
        let planned = self.agreed.planned(step);
        let is_planned = planned.is_some_and(|planned| asked.is_planned(planned, n_features));
        if step == required && is_planned {
            return State::Asks(asked, waiting);
        }
        let found = format!("{} questions", asked.questions().len());
        State::Broken(CannotDerive::NotPlanned { step, found })
    }
}

/// What is wrong, what was found and what is required.
type Wrong = (&'static str, String, String);

fn check_values(values: &[i64], required: usize, bits: u32) -> Result<(), Wrong> {
    let found = values.len();
    if found != required {
        let (found, required) = (found.to_string(), required.to_string());
        return Err(("the number of values", found, required));
    }
    let most = 1u64 << (bits - 1);
    match values.iter().find(|value| value.unsigned_abs() > most) {
        None => Ok(()),
        Some(value) => {
            let required = format!("at most {most} in size");
            Err(("a value", value.to_string(), required))
        }
    }
}

fn after_sum(step: Step<SummingProcedure>) -> State {
    match step {
        Step::Done(fit) => State::Done(Box::new(fit)),
        Step::Ask(query, waiting) => {
            State::Asks(Asked::Sum(query), Waiting::Sums(Box::new(waiting)))
        }
    }
}

fn after_choosing(step: ChoosingStep<AnyChoosing>) -> State {
    match step {
        ChoosingStep::Done(fit) => State::Done(Box::new(fit)),
        ChoosingStep::Ask(query, waiting) => {
            State::Asks(Asked::Sum(query), Waiting::Choices(Box::new(waiting)))
        }
        ChoosingStep::Choose(query, waiting) => {
            State::Asks(Asked::Choice(query), Waiting::Choices(Box::new(waiting)))
        }
    }
}
