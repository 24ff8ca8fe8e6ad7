//! The checks of a change, one cargo command after the other; the first that fails ends the run.

use std::path::Path;
use std::process::{Command, ExitCode};

/// One cargo command: its arguments, and its environment.
#[derive(Debug)]
pub(crate) struct Check {
    what: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

/// What every change must pass.
pub(crate) const EVERY_CHANGE: [Check; 4] = [
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
    Check {
        what: "tests, layers, tidiness and examples in the documentation",
        arguments: &["test", "--workspace"],
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

/// Runs the checks in order.
pub(crate) fn run(root: &Path, checks: &[Check]) -> ExitCode {
    let passes = |check: &Check| cargo(root, check.what, check.arguments, check.environment);
    if checks.iter().all(passes) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
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
