//! `sprifed`: federated, differentially private sparse regression from the command line.
//!
//! Data goes to standard output, everything else to standard error. Only this file chooses the
//! exit code: 0 done, 1 ended without a result, 2 usage or configuration, 3 environment.

mod account;
mod failure;
mod output;
mod progress;
mod simulate;
mod study_arguments;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::output::Output;

/// Federated, differentially private sparse regression.
///
/// Many clients find together the few features that matter. No record leaves a client, and the
/// report carries a guarantee that a stranger can check.
///
/// Example: sprifed account epsilon --mu 1.0 --delta 1e-6
#[derive(Debug, Parser)]
#[command(name = "sprifed", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer questions about the privacy budget.
    ///
    /// Example: sprifed account epsilon --mu 1.0 --delta 1e-6
    #[command(subcommand)]
    Account(account::Question),
    /// Repeat trials of a procedure on generated data.
    ///
    /// Example: sprifed simulate --procedure grad --records 1500 --features 2500 --sparsity 5
    Simulate(simulate::Simulate),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let output = Output::new(arguments.json);
    let ended = match arguments.command {
        Command::Account(question) => account::answer(&question, &output),
        Command::Simulate(request) => request.run(&output),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure, &output),
    }
}

fn report(failure: &Failure, output: &Output) -> ExitCode {
    output.failure(failure);
    ExitCode::from(failure.exit_code())
}
