//! `bench`: how many parties one coordinator serves on this machine. Other measurements are in `sprifed-bench`.

pub(crate) mod study;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum Subject {
    /// Many parties against one coordinator over TLS: sums per minute, memory, where the time goes.
    ///
    /// Example: sprifed bench study --clients 250,1000 --features 1000,10000
    Study(study::Study),
}

pub(crate) fn run(subject: &Subject, output: &Output) -> Result<(), Failure> {
    match subject {
        Subject::Study(request) => request.run(output),
    }
}
