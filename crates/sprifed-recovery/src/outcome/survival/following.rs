//! A linear procedure that is told martingale residuals: the times are asked before it, and Cox's model after it.
//!
//! # Why
//! The procedure itself knows nothing of times. It sees a bounded response, whose questions are wrapped, and it ends with
//! the features to keep. So every procedure can select for times to an event.

use core::ops::ControlFlow;

use sprifed_query::{
    Answer, AnswerBlock, ChoiceQuery, ChoosingProcedure, ChoosingStep, Procedure, Question, Step,
    SumQuery,
};

use super::baseline::{Baseline, Counted};
use super::cox::{CoxRefit, Next};
use crate::fit::Fit;
use crate::opening::Opening;
use crate::setting::Setting;

/// A procedure, and what is asked before and after it.
#[derive(Clone, Debug)]
pub(crate) enum Following<P> {
    /// The times are asked, and the procedure has not begun.
    Times(P, Times),
    /// The procedure waits for an answer about residuals.
    Selecting(P, Box<Residuals>),
    /// The refit waits for one.
    Refitting(Box<Refitting>),
}

/// The times, before they are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    setting: Setting,
    /// The next step of the plan.
    step: usize,
}

/// What residuals are made with.
#[derive(Clone, Debug)]
pub(crate) struct Residuals {
    times: Times,
    baseline: Baseline,
    /// What the procedure's first answer said of the features.
    opening: Option<Opening>,
}

/// The refit, and the next step of the plan.
#[derive(Clone, Debug)]
pub(crate) struct Refitting {
    refit: Box<CoxRefit>,
    step: usize,
}

impl Times {
    fn ask(&mut self) -> SumQuery {
        SumQuery::next(&mut self.step, super::questions(None))
    }

    /// What follows from the answer to [`Self::ask`].
    fn residuals(self, answer: &Answer) -> Box<Residuals> {
        let none = AnswerBlock {
            values: Vec::new(),
            noise_std_dev: 0.0,
        };
        let block = |place: usize| answer.blocks.get(place).unwrap_or(&none);
        let records = self.setting.n_records;
        Box::new(Residuals {
            times: self,
            baseline: Baseline::of(block(0), block(1), Counted::AsOne, records),
            opening: None,
        })
    }
}

impl Residuals {
    fn about(&self, question: Question) -> Question {
        Question::Martingale {
            hazard: self.baseline.released(),
            question: Box::new(question),
        }
    }

    /// The same sum about residuals.
    fn sum(&mut self, query: SumQuery) -> SumQuery {
        let questions = query.questions.into_iter();
        let questions = questions.map(|question| self.about(question)).collect();
        SumQuery::next(&mut self.times.step, questions)
    }

    /// The same choice about residuals.
    fn choice(&mut self, query: ChoiceQuery) -> ChoiceQuery {
        let step = self.times.step;
        self.times.step += 1;
        ChoiceQuery {
            step,
            scores: self.about(query.scores),
        }
    }

    /// Looks at the first answer before the procedure does.
    fn watch(&mut self, answer: &Answer) {
        if self.opening.is_none() {
            self.opening = Some(self.times.setting.centre_of(answer));
        }
    }

    /// The refit of what the procedure ended with.
    fn refit(self, fit: Fit) -> (SumQuery, Box<Refitting>) {
        let Times { setting, mut step } = self.times;
        let opening = self.opening.unwrap_or_else(|| Opening::before(&setting));
        let refit = CoxRefit::of(fit, &self.baseline, &opening, setting.n_records);
        let query = SumQuery::next(&mut step, refit.questions());
        let refit = Box::new(refit);
        (query, Box::new(Refitting { refit, step }))
    }
}

impl Refitting {
    /// The next question, or the fit.
    fn resume(mut self, answer: &Answer) -> ControlFlow<Box<Fit>, (SumQuery, Box<Self>)> {
        match self.refit.resume(answer) {
            Next::Done(fit) => ControlFlow::Break(fit),
            Next::Ask(questions, refit) => {
                let query = SumQuery::next(&mut self.step, questions);
                ControlFlow::Continue((query, Box::new(Self { refit, ..self })))
            }
        }
    }

    /// What it would have refitted. A run starts once and asks for no choice here, so no backend comes to this.
    fn unfinished(self) -> Fit {
        self.refit.unfinished()
    }
}

