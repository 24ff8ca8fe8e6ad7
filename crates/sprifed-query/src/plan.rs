//! The public plan: every question that will be asked, its noise and its cost, before any record
//! is touched.
//!
//! What a question is *about* (which features, which model) may depend on earlier answers; how many
//! coordinates it has and what noise it gets may not.

use num_rational::{BigRational, Ratio};
use num_traits::FromPrimitive;
use serde::{Deserialize, Serialize};
use sprifed_privacy::{
    ApproxDp, BallRequest, Block, BoxRequest, IllegalFraction, IllegalQuantity, IntegerBounds,
    LedgerLine, Mu, NoiseOrigin, NoiseVariance, PrivacyUnit, RangeBound, RecordPart, Relation,
    Rounding, SelectionLaw, SelectionPurchase, Spending, SumPlan, SumPurchase, Uncertifiable,
};

use crate::question::Question;

#[cfg(test)]
pub(crate) mod tests;

/// A plan that does not exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A grid does not exist.
    #[error(transparent)]
    Grid(#[from] IllegalFraction),
    /// A share of the budget is not legal.
    #[error(transparent)]
    Quantity(#[from] IllegalQuantity),
    /// A step has no certified cost.
    #[error(transparent)]
    Uncertifiable(#[from] Uncertifiable),
    /// The request makes no sense for this many features or records.
    #[error("{found}, but {required}")]
    Request {
        /// The request.
        found: String,
        /// What is possible.
        required: String,
    },
}

/// One block of a planned sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedBlock {
    /// Its integers and noise.
    pub block: Block,
    /// How many integers one normalised unit is.
    pub steps: f64,
    /// How values become integers.
    pub rounding: Rounding,
}

/// A sum that will be asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedSum {
    /// Its purpose, as text.
    pub purpose: String,
    /// Its blocks, one for each question.
    pub blocks: Vec<PlannedBlock>,
    /// The records that it is about.
    #[serde(default, skip_serializing_if = "RecordPart::is_all")]
    pub part: RecordPart,
}

/// A choice that will be asked for: the index of the largest score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedChoice {
    /// Its purpose, as text.
    pub purpose: String,
    /// Its candidates, bound and noise.
    pub purchase: SelectionPurchase,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedStep {
    /// A sum that any backend answers.
    Sum(PlannedSum),
    /// A choice that only a backend which never shows scores may make.
    Choice(PlannedChoice),
}

/// All questions of a procedure, with their noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The name of the procedure.
    pub procedure: String,
    /// The source of the noise.
    pub origin: NoiseOrigin,
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// Whose presence is protected.
    pub unit: PrivacyUnit,
    /// The budget.
    pub budget: ApproxDp,
    /// The steps, in order.
    pub steps: Vec<PlannedStep>,
}

impl PlannedBlock {
    /// The standard deviation of the noise on a sum with so many noise shares, in normalised units.
    #[must_use]
    pub fn noise_std_dev(&self, shares: u32) -> f64 {
        let variance = self.block.share_variance.to_f64() * f64::from(shares);
        variance.sqrt() / self.steps
    }

    /// Whether values become integers of this grid without bias: a plan that came from outside may say anything.
    #[must_use]
    pub fn has_legal_grid(&self) -> bool {
        (1.0..=f64::from(MOST_STEPS)).contains(&self.steps)
    }
}

impl PlannedStep {
    /// The records that it is about.
    #[must_use]
    pub const fn part(&self) -> RecordPart {
        match self {
            Self::Sum(sum) => sum.part,
            Self::Choice(choice) => choice.purchase.part,
        }
    }

    /// The same step about `part`.
    #[must_use]
    pub fn about(mut self, part: RecordPart) -> Self {
        match &mut self {
            Self::Sum(sum) => sum.part = part,
            Self::Choice(choice) => choice.purchase.part = part,
        }
        self
    }
}

impl PlannedSum {
    /// A sum about all records.
    #[must_use]
    pub const fn new(purpose: String, blocks: Vec<PlannedBlock>) -> Self {
        Self {
            purpose,
            blocks,
            part: RecordPart::All,
        }
    }

