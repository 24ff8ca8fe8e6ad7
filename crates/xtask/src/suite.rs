//! The checks of a change. The first part that fails ends the run.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::error::XtaskError;
use crate::programs::{self, Job};
use crate::python;

/// One cargo command: its arguments, and its environment.
#[derive(Debug)]
pub(crate) struct Check {
    what: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

/// What takes no test.
const STYLE: [Check; 2] = [
    Check {
        what: "formatting",
        arguments: &["fmt", "--all", "--check"],
        environment: &[],
    },
    Check {
        what: "lints",
        arguments: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        environment: &[],
    },
];

const DOCUMENTATION: [Check; 2] = [
    Check {
        what: "examples in the documentation",
        arguments: &["test", "--workspace", "--doc"],
        environment: &[],
    },
    Check {
        what: "documentation",
        arguments: &["doc", "--workspace", "--no-deps"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

/// Licences, bans and sources of everything that is linked.
pub(crate) const DENY: [Check; 1] = [Check {
    what: "licences, bans and sources of dependencies",
    arguments: &[
        "deny",
        "--log-level",
        "error",
        "check",
        "licenses",
        "bans",
        "sources",
    ],
    environment: &[],
}];

/// The command without any library of the system, for containers and old machines.
///
/// Only the last link differs: everything that was compiled for a usual release is used unchanged.
pub(crate) const STATIC: [Check; 1] = [Check {
    what: "a static command at <target>/release/sprifed",
    arguments: &[
        "rustc",
        "--release",
        "-p",
        "sprifed-cli",
        "--bin",
        "sprifed",
        "--",
        "-C",
        "target-feature=+crt-static",
        "-C",
        "strip=symbols",
    ],
    environment: &[],
}];

/// Runs what every change must pass: formatting, lints, and then tests beside each other.
///
/// # Errors
/// When cargo cannot be asked for the programs of the tests.
pub(crate) fn every_change(root: &Path) -> Result<ExitCode, XtaskError> {
    let built = std::thread::scope(|scope| {
        // A new environment is waited for: packages come over the network. Its tests say what is wrong with it.
        scope.spawn(|| python::prepare(root));
        if all_pass(root, &STYLE) {
            programs::built(root, &["--workspace"])
        } else {
            Ok(None)
        }
    })?;
    let Some(built) = built else {
        return Ok(ExitCode::FAILURE);
    };
    let python = Job::Other("the Python package", python::passes);
    let documentation = Job::Other("the documentation", |root| all_pass(root, &DOCUMENTATION));
    let jobs = programs::in_order(built, &[], [python, documentation]);
    Ok(programs::run(root, &jobs))
}

/// Runs the checks in order.
pub(crate) fn run(root: &Path, checks: &[Check]) -> ExitCode {
    ExitCode::from(u8::from(!all_pass(root, checks)))
}

fn all_pass(root: &Path, checks: &[Check]) -> bool {
    let passes = |check: &Check| cargo(root, check.what, check.arguments, check.environment);
    checks.iter().all(passes)
}

/// Runs one cargo command and says whether it succeeded.
pub(crate) fn cargo(
    root: &Path,
    what: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> bool {
    let report = |text: &str| crate::say(&mut std::io::stderr(), text, ExitCode::SUCCESS);
    report(&format!("== {what}\n"));
    let ended = Command::new("cargo")
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root)
        .status();
    let succeeded = ended.is_ok_and(|status| status.success());
    if !succeeded {
        report(&format!("{what} failed: cargo {}\n", arguments.join(" ")));
    }
    succeeded
}
