//! A search for parameters that is paid for: every candidate is run and scored within one budget.

use sprifed_privacy::Mu;
use sprifed_query::{
    Answer, Plan, PlanError, PlannedStep, Procedure, SCALE_BUCKETS, Step, SumQuery,
};

use super::schedule::{DescentCosts, sum};
use super::{Baseline, Descent};
use sprifed_recovery::Fit;
use sprifed_recovery::{Setting, share_of};

/// The share of μ² for the scores.
const SCORE_SHARE: f64 = 0.02;

/// A search among several candidates, waiting for an answer.
///
/// Every candidate is run to its end with an equal part of the budget, then asked for the scale of
/// the residual that its model leaves. The fit of smallest scale wins.
///
/// # Guarantee
/// All fits and all scores together cost what [`Tuned::plan`] says, so whichever is kept and whether
/// or not the others are published, no more than the budget is spent.
///
/// # Why
/// Gaussian composition [DRS19, Cor. 3.3]: μ² adds up. A bound for private selection that charges less
/// would need a random number of candidates, which a public plan of fixed steps does not have.
#[derive(Clone, Debug)]
pub struct Tuned {
    setting: Setting,
    /// Those not yet started, the next one last.
    waiting: Vec<Baseline>,
    running: Running,
    /// Steps of the plan that belong to candidates already done.
    done_steps: usize,
    next_step: usize,
    best: Option<Chosen>,
}

/// What a search ends with.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The candidate that won.
    pub baseline: Baseline,
    /// Its fit.
    pub fit: Fit,
    /// The private scale of the residual it leaves.
    pub scale: f64,
}

#[derive(Clone, Debug)]
enum Running {
    Candidate(Baseline, Box<Descent>),
    Score(Baseline, Box<Fit>),
}

impl Tuned {
    /// A search among `candidates`.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(setting: Setting, candidates: &[Baseline]) -> Result<Self, PlanError> {
        let mut waiting: Vec<Baseline> = candidates.iter().rev().copied().collect();
        let first = waiting.pop().ok_or_else(no_candidates)?;
        Ok(Self {
            setting,
            waiting,
            running: Running::Candidate(first, Box::new(Descent::new(setting, first))),
            done_steps: 0,
            next_step: 0,
            best: None,
        })
    }

    /// The plan of a search among `candidates`.
    ///
    /// # Guarantee
    /// It costs at most the budget, under the setting's relation.
    ///
    /// # Errors
    /// When there are no candidates, one is illegal or no grid exists.
    pub fn plan(setting: &Setting, candidates: &[Baseline]) -> Result<Plan, PlanError> {
        let count = u32::try_from(candidates.len()).map_err(|_| no_candidates())?;
        if count == 0 {
            return Err(no_candidates());
        }
        let total = setting.total_mu()?;
        let score: Mu = share_of(total, SCORE_SHARE, count)?;
        let each = share_of(total, 1.0 - SCORE_SHARE, count)?;
        let mut steps: Vec<PlannedStep> = Vec::new();
        for baseline in candidates {
            steps.extend(DescentCosts::of(setting, baseline, each)?.steps(setting, baseline)?);
            let rounding = setting.count_rounding();
            let block = setting
                .planner()
                .ball("scale", SCALE_BUCKETS, score, rounding)?;
            steps.push(sum("score of the candidate".to_owned(), vec![block]));
        }
        let title = format!("the best of {count} candidates, charged for all");
        Ok(setting.plan(&title, steps))
    }

    /// Passes a candidate's question on, under its number in the whole plan.
    fn pass_on(mut self, baseline: Baseline, step: Step<Descent>) -> Step<Self> {
        match step {
            Step::Ask(mut query, descent) => {
                query.step += self.done_steps;
                self.next_step = query.step + 1;
                self.running = Running::Candidate(baseline, Box::new(descent));
                Step::Ask(query, self)
            }
            Step::Done(fit) => self.ask_score(baseline, fit),
        }
    }

    fn ask_score(mut self, baseline: Baseline, fit: Fit) -> Step<Self> {
        let question = self.setting.scale_question(fit.model.clone());
        let step = self.next_step;
        self.done_steps = step + 1;
        self.running = Running::Score(baseline, Box::new(fit));
        let questions = vec![question];
        Step::Ask(SumQuery { step, questions }, self)
    }

    fn take_score(mut self, baseline: Baseline, fit: Fit, answer: &Answer) -> Step<Self> {
        let block = answer.blocks.first();
        let scale = block.map_or(f64::INFINITY, |block| self.setting.scale_of(block));
        let chosen = match self.best.take() {
            Some(best) if best.scale <= scale => best,
            _ => Chosen {
                baseline,
                fit,
                scale,
            },
        };
        match self.waiting.pop() {
            Some(next) => {
                self.best = Some(chosen);
                let descent = Descent::new(self.setting, next);
                self.pass_on(next, descent.start())
            }
            None => Step::Done(chosen),
        }
    }
}

impl Procedure for Tuned {
    type Fit = Chosen;

    fn start(self) -> Step<Self> {
        match self.running.clone() {
            Running::Candidate(baseline, descent) => self.pass_on(baseline, descent.start()),
            Running::Score(baseline, fit) => self.ask_score(baseline, *fit),
        }
    }

    fn resume(self, answer: Answer) -> Step<Self> {
        match self.running.clone() {
            Running::Candidate(baseline, descent) => self.pass_on(baseline, descent.resume(answer)),
            Running::Score(baseline, fit) => self.take_score(baseline, *fit, &answer),
        }
    }
}

fn no_candidates() -> PlanError {
    PlanError::Request {
        found: "a search among no candidates".to_owned(),
        required: "at least one is required".to_owned(),
    }
}
