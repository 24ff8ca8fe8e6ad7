//! What a person sees who asks for help.

use crate::command::{sprifed, text};

const COMMANDS: [&str; 22] = [
    "",
    "account",
    "account delta",
    "account epsilon",
    "account mu",
    "account compose",
    "account plan",
    "account paper",
    "account check",
    "schema",
    "schema draft",
    "schema check",
    "fit",
    "predict",
    "experiment",
    "audit",
    "ledger",
    "ledger show",
    "ledger export",
    "ledger verify",
    "ledger limit",
    "ledger restart",
];

#[test]
fn the_help_of_every_command_holds_an_example() {
    for command in COMMANDS {
        let help = text(&format!("{command} --help"));
        assert!(help.contains("Example: sprifed "), "{command}:\n{help}");
        assert!(help.contains("--json"), "{command}");
    }
}

#[test]
fn every_example_that_needs_no_file_runs() {
    for command in &COMMANDS[2..8] {
        let help = text(&format!("{command} --help"));
        let (_, example) = help.split_once("Example: sprifed ").unwrap();
        let (example, _) = example.split_once("\n\n").unwrap();
        let ended = sprifed(example);
        assert_eq!(
            (ended.exit_code, ended.stderr.as_str()),
            (0, ""),
            "{example}"
        );
        assert!(!ended.stdout.is_empty());
    }
}

#[test]
fn no_command_at_all_shows_the_help_and_is_a_usage_error() {
    let ended = sprifed("");
    assert_eq!((ended.exit_code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("Usage: sprifed"), "{}", ended.stderr);
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(
        text("--version").trim(),
        concat!("sprifed ", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn the_help_says_what_the_exit_codes_mean() {
    let help = text("--help");
    for words in [
        "0  done",
        "1  ended",
        "2  usage",
        "3  environment",
        "4  a defect",
    ] {
        assert!(help.contains(words), "{words}: {help}");
    }
}
