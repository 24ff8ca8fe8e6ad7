//! Running the binary and reading what it says.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::process::{code_of, output_of};

/// How one run of the binary ended.
pub(crate) struct Ended {
    pub(crate) exit_code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `sprifed` with the words of `line`, separated by spaces.
pub(crate) fn sprifed(line: &str) -> Ended {
    run(line.split_whitespace())
}

/// Runs `sprifed` with these arguments.
pub(crate) fn run<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> Ended {
    Ended::of(crate::process::sprifed().args(arguments))
}

impl Ended {
    /// Runs `command`.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = output_of(command);
        Self {
            exit_code: output.status.code().expect("the binary was not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The one JSON object on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).expect("standard output is one JSON object")
    }

    /// The stable name of the refusal.
    pub(crate) fn code(&self) -> &str {
        code_of(&self.stderr)
    }

    /// Asserts that it was refused so, without an answer.
    pub(crate) fn assert_refused(&self, exit_code: i32, code: &str) {
        let found = (self.exit_code, self.stdout.as_str(), self.code());
        assert_eq!(found, (exit_code, "", code), "{}", self.stderr);
    }
}

/// The JSON answer to `line`, which must succeed in silence.
pub(crate) fn answer(line: &str) -> Value {
    let ended = sprifed(&format!("{line} --json"));
    assert_eq!((ended.exit_code, ended.stderr.as_str()), (0, ""), "{line}");
    let answer = ended.json();
    assert!(answer.is_object(), "{line}: {answer}");
    answer
}

/// The text answer to `line`, which must succeed in silence.
pub(crate) fn text(line: &str) -> String {
    let ended = sprifed(line);
    assert_eq!((ended.exit_code, ended.stderr.as_str()), (0, ""), "{line}");
    ended.stdout
}

/// The number under `pointer`.
pub(crate) fn number(answer: &Value, pointer: &str) -> f64 {
    let found = answer.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number under {pointer} in {answer}"))
}

pub(crate) fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "found {found}, expected {expected}"
    );
}

/// A file of this test run with `contents`.
pub(crate) fn file(name: &str, contents: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, contents).unwrap();
    path
}
