//! `sprifed account`: questions about the budget, answered without any data.

mod check;
mod compose;
mod convert;
mod paper;
mod plan;

pub(crate) use convert::{parse_epsilon, parse_quantity};

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

/// A question about the budget.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// The delta that mu or rho gives at an epsilon.
    ///
    /// Example: sprifed account delta --mu 1.0 --epsilon 3
    Delta(convert::ToDelta),
    /// The epsilon that mu or rho gives at a delta.
    ///
    /// Example: sprifed account epsilon --mu 1.0 --delta 1e-6
    Epsilon(convert::ToEpsilon),
    /// The largest mu (and rho) within an epsilon and delta, and the noise that it requires.
    ///
    /// Example: sprifed account mu --epsilon 1 --delta 1e-6 --sensitivity 2
    Mu(convert::ToMu),
    /// The cost of several releases together.
    ///
    /// Example: sprifed account compose --mu 0.4x10 --mu 0.02x20 --range 0.5x3 --delta 1e-6
    Compose(compose::Releases),
    /// The certified plan of a whole run: sums, grid, noise, bits, mu, slack, epsilon.
    ///
    /// Example: sprifed account plan --algorithm omp --clients 2000 --quorum 1800 --colluders 100
    /// --features 10000 --sparsity 10 --mu-p 0.4 --mu-s 0.02 --delta 1e-6
    #[command(verbatim_doc_comment)]
    Plan(plan::Run),
    /// What the paper claims of its own settings, and what they deliver.
    ///
    /// Example: sprifed account paper
    Paper,
    /// Check known-answer vectors.
    ///
    /// Example: sprifed account check vectors/*.json
    Check(check::Files),
}

/// Answers `question`.
pub(crate) fn answer(question: &Question, output: &Output) -> Result<(), Failure> {
    match question {
        Question::Delta(request) => request.answer(output),
        Question::Epsilon(request) => request.answer(output),
        Question::Mu(request) => request.answer(output),
        Question::Compose(request) => request.answer(output),
        Question::Plan(request) => request.answer(output),
        Question::Paper => paper::answer(output),
        Question::Check(request) => request.answer(output),
    }
}
