//! `bench`: how long the parts take on this machine, beside what others offer.
//!
//! Figures of a shared machine wander, so everything that is compared is measured in one run and
//! taking turns; the ratios are what counts.

mod noise;
mod stopwatch;

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
}

pub(crate) fn run(subject: &Subject, output: &Output) -> Result<(), Failure> {
    match subject {
        Subject::Noise(request) => request.run(output),
    }
}
