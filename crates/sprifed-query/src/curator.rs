//! One trusted party that holds all records and answers as the accounting says: integer grid,
//! exact noise, ledger first.

use sprifed_noise::{
    BoundedSum, DrawnNoise, DrawnSelection, NoiseGenerator, NoiseParameterError, OutOfBounds,
    Provenance, ReleaseError,
};
use sprifed_privacy::{Ledger, LedgerError, NoiseOrigin, PrivacyUnit, RecordPart, SumPurchase};

use crate::contribution::{AskedBlock, Contributor};
use crate::plan::{Plan, PlannedChoice, PlannedStep, PlannedSum};
use crate::procedure::{Answer, ChoiceBackend, ChoiceQuery, SumBackend, SumQuery};
use crate::records::RecordSource;

#[cfg(test)]
mod tests;

/// Why the curator did not answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CuratorError {
    /// The request is not the next step of the plan.
    #[error(
        "the procedure asked {found}, but step {step} of its plan is {planned:?}; this is a bug"
    )]
    NotPlanned {
        /// The request.
        found: String,
        /// Which step comes next.
        step: usize,
        /// What the plan says of it.
        planned: Option<String>,
    },
    /// The plan is for noise shares of many clients.
    #[error("the plan's noise comes from {found}, but a curator adds all of it alone")]
    OtherOrigin {
        /// The source of the noise.
        found: String,
    },
    /// The plan protects clients, but the records are not grouped by client.
    #[error("the plan protects each client, but the {records} records are not grouped by client")]
    Ungrouped {
        /// How many records there are, each a unit of its own.
        records: usize,
    },
    /// The ledger refused.
    #[error(transparent)]
    Ledger(Box<LedgerError>),
    /// The noise cannot be drawn.
    #[error(transparent)]
    Noise(Box<NoiseParameterError>),
    /// The release was refused.
    #[error(transparent)]
    Release(Box<ReleaseError>),
    /// A contribution did not fit.
    #[error(transparent)]
    Bounds(#[from] OutOfBounds),
}

impl From<LedgerError> for CuratorError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(Box::new(error))
    }
}

impl From<NoiseParameterError> for CuratorError {
    fn from(error: NoiseParameterError) -> Self {
        Self::Noise(Box::new(error))
    }
}

impl From<ReleaseError> for CuratorError {
    fn from(error: ReleaseError) -> Self {
        Self::Release(Box::new(error))
    }
}

/// Holds the records, the ledger and the noise of one run.
#[derive(Debug)]
pub struct Curator<S> {
    records: S,
    plan: Plan,
    ledger: Ledger,
    generator: NoiseGenerator,
    next_step: usize,
}

impl<S: RecordSource> Curator<S> {
    /// A curator that follows `plan`.
    ///
    /// # Errors
    /// When the plan's noise is not a curator's, or it protects clients and the records are not
    /// grouped by them.
    pub fn open(records: S, plan: Plan, generator: NoiseGenerator) -> Result<Self, CuratorError> {
        if plan.origin != NoiseOrigin::Curator {
            return Err(CuratorError::OtherOrigin {
                found: format!("{:?}", plan.origin),
            });
        }
        // Safety of the guarantee: ungrouped, every record of a client would enter on its own, and
        // a client with many would move the sum as often.
        if plan.unit == PrivacyUnit::Client && !records.is_grouped() {
            return Err(CuratorError::Ungrouped {
                records: records.n_units(),
            });
        }
        let ledger = Ledger::open(plan.budget, plan.relation, plan.unit);
        Ok(Self {
            records,
            plan,
            ledger,
            generator,
            next_step: 0,
        })
    }

    /// What has been spent so far.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Where the noise comes from.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        self.generator.provenance()
    }

    fn not_planned(&self, found: String) -> CuratorError {
        let planned = self.plan.steps.get(self.next_step).map(|step| match step {
            PlannedStep::Sum(sum) => sum.purpose.clone(),
            PlannedStep::Choice(choice) => choice.purpose.clone(),
        });
        CuratorError::NotPlanned {
            found,
            step: self.next_step,
            planned,
        }
    }

    fn planned_sum(&self, query: &SumQuery) -> Result<PlannedSum, CuratorError> {
        let found = || {
            format!(
                "a sum of {} blocks for step {}",
                query.questions.len(),
                query.step
            )
        };
        match self.plan.steps.get(self.next_step) {
            Some(PlannedStep::Sum(sum)) if query.step == self.next_step => {
                if sum.admits(&query.questions) {
                    Ok(sum.clone())
                } else {
                    Err(self.not_planned(found()))
                }
            }
            _ => Err(self.not_planned(found())),
        }
    }

    fn planned_choice(&self, query: &ChoiceQuery) -> Result<PlannedChoice, CuratorError> {
        let candidates = query.scores.coordinates();
        match self.plan.steps.get(self.next_step) {
            Some(PlannedStep::Choice(choice))
                if query.step == self.next_step
                    && choice.purchase.candidates as usize == candidates =>
            {
                Ok(choice.clone())
            }
            _ => {
                let found = format!("a choice among {candidates} for step {}", query.step);
                Err(self.not_planned(found))
            }
        }
    }

    /// The exact integer sum.
    fn total(
        &mut self,
        blocks: Vec<AskedBlock<'_>>,
        part: RecordPart,
    ) -> Result<BoundedSum, CuratorError> {
        if self.records.n_units() == 0 {
            return Err(self.not_planned("a sum without units".into()));
        }
        let contributor = Contributor::new(blocks, self.generator.dither_seed()).about(part);
        Ok(contributor.sum_of_all(&self.records)?)
    }
}

impl<S: RecordSource> SumBackend for Curator<S> {
    type Error = CuratorError;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, CuratorError> {
        let planned = self.planned_sum(query)?;
        let (origin, unit) = (self.plan.origin, self.plan.unit);
        let purchase = SumPurchase {
            plan: planned.to_sum_plan(),
            origin,
            unit,
        };
        let permit = self.ledger.spend(&planned.purpose, purchase)?;
        let noise = DrawnNoise::draw(permit, &mut self.generator)?;
        self.next_step += 1;
        let pairs = query.questions.iter().zip(&planned.blocks);
        let blocks = pairs
            .map(|(question, planned)| AskedBlock { question, planned })
            .collect();
        let noised = noise.release(self.total(blocks, planned.part)?)?;
        let found = "an answer that is only a share".to_owned();
        let sum = noised
            .into_private_sum()
            .ok_or(CuratorError::OtherOrigin { found })?;
        Ok(Answer::decode(&sum, &planned, 1))
    }
}

impl<S: RecordSource> ChoiceBackend for Curator<S> {
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, CuratorError> {
        let planned = self.planned_choice(query)?;
        let permit = self.ledger.spend(&planned.purpose, planned.purchase)?;
        let noise = DrawnSelection::draw(permit, &mut self.generator)?;
        self.next_step += 1;
        let block = planned.score_block();
        let asked = vec![AskedBlock {
            question: &query.scores,
            planned: &block,
        }];
        Ok(noise
            .choose(self.total(asked, planned.purchase.part)?)?
            .index)
    }
}
