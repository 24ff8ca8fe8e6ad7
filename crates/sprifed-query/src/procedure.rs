//! A statistical procedure asks a question and is resumed with the answer. It does not know which
//! backend answers, or when.

use serde::{Deserialize, Serialize};
use sprifed_noise::{PrivateSum, Provenance};

use crate::plan::PlannedSum;
use crate::question::Question;

/// A request for one sum: one question for each block of the planned step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SumQuery {
    /// Which step of the plan this is.
    pub step: usize,
    /// The questions, in the order of the blocks.
    pub questions: Vec<Question>,
}

impl SumQuery {
    /// The questions of the step number `step`, which is counted up for the next ones.
    #[must_use]
    pub const fn next(step: &mut usize, questions: Vec<Question>) -> Self {
        let query = Self {
            step: *step,
            questions,
        };
        *step += 1;
        query
    }
}

/// A request for the index of the largest absolute score.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceQuery {
    /// Which step of the plan this is.
    pub step: usize,
    /// The question whose coordinates are the scores.
    pub scores: Question,
}

/// One block of an answer, in normalised units.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerBlock {
    /// The noisy sums.
    pub values: Vec<f64>,
    /// The standard deviation of the noise on each.
    pub noise_std_dev: f64,
}

/// The answer to a [`SumQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// One block for each question.
    pub blocks: Vec<AnswerBlock>,
    /// Where the noise came from.
    pub provenance: Provenance,
    /// The parties that contributed nothing, by their places, as far as they are public.
    pub absent: Vec<u32>,
}

impl Answer {
    /// Decodes a private sum of the step `planned`; `shares` noise shares are in it.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "sums are far below 2^53")]
    pub fn decode(sum: &PrivateSum, planned: &PlannedSum, shares: u32) -> Self {
        let mut rest = sum.values();
        let blocks = planned.blocks.iter().map(|planned| {
            let size = (planned.block.coordinates as usize).min(rest.len());
            let (values, following) = rest.split_at(size);
            rest = following;
            AnswerBlock {
                values: values
                    .iter()
                    .map(|value| *value as f64 / planned.steps)
                    .collect(),
                noise_std_dev: planned.noise_std_dev(shares),
            }
        });
        Self {
            blocks: blocks.collect(),
            provenance: sum.provenance(),
            absent: Vec::new(),
        }
    }

    /// The same answer, of a sum that only these of `parties` parties contributed to.
    #[must_use]
    pub fn by_survivors(self, parties: u32, survivors: &[u32]) -> Self {
        let absent = (0..parties).filter(|party| !survivors.contains(party));
        Self {
            absent: absent.collect(),
            ..self
        }
    }
}

/// A procedure that learns only from private sums.
pub trait Procedure: Sized {
    /// What it ends with.
    type Fit;

    /// The first question.
    fn start(self) -> Step<Self>;

    /// What follows from the answer to the last question.
    fn resume(self, answer: Answer) -> Step<Self>;
}

/// What a procedure does next.
#[derive(Debug)]
#[must_use]
pub enum Step<P: Procedure> {
    /// It asks, and waits.
    Ask(SumQuery, P),
    /// It is done.
    Done(P::Fit),
}

impl<P: Procedure> Step<P> {
    /// The same step of a procedure that wraps this one.
    pub fn map<Q: Procedure<Fit = P::Fit>>(self, wrap: impl FnOnce(P) -> Q) -> Step<Q> {
        match self {
            Self::Ask(query, waiting) => Step::Ask(query, wrap(waiting)),
            Self::Done(fit) => Step::Done(fit),
        }
    }
}

/// A procedure that also needs choices, which only some backends make.
pub trait ChoosingProcedure: Sized {
    /// What it ends with.
    type Fit;

    /// The first request.
    fn start(self) -> ChoosingStep<Self>;

    /// What follows from the answer to a sum.
    fn resume(self, answer: Answer) -> ChoosingStep<Self>;

    /// What follows from a choice: the index among the candidates.
    fn chosen(self, index: usize) -> ChoosingStep<Self>;
}

/// What a choosing procedure does next.
#[derive(Debug)]
#[must_use]
pub enum ChoosingStep<P: ChoosingProcedure> {
    /// It asks for a sum, and waits.
    Ask(SumQuery, P),
    /// It asks for a choice, and waits.
    Choose(ChoiceQuery, P),
    /// It is done.
    Done(P::Fit),
}

/// Answers sums, somehow: in one process, over masks, over shares.
pub trait SumBackend {
    /// Why there is no answer.
    type Error: core::error::Error;

    /// The answer to `query`.
    ///
    /// # Errors
    /// When the query is not the next step of the plan or cannot be answered.
    fn answer(&mut self, query: &SumQuery) -> Result<Answer, Self::Error>;
}

/// Makes choices without ever showing the scores.
pub trait ChoiceBackend: SumBackend {
    /// The index of the largest noisy score.
    ///
    /// # Errors
    /// When the query is not the next step of the plan or cannot be answered.
    fn choose(&mut self, query: &ChoiceQuery) -> Result<usize, Self::Error>;
}

/// Runs `procedure` to its end; `watch` is called after every step.
///
/// # Errors
/// When the backend does not answer.
pub fn run<P: Procedure, B: SumBackend>(
    procedure: P,
    backend: &mut B,
    mut watch: impl FnMut(usize),
) -> Result<P::Fit, B::Error> {
    let mut step = procedure.start();
    loop {
        match step {
            Step::Ask(query, waiting) => {
                let answer = backend.answer(&query)?;
                watch(query.step);
                step = waiting.resume(answer);
            }
            Step::Done(fit) => return Ok(fit),
        }
    }
}

/// Runs a choosing procedure to its end; `watch` is called after every step.
///
/// ```
/// # use sprifed_query::{ChoiceBackend, ChoosingProcedure, SumBackend, run_choosing};
/// fn drive<P: ChoosingProcedure, B: ChoiceBackend>(procedure: P, backend: &mut B) {
///     let _ = run_choosing(procedure, backend, |_| ());
/// }
/// ```
///
/// A backend that answers sums only may show what it sums, so it makes no choices:
///
/// ```compile_fail,E0277
/// # use sprifed_query::{ChoiceBackend, ChoosingProcedure, SumBackend, run_choosing};
/// fn drive<P: ChoosingProcedure, B: SumBackend>(procedure: P, backend: &mut B) {
///     let _ = run_choosing(procedure, backend, |_| ());
/// }
/// ```
///
/// # Errors
/// When the backend does not answer.
pub fn run_choosing<P: ChoosingProcedure, B: ChoiceBackend>(
    procedure: P,
    backend: &mut B,
    mut watch: impl FnMut(usize),
) -> Result<P::Fit, B::Error> {
    let mut step = procedure.start();
    loop {
        match step {
            ChoosingStep::Ask(query, waiting) => {
                let answer = backend.answer(&query)?;
                watch(query.step);
                step = waiting.resume(answer);
            }
            ChoosingStep::Choose(query, waiting) => {
                let index = backend.choose(&query)?;
                watch(query.step);
                step = waiting.chosen(index);
            }
            ChoosingStep::Done(fit) => return Ok(fit),
        }
    }
}
