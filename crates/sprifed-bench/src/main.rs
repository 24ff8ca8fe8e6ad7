//! `sprifed-bench`: how long the parts take on this machine, beside what others offer.
//!
//! Figures of a shared machine wander, so everything that is compared is measured in one run and
//! taking turns; the ratios are what counts.

mod cpu_clock;
mod error;
mod noise;
mod output;
mod pass;
mod python;
mod recovery;
mod secure_sum;
mod stopwatch;
mod study;
mod sweep;
mod trustees;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output::Output;

/// Measures how fast this machine is, beside other programs.
#[derive(Debug, Parser)]
#[command(name = "sprifed-bench", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    subject: Subject,
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    json: bool,
}

/// What to measure.
#[derive(Debug, Subcommand)]
enum Subject {
    /// Time per draw of the integer noise.
    ///
    /// Example: cargo run --release -p sprifed-bench -- noise --rounds 3
    Noise(noise::Noise),
    /// Xᵀv against reading X once, and matching pursuit against scikit-learn.
    ///
    /// Example: cargo run --release -p sprifed-bench -- recovery --python venv/bin/python
    Recovery(recovery::Recovery),
    /// One private pass over a matrix, and a whole fit, against reading the matrix.
    ///
    /// Example: cargo run --release -p sprifed-bench -- pass --records 8000 --features 40000
    Pass(pass::Pass),
    /// One cell of the paper's recovery figures against a plain numpy version of it.
    ///
    /// Example: cargo run --release -p sprifed-bench -- sweep --python venv/bin/python
    Sweep(sweep::Sweep),
    /// CPU time and bytes of masked sums, beside Flower's SecAgg+.
    ///
    /// Example: cargo run --release -p sprifed-bench -- secure-sum --python venv/bin/python
    SecureSum(secure_sum::SecureSum),
    /// Many parties against one coordinator over TLS: sums per minute, memory, where the time goes.
    ///
    /// Example: cargo build --release && cargo run --release -p sprifed-bench -- study --clients 250,1000
    Study(study::Study),
    /// CPU time and bytes of one of three trustees in a choice.
    ///
    /// Example: cargo run --release -p sprifed-bench -- trustees
    Trustees(trustees::Trustees),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let output = Output::new(arguments.json);
    let ended = match &arguments.subject {
        Subject::Noise(request) => request.run(&output),
        Subject::Recovery(request) => request.run(&output),
        Subject::Pass(request) => request.run(&output),
        Subject::Sweep(request) => request.run(&output),
        Subject::SecureSum(request) => request.run(&output),
        Subject::Study(request) => request.run(&output),
        Subject::Trustees(request) => request.run(&output),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output.failure(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
