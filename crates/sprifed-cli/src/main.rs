//! `sprifed`: federated, differentially private sparse regression from the command line.
//!
//! Data goes to standard output, everything else to standard error. Only this file chooses the
//! exit code: 0 done, 1 ended without a result, 2 usage or configuration, 3 environment.

mod account;
mod failure;
mod output;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::output::Output;

/// Federated, differentially private sparse regression.
///
/// Many clients find together the few features that matter. No record leaves a client, and the
/// report carries a guarantee that a stranger can check.
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
    #[command(subcommand)]
    Account(account::Question),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let output = Output::new(arguments.json);
    let ended = match arguments.command {
        Command::Account(question) => account::answer(&question, &output),
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
