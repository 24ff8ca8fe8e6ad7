//! `sprifed`: federated, differentially private sparse regression from the command line.
//!
//! Data goes to standard output, everything else to standard error. Only this file chooses the
//! exit code: 0 done, 1 ended without a result, 2 usage or configuration, 3 environment, 5 a fit whose model must not be
//! relied on; and 4 for a panic, which `defect.rs` turns into the end of the process.

mod account;
mod audit;
mod choices;
mod defect;
mod demo;
mod entropy;
mod experiment;
mod failure;
mod federation;
mod fit;
mod ledger;
mod model;
mod output;
mod plan;
mod predict;
mod progress;
#[cfg(test)]
#[path = "../tests/unit/published.rs"]
mod published;
mod schema;
mod simulate;
mod study_arguments;
mod table_arguments;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::fit::Reliance;
use crate::output::Output;

/// Federated, differentially private sparse regression.
///
/// Many clients find together the few features that matter. No raw record leaves a client, a
/// coordinator sees only noisy sums, and the receipt carries a guarantee that any reader can verify.
///
/// Example: sprifed demo
#[derive(Debug, Parser)]
#[command(name = "sprifed", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    json: bool,
}

/// What scripts and service managers go by.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  ended without a result, or refused by a policy
  2  usage or configuration
  3  environment: a file, the network, the machine; trying again may help
  4  a defect: the program panicked; do not start it again before the cause is known
  5  fit: done and written, but the model is only the mean, or must not be interpreted";

/// What [`EXIT_CODES`] says of a fit that found nothing.
const UNRELIABLE: u8 = 5;

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer questions about the privacy budget.
    ///
    /// Example: sprifed account epsilon --mu 1.0 --delta 1e-6
    #[command(subcommand)]
    Account(account::Question),
    /// A whole private study on generated data: guarantee, features found, a report.
    ///
    /// Example: sprifed demo
    Demo(demo::Demo),
    /// What a study will ask, cost and probably find, before any record is touched.
    ///
    /// Example: sprifed plan --records 2000 --features 10000 --sparsity 10 --epsilon 3 --r2 0.5
    Plan(plan::PlanStudy),
    /// Repeat trials of a procedure on generated data.
    ///
    /// Example: sprifed simulate --procedure grad --records 1500 --features 2500 --sparsity 5
    Simulate(simulate::Simulate),
    /// Fit two neighbouring tables many times, and compare how well they can be told apart with the claim.
    ///
    /// Ends with exit code 1 if the trials contradict the claimed guarantee.
    ///
    /// Example: sprifed audit --procedure grad --backend secure-sum --trials 200
    Audit(audit::Audit),
    /// Draft or check the file of public bounds.
    ///
    /// Example: sprifed schema draft data.csv --out schema.toml
    #[command(subcommand)]
    Schema(schema::Task),
    /// Fit a private sparse model to a local table.
    ///
    /// Ends with exit code 5 if the model is written but is only the mean, or its coefficients must not be interpreted.
    ///
    /// Example: sprifed fit data.csv --schema schema.toml --target y --sparsity 5 --epsilon 3
    Fit(fit::Fit),
    /// Predict with a fitted model, in the units of the table.
    ///
    /// Example: sprifed predict model.json data.csv --out predictions.csv
    Predict(predict::Predict),
    /// Regenerate the paper's tables and figures, and judge them.
    ///
    /// Example: sprifed experiment all --quick
    Experiment(experiment::RunExperiments),
    /// Prepare a study between parties over a network, look at it, end it.
    ///
    /// Example: sprifed study identity north --records 400
    #[command(subcommand)]
    Study(federation::Task),
    /// Serve a study to its parties until it is over.
    ///
    /// Example: sprifed coordinate heart --listen 0.0.0.0:8443 --page 127.0.0.1:8080
    Coordinate(federation::Coordinate),
    /// Take part in a study with a local table, under the party's own policy.
    ///
    /// Example: sprifed join for-north --identity north --data north.csv --check
    ///
    /// Example: sprifed join for-north --identity north --data north.csv
    Join(federation::Join),
    /// Serve a study as one of its three trustees, by one's own policy, until it is over.
    ///
    /// Example: sprifed trustee for-trustee-archive --identity archive --check
    ///
    /// Example: sprifed trustee for-trustee-archive --identity archive
    Trustee(federation::Trustee),
    /// Recompute the guarantee of a receipt from its own contents.
    ///
    /// Example: sprifed verify receipt.json
    Verify(federation::Verify),
    /// What was spent on a data set: show it, write it as an audit log, check a log, set a limit.
    ///
    /// Example: sprifed ledger show north
    #[command(subcommand)]
    Ledger(ledger::Task),
}

fn main() -> ExitCode {
    defect::end_with_the_first_panic();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse_arguments(&error),
    };
    let output = Output::new(arguments.json);
    let ended = match arguments.command {
        Command::Account(question) => account::answer(&question, &output),
        Command::Demo(request) => request.run(&output),
        Command::Plan(request) => request.run(&output),
        Command::Simulate(request) => request.run(&output),
        Command::Audit(request) => request.run(&output),
        Command::Schema(task) => schema::run(&task, &output),
        Command::Fit(request) => match request.run(&output) {
            Ok(Reliance::No) => return ExitCode::from(UNRELIABLE),
            ended => ended.map(drop),
        },
        Command::Predict(request) => request.run(&output),
        Command::Experiment(request) => request.run(&output),
        Command::Study(task) => federation::run(&task, &output),
        Command::Coordinate(request) => request.run(&output),
        Command::Join(request) => request.run(&output),
        Command::Trustee(request) => request.run(&output),
        Command::Verify(request) => request.run(&output),
        Command::Ledger(task) => ledger::run(&task, &output),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure, &output),
    }
}

/// What clap says, and as JSON if that was asked for: the words may be too wrong to read `--json` from them.
fn refuse_arguments(error: &clap::Error) -> ExitCode {
    let is_json = std::env::args_os().any(|word| word == "--json");
    if !error.use_stderr() || !is_json {
        error.exit();
    }
    let said = error.render().to_string();
    let said = said.trim().trim_start_matches("error: ").to_owned();
    let help = "see --help for what the command takes; nothing was spent";
    let failure = Failure::usage("sprifed::usage", said, help);
    report(&failure, &Output::new(true))
}

fn report(failure: &Failure, output: &Output) -> ExitCode {
    output.failure(failure);
    ExitCode::from(failure.exit_code())
}
