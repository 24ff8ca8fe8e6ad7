//! `bench`: how long the parts take on this machine, beside what others offer.
//!
//! Figures of a shared machine wander, so everything that is compared is measured in one run and
//! taking turns; the ratios are what counts.

mod cpu_clock;
mod noise;
mod python;
mod recovery;
pub(crate) mod secure_sum;
mod stopwatch;
mod study;
mod sweep;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Subject {
    /// Time per draw of the integer noise.
    ///
    /// Example: sprifed bench noise --rounds 3
    Noise(noise::Noise),
    /// Xᵀv against reading X once, and matching pursuit against scikit-learn.
    ///
    /// Example: sprifed bench recovery --python venv/bin/python
    Recovery(recovery::Recovery),
    /// One cell of the paper's recovery figures against a plain numpy version of it.
    ///
    /// Example: sprifed bench sweep --python venv/bin/python
    Sweep(sweep::Sweep),
    /// CPU time and bytes of masked sums, beside Flower's SecAgg+.
    ///
    /// Example: sprifed bench secure-sum --python venv/bin/python
    SecureSum(secure_sum::SecureSum),
    /// Many parties against one coordinator over TLS: sums per minute, memory, where the time goes.
    ///
    /// Example: sprifed bench study --clients 250,1000 --features 1000,10000
    Study(study::Study),
}

pub(crate) fn run(subject: &Subject, output: &Output) -> Result<(), Failure> {
    match subject {
        Subject::Noise(request) => request.run(output),
        Subject::Recovery(request) => request.run(output),
        Subject::Sweep(request) => request.run(output),
        Subject::SecureSum(request) => request.run(output),
        Subject::Study(request) => request.run(output),
    }
}
