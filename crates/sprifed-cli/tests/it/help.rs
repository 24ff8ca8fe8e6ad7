//! What a person sees who asks for help.

use crate::command::{sprifed, text};
use crate::json_schema::{GROUPS, commands_of};
use crate::transcript::Transcript;

/// The program, its commands, and the tasks of those that have some.
fn all_commands() -> Vec<String> {
    let mut all = vec![String::new()];
    for command in commands_of(&text("--help")) {
        all.push(command.clone());
        if GROUPS.contains(&command.as_str()) {
            let tasks = commands_of(&text(&format!("{command} --help")));
            all.extend(tasks.iter().map(|task| format!("{command} {task}")));
        }
    }
    all
}

#[test]
fn the_help_of_every_command_holds_an_example() {
    let mut seen = Transcript::new();
    for command in all_commands() {
        let help = text(&format!("{command} --help"));
        assert!(help.contains("Example: sprifed "), "{command}:\n{help}");
        assert!(help.contains("--json"), "{command}");
        seen.add(&command, &help);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn every_example_that_needs_no_file_runs() {
    for task in commands_of(&text("account --help")) {
        let command = format!("account {task}");
        if command == "account check" {
            continue;
        }
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
    assert_eq!(ended.stderr, text("-h"));
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(
        text("--version").trim(),
        concat!("sprifed ", env!("CARGO_PKG_VERSION"))
    );
}
