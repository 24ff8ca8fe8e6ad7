//! The next question of a study: a sum or a choice.

use sprifed_query::{AskedBlock, ChoiceQuery, PlannedBlock, PlannedStep, Question, SumQuery};

/// What a procedure asks next.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Sums.
    Sum(SumQuery),
    /// The index of the largest score.
    Choice(ChoiceQuery),
}

impl Asked {
    /// Which step of the plan it is.
    #[must_use]
    pub const fn step(&self) -> usize {
        match self {
            Self::Sum(query) => query.step,
            Self::Choice(query) => query.step,
        }
    }

    /// What is asked, block by block.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        match self {
            Self::Sum(query) => &query.questions,
            Self::Choice(query) => core::slice::from_ref(&query.scores),
        }
    }

    /// The features and counts of the question, without floats.
    pub(crate) fn discrete_part(&self) -> Vec<u8> {
        match self {
            Self::Sum(query) => query.discrete_part(),
            Self::Choice(query) => query.discrete_part(),
        }
    }

    /// Whether it is what was planned, for records of this many features.
    pub(crate) fn is_planned(&self, planned: &PlannedStep, n_features: u32) -> bool {
        let fits = match (self, planned) {
            (Self::Sum(query), PlannedStep::Sum(sum)) => sum.admits(&query.questions),
            (Self::Choice(query), PlannedStep::Choice(choice)) => {
                choice.purchase.candidates as usize == query.scores.coordinates()
            }
            _ => false,
        };
        fits && self.questions().iter().all(|asked| asked.fits(n_features))
    }

    /// Each question with its block of the plan.
    pub(crate) fn asked_blocks<'a>(&'a self, blocks: &'a [PlannedBlock]) -> Vec<AskedBlock<'a>> {
        let pairs = self.questions().iter().zip(blocks);
        let asked = pairs.map(|(question, planned)| AskedBlock { question, planned });
        asked.collect()
    }
}

/// The blocks of a step: those of a sum, or the scores of a choice.
pub(crate) fn blocks_of(planned: &PlannedStep) -> Vec<PlannedBlock> {
    match planned {
        PlannedStep::Sum(sum) => sum.blocks.clone(),
        PlannedStep::Choice(choice) => vec![choice.score_block()],
    }
}
