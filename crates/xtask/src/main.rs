#![doc = include_str!("../README.md")]

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::error::XtaskError;
use crate::finding::Report;
use crate::repository::Repository;
use crate::workspace::Workspace;

mod error;
mod finding;
mod layers;
#[cfg(test)]
mod one_build;
mod programs;
mod python;
mod quick;
mod repository;
mod slow;
mod suite;
mod tidy;
mod workspace;

const USAGE: &str = "\
usage: cargo xtask <command>

  quick      formatting, lints and short tests of the crates that changed since the main branch,
             or since the given commit: `quick HEAD` for changes that are not committed
  test       what a change must pass: formatting, lints, layers, tests, documentation, Python
  python     build the Python package into a virtual environment and run its tests
  test-slow  only the long statistics, simulations and fleets, optimized; `test` runs all others
  static     build the command without libraries of the system, for Linux on x86-64
  layers     check the direction of dependencies
  tidy       check files, names, words, manifests, bans, citations, papers and vectors
  deny       check licences, bans and sources of dependencies by cargo-deny, and record that they passed
  bans       rewrite the exception clippy.toml files from lifted-bans.toml
  vectors    record the checksums of new vector files
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let command: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match command.as_slice() {
        ["test"] => return unless_stopped(suite::every_change(&root())),
        ["quick"] => return unless_stopped(quick::run(&root(), None)),
        ["quick", base] => return unless_stopped(quick::run(&root(), Some(base))),
        ["python"] => return ExitCode::from(u8::from(!python::passes(&root()))),
        ["test-slow"] => return unless_stopped(slow::run(&root())),
        ["static"] => return suite::run(&root(), &suite::STATIC),
        ["layers"] => check_layers(),
        ["tidy"] => check_tidy(),
        ["deny"] => tidy::dependencies::check_and_record(&root()),
        ["bans"] => write_bans(),
        ["vectors"] => record_vectors(),
        _ => return say(&mut io::stderr(), USAGE, ExitCode::from(2)),
    };
    match outcome {
        Ok(report) => {
            let code = if report.findings.is_empty() { 0 } else { 1 };
            say(&mut io::stdout(), &report.to_string(), ExitCode::from(code))
        }
        Err(error) => say(&mut io::stderr(), &format!("{error}\n"), ExitCode::from(3)),
    }
}

/// How checks ended, or why they were not made.
fn unless_stopped(outcome: Result<ExitCode, XtaskError>) -> ExitCode {
    outcome.unwrap_or_else(|error| say(&mut io::stderr(), &format!("{error}\n"), ExitCode::from(3)))
}

fn check_layers() -> Result<Report, XtaskError> {
    let root = root();
    let allowed = layers::Allowed::load(&root)?;
    Ok(layers::check(&Workspace::load(&root)?, &allowed))
}

fn check_tidy() -> Result<Report, XtaskError> {
    Ok(tidy::check(&Repository::load(&root())?))
}

fn write_bans() -> Result<Report, XtaskError> {
    let repository = Repository::load(&root())?;
    tidy::bans::write_exceptions(&root(), &repository)
}

fn record_vectors() -> Result<Report, XtaskError> {
    let repository = Repository::load(&root())?;
    tidy::vectors::record(&root(), &repository)
}

/// The folder of the workspace manifest.
///
/// Read at run time, because checkouts that share a target folder share this program too, and the
/// folder it was built in may be another checkout's.
fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR");
    manifest
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
        .join("../..")
}

/// Writes `text` and returns `outcome`; a closed pipe is the reader's choice and changes nothing.
fn say<T>(stream: &mut dyn Write, text: &str, outcome: T) -> T {
    let _ = stream.write_all(text.as_bytes());
    outcome
}

#[cfg(test)]
mod tests {
    use super::{check_layers, check_tidy};

    #[test]
    fn the_workspace_keeps_its_layers() {
        let report = check_layers().expect("cargo metadata can be read");
        assert!(report.findings.is_empty(), "{report}");
    }

    #[test]
    fn the_workspace_is_tidy() {
        let report = check_tidy().expect("the repository can be read");
        assert!(report.findings.is_empty(), "{report}");
    }
}