    /// Whether these questions are what was planned: one for each block, of its size, or smaller
    /// where only the norm is bounded (the rest of the block is then zero).
    #[must_use]
    pub fn admits(&self, questions: &[Question]) -> bool {
        let fits = |(question, planned): (&Question, &PlannedBlock)| {
            let (found, room) = (question.coordinates(), planned.block.coordinates as usize);
            match planned.block.bounds {
                IntegerBounds::Box { .. } => found == room,
                IntegerBounds::Ball { .. } => found <= room,
            }
        };
        questions.len() == self.blocks.len() && questions.iter().zip(&self.blocks).all(fits)
    }

    /// The sum as the ledger knows it.
    #[must_use]
    pub fn to_sum_plan(&self) -> SumPlan {
        SumPlan {
            blocks: self
                .blocks
                .iter()
                .map(|planned| planned.block.clone())
                .collect(),
            part: self.part,
        }
    }
}

impl PlannedChoice {
    /// Integer steps of a score for one unit. The discreteness of the noise costs 0.4 % of the range
    /// with a curator's 512 steps and 1.6 % with the 63 and 127 of trustees.
    #[must_use]
    pub const fn score_steps(&self) -> u32 {
        self.purchase.score_bound
    }

    /// The grid of its scores. Its share variance is never used: a choice has noise of its own.
    #[must_use]
    pub fn score_block(&self) -> PlannedBlock {
        let bounds = IntegerBounds::Box {
            bound: u64::from(self.score_steps()),
            squares: 0,
        };
        let block = Block {
            name: self.purpose.clone(),
            coordinates: self.purchase.candidates,
            bounds,
            share_variance: NoiseVariance::one(),
        };
        PlannedBlock {
            block,
            steps: f64::from(self.score_steps()),
            rounding: Rounding::Dithered,
        }
    }
}

impl Plan {
    /// What all steps cost together.
    ///
    /// # Errors
    /// When a step has no certified cost.
    pub fn spending(&self) -> Result<Spending, Uncertifiable> {
        let add = |spending: Spending, step: &PlannedStep| {
            spending.and_about(step.part(), self.line(step).expense(self.relation)?)
        };
        self.steps.iter().try_fold(Spending::default(), add)
    }

    /// What the ledger is charged for `step`.
    #[must_use]
    pub fn line(&self, step: &PlannedStep) -> LedgerLine {
        match step {
            PlannedStep::Sum(sum) => {
                let (plan, origin, unit) = (sum.to_sum_plan(), self.origin, self.unit);
                LedgerLine::Sum(SumPurchase { plan, origin, unit })
            }
            PlannedStep::Choice(choice) => LedgerLine::Selection(choice.purchase),
        }
    }

    /// How many integers a backend adds up in all.
    #[must_use]
    pub fn coordinates(&self) -> u64 {
        let of_step = |step: &PlannedStep| match step {
            PlannedStep::Sum(sum) => sum.to_sum_plan().coordinates(),
            PlannedStep::Choice(choice) => u64::from(choice.purchase.candidates),
        };
        self.steps.iter().map(of_step).sum()
    }
}

/// Makes blocks for one origin of noise and one relation.
#[derive(Clone, Copy, Debug)]
pub struct Planner {
    /// The source of the noise.
    pub origin: NoiseOrigin,
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// Whose contributions are bounded one by one.
    pub unit: PrivacyUnit,
}

impl Planner {
    /// A block of contributions of norm at most one, at a cost of at most `cost`.
    ///
    /// # Errors
    /// When no grid exists.
    pub fn ball(
        self,
        name: &str,
        coordinates: usize,
        cost: Mu,
        rounding: Rounding,
    ) -> Result<PlannedBlock, PlanError> {
        let request = BallRequest {
            name: name.to_owned(),
            coordinates: as_u32(coordinates)?,
            cost,
            rounding,
        };
        let (block, steps) = request.plan(self.origin, self.relation)?;
        check_steps(steps)?;
        Ok(PlannedBlock {
            block,
            steps,
            rounding,
        })
    }