impl<P> Following<P> {
    /// `procedure`, about to begin, with this setting.
    pub(crate) const fn new(procedure: P, setting: Setting) -> Self {
        Self::Times(procedure, Times { setting, step: 0 })
    }
}

impl<P: Procedure<Fit = Fit>> Following<P> {
    fn after_sums(step: Step<P>, mut residuals: Box<Residuals>) -> Step<Self> {
        match step {
            Step::Ask(query, waiting) => {
                Step::Ask(residuals.sum(query), Self::Selecting(waiting, residuals))
            }
            Step::Done(fit) => {
                let (query, refitting) = residuals.refit(fit);
                Step::Ask(query, Self::Refitting(refitting))
            }
        }
    }
}

impl<P: Procedure<Fit = Fit>> Procedure for Following<P> {
    type Fit = Fit;

    fn start(self) -> Step<Self> {
        match self {
            Self::Times(procedure, mut times) => {
                Step::Ask(times.ask(), Self::Times(procedure, times))
            }
            Self::Selecting(procedure, residuals) => Self::after_sums(procedure.start(), residuals),
            Self::Refitting(refitting) => Step::Done(refitting.unfinished()),
        }
    }

    fn resume(self, answer: Answer) -> Step<Self> {
        match self {
            Self::Times(procedure, times) => {
                Self::after_sums(procedure.start(), times.residuals(&answer))
            }
            Self::Selecting(procedure, mut residuals) => {
                residuals.watch(&answer);
                Self::after_sums(procedure.resume(answer), residuals)
            }
            Self::Refitting(refitting) => match refitting.resume(&answer) {
                ControlFlow::Continue((query, next)) => Step::Ask(query, Self::Refitting(next)),
                ControlFlow::Break(fit) => Step::Done(*fit),
            },
        }
    }
}

impl<P: ChoosingProcedure<Fit = Fit>> Following<P> {
    fn after_choices(step: ChoosingStep<P>, mut residuals: Box<Residuals>) -> ChoosingStep<Self> {
        match step {
            ChoosingStep::Ask(query, waiting) => {
                ChoosingStep::Ask(residuals.sum(query), Self::Selecting(waiting, residuals))
            }
            ChoosingStep::Choose(query, waiting) => {
                ChoosingStep::Choose(residuals.choice(query), Self::Selecting(waiting, residuals))
            }
            ChoosingStep::Done(fit) => {
                let (query, refitting) = residuals.refit(fit);
                ChoosingStep::Ask(query, Self::Refitting(refitting))
            }
        }
    }
}

impl<P: ChoosingProcedure<Fit = Fit>> ChoosingProcedure for Following<P> {
    type Fit = Fit;

    fn start(self) -> ChoosingStep<Self> {
        match self {
            Self::Times(procedure, mut times) => {
                ChoosingStep::Ask(times.ask(), Self::Times(procedure, times))
            }
            Self::Selecting(procedure, residuals) => {
                Self::after_choices(procedure.start(), residuals)
            }
            Self::Refitting(refitting) => ChoosingStep::Done(refitting.unfinished()),
        }
    }

    fn resume(self, answer: Answer) -> ChoosingStep<Self> {
        match self {
            Self::Times(procedure, times) => {
                Self::after_choices(procedure.start(), times.residuals(&answer))
            }
            Self::Selecting(procedure, mut residuals) => {
                residuals.watch(&answer);
                Self::after_choices(procedure.resume(answer), residuals)
            }
            Self::Refitting(refitting) => match refitting.resume(&answer) {
                ControlFlow::Continue((query, next)) => {
                    ChoosingStep::Ask(query, Self::Refitting(next))
                }
                ControlFlow::Break(fit) => ChoosingStep::Done(*fit),
            },
        }
    }

    fn chosen(self, index: usize) -> ChoosingStep<Self> {
        match self {
            // No choice is asked before the times are known.
            Self::Times(procedure, times) => {
                ChoosingProcedure::start(Self::Times(procedure, times))
            }
            Self::Selecting(procedure, residuals) => {
                Self::after_choices(procedure.chosen(index), residuals)
            }
            Self::Refitting(refitting) => ChoosingStep::Done(refitting.unfinished()),
        }
    }
}
