//! Derives the next question of a study from the agreement and the released sums alone.
//!
//! The coordinator and every party have one of these. None of them sends questions to another: a
//! procedure is a function of the plan and of integers that all of them know.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use sprifed_noise::PrivateSum;
use sprifed_privacy::Decision;
use sprifed_query::{Answer, PlanError, Procedure, Step, SumQuery};
use sprifed_recovery::{CertifiedProcedure, Fit, Ready, SummingProcedure};

use crate::agreement::Agreed;
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
    /// The procedure needs choices, which sums do not make.
    #[error("{0} needs choices, which secure sums do not make")]
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
    Asks(SumQuery, Box<SummingProcedure>),
    Done(Box<Fit>),
    /// Its question is not in the plan.
    Broken(CannotDerive),
    /// Only inside a transition.
    Moving,
}

impl Derivation {
    /// Before the first sum.
    ///
    /// # Errors
    /// When the procedure cannot begin, or its first question is not in the plan.
    pub fn begin(agreed: Arc<Agreed>) -> Result<Self, CannotDerive> {
        let agreement = agreed.agreement();
        let Ready::Sums(procedure) = agreement.procedure.begin(&agreement.setting)? else {
            return Err(CannotDerive::NeedsChoices(agreement.procedure));
        };
        let mut derivation = Self {
            transcript: Transcript::begin(agreed.digest()),
            agreed,
            state: State::Moving,
        };
        derivation.state = derivation.state_after(procedure.start());
        match derivation.state {
            State::Broken(error) => Err(error),
            _ => Ok(derivation),
        }
    }

    /// The next question, unless there is none.
    #[must_use]
    pub const fn query(&self) -> Option<&SumQuery> {
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
        let required = self.query().map(|query| query.step);
        let found = self.agreed.step_of(sum).map(|(step, _)| step);
        if found.is_none() || found != required {
            let text = |step: Option<usize>| step.map_or("none".to_owned(), |s| s.to_string());
            return Err(not_next("its step", text(found), text(required)));
        }
        let participation = self.agreed.participation();
        let survivors = &released.survivors;
        let ascend = survivors.is_sorted_by(|one, next| one < next);
        let invited = survivors.iter().all(|id| *id < participation.clients());
        let count = u32::try_from(survivors.len()).unwrap_or(u32::MAX);
        if !ascend || !invited || participation.decide(count) != Ok(Decision::Release) {
            let found = format!("{survivors:?}");
            let quorum = participation.quorum();
            let required = format!("at least {quorum} invited parties, each once and in order,");
            return Err(not_next("the list of survivors", found, required));
        }
        let Some(shape) = self.agreed.study().sum(sum) else {
            return Err(not_next(
                "the sum",
                "none".to_owned(),
                "one of the plan".to_owned(),
            ));
        };
        let (found, required) = (released.values.len(), shape.coordinates() as usize);
        if found != required {
            let (found, required) = (found.to_string(), required.to_string());
            return Err(not_next("the number of values", found, required));
        }
        let most = 1u64 << (shape.bits() - 1);
        if let Some(value) = released.values.iter().find(|v| v.unsigned_abs() > most) {
            let required = format!("at most {most} in size");
            return Err(not_next("a value", value.to_string(), required));
        }
        Ok(())
    }

    /// Takes the next released sum.
    ///
    /// # Errors
    /// When it is not the next one; nothing has changed then.
    pub fn take(&mut self, released: Released) -> Result<(), NotNext> {
        self.check(&released)?;
        let answer = self.decode(&released);
        let State::Asks(query, waiting) = core::mem::replace(&mut self.state, State::Moving) else {
            return Ok(());
        };
        self.transcript.push(released);
        self.state = match answer {
            Some(answer) => self.state_after(waiting.resume(answer)),
            None => State::Broken(CannotDerive::NotPlanned {
                step: query.step,
                found: "a sum of another length".to_owned(),
            }),
        };
        Ok(())
    }

    fn decode(&self, released: &Released) -> Option<Answer> {
        let planned = self.agreed.step(self.query()?.step)?;
        let survivors = u32::try_from(released.survivors.len()).ok()?;
        let sum = PrivateSum::assume_unmasked_from(
            survivors,
            self.agreed.participation(),
            planned.to_sum_plan(),
            released.values.clone(),
            self.agreed.agreement().noise,
        )?;
        Some(Answer::decode(&sum, planned, survivors))
    }

    fn state_after(&self, step: Step<SummingProcedure>) -> State {
        match step {
            Step::Done(fit) => State::Done(Box::new(fit)),
            Step::Ask(query, waiting) => {
                let (step, required) = (query.step, self.transcript.released().len());
                let n_features = self.agreed.agreement().setting.n_features;
                let planned = self.agreed.step(step).filter(|planned| {
                    step == required
                        && planned.admits(&query.questions)
                        && query.questions.iter().all(|asked| asked.fits(n_features))
                });
                if planned.is_some() {
                    return State::Asks(query, Box::new(waiting));
                }
                let found = format!("{} questions", query.questions.len());
                State::Broken(CannotDerive::NotPlanned { step, found })
            }
        }
    }
}