    /// A block of contributions within [−1, 1] for each coordinate, at a cost of at most `cost`.
    ///
    /// # Errors
    /// When no grid exists.
    #[expect(
        clippy::cast_precision_loss,
        reason = "an integer bound far below 2^53"
    )]
    pub fn boxed(
        self,
        name: &str,
        coordinates: usize,
        squares: u32,
        cost: Mu,
    ) -> Result<PlannedBlock, PlanError> {
        let not_a_fraction = || IllegalFraction {
            found: cost.to_string(),
            required: "a cost that is an exact fraction",
        };
        let coordinates = as_u32(coordinates)?;
        let exact = BigRational::from_f64(cost.get()).ok_or_else(not_a_fraction)?;
        let moved = u64::from(coordinates) * u64::from(self.relation.sum_moves_by()).pow(2);
        let moved = BigRational::from_u64(moved).ok_or_else(not_a_fraction)?;
        let request = BoxRequest {
            name: name.to_owned(),
            coordinates,
            squares,
            relative_variance: moved / (&exact * &exact),
        };
        let block = request.plan_within(self.origin)?;
        let steps = block.bounds.coordinate_bound() as f64;
        check_steps(steps)?;
        Ok(PlannedBlock {
            block,
            steps,
            rounding: Rounding::Dithered,
        })
    }

    /// A choice among `candidates` whose scores take [−1, 1] from each unit, at a range of at most
    /// `range`. Trustees deal Euler noise.
    ///
    /// # Errors
    /// When the range is too small for the noise to be written down, or trustees cannot deal it.
    pub fn choice(
        self,
        purpose: &str,
        candidates: usize,
        range: RangeBound,
    ) -> Result<PlannedChoice, PlanError> {
        let law = match self.origin {
            NoiseOrigin::Curator | NoiseOrigin::Shares(_) => SelectionLaw::Curator,
            NoiseOrigin::Trustees => SelectionLaw::Euler,
        };
        self.choice_by(law, purpose, candidates, range)
    }

    /// As [`Self::choice`], with noise of this `law`.
    ///
    /// # Errors
    /// As [`Self::choice`].
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked against the range of 32 bits before"
    )]
    pub fn choice_by(
        self,
        law: SelectionLaw,
        purpose: &str,
        candidates: usize,
        range: RangeBound,
    ) -> Result<PlannedChoice, PlanError> {
        let steps = law.score_steps();
        let moves = f64::from(self.relation.sum_moves_by()) * f64::from(steps);
        // The range at a rate of one is a small integer: exact.
        let rate = (range.get() / law.range(1.0, moves) * f64::from(RATE_STEPS)).floor();
        let is_written = rate >= 1.0 && rate < f64::from(u32::MAX);
        if !(is_written && law.serves(Ratio::new_raw(rate as u32, RATE_STEPS))) {
            return Err(beyond_noise(law, moves, range));
        }
        let purchase = SelectionPurchase {
            candidates: as_u32(candidates)?,
            score_bound: steps,
            noise_rate: (rate as u32, RATE_STEPS),
            law,
            unit: self.unit,
            part: RecordPart::All,
        };
        Ok(PlannedChoice {
            purpose: purpose.to_owned(),
            purchase,
        })
    }
}

/// Refuses a choice whose noise cannot be dealt: it is found here, before anything is spent.
fn beyond_noise(law: SelectionLaw, moves: f64, range: RangeBound) -> PlanError {
    let at_one = law.range(1.0, moves);
    let (least, among) = match law.is_curator() {
        true => (at_one / f64::from(RATE_STEPS), ""),
        false => (at_one / 16_384.0, " among trustees"),
    };
    let most = at_one * f64::from(law.largest_rate());
    let advice = match range.get() > most {
        true => "spend less",
        false => "ask for fewer choices or spend more",
    };
    PlanError::Request {
        found: format!("a choice of range {range}{among}"),
        required: format!("a range between {least} and {most} is possible; {advice}"),
    }
}

const RATE_STEPS: u32 = 1 << 24;

/// The most integer steps that values in single precision round to without bias.
const MOST_STEPS: u32 = 1 << 22;

fn check_steps(steps: f64) -> Result<(), PlanError> {
    if steps <= f64::from(MOST_STEPS) {
        return Ok(());
    }
    Err(PlanError::Request {
        found: format!("a grid of {steps:.0} steps"),
        required: format!("at most {MOST_STEPS} are possible; ask for more noise"),
    })
}

fn as_u32(count: usize) -> Result<u32, PlanError> {
    u32::try_from(count).map_err(|_| PlanError::Request {
        found: format!("{count} coordinates"),
        required: "at most 2^32 are possible".to_owned(),
    })
}
