//! The checks of a change, one cargo command after the other; the first that fails ends the run.

use std::path::Path;
use std::process::{Command, ExitCode};

/// One cargo command: its words, and what it is run with.
#[derive(Debug)]
pub(crate) struct Check {
    what: &'static str,
    words: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

/// What every change must pass.
pub(crate) const EVERY_CHANGE: [Check; 4] = [
    Check {
        what: "formatting",
        words: &["fmt", "--all", "--check"],
        environment: &[],
    },
    Check {
        what: "lints",
        words: &[
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
        words: &["test", "--workspace"],
        environment: &[],
    },
    Check {
        what: "documentation",
        words: &["doc", "--workspace", "--no-deps"],
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

/// What tests are told that may take long.
pub(crate) const SLOWLY: [(&str, &str); 1] = [("SPRIFED_SLOW", "1")];

/// Long statistics and simulations: the same tests with more draws and trials.
pub(crate) const SLOW: [Check; 1] = [Check {
    what: "slow tests",
    words: &["test", "--workspace", "--release"],
    environment: &SLOWLY,
}];

/// The command without any library of the system, for containers and old machines.
///
/// Only the last link is told: everything that was compiled for a usual release is used as it is.
pub(crate) const STATIC: [Check; 1] = [Check {
    what: "a static command at <target>/release/sprifed",
    words: &[
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
    for check in checks {
        crate::say(
            &mut std::io::stderr(),
            &format!("== {}\n", check.what),
            ExitCode::SUCCESS,
        );
        let ended = Command::new("cargo")
            .args(check.words)
            .envs(check.environment.iter().copied())
            .current_dir(root)
            .status();
        if !ended.is_ok_and(|status| status.success()) {
            let text = format!("{} failed: cargo {}\n", check.what, check.words.join(" "));
            return crate::say(&mut std::io::stderr(), &text, ExitCode::FAILURE);
        }
    }
    ExitCode::SUCCESS
}
