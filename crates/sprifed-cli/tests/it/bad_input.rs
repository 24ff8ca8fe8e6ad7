//! Bad input: found, required, what to do; exit code 2; nothing on standard output.

use crate::command::{run, sprifed};

const PLAN: &str = "account plan --algorithm omp --clients 100 --features 20 --sparsity 3 --mu-p 0.4 --mu-s 0.1 --delta 1e-6";

/// Asserts that `line` is refused with all of `parts` in its explanation.
fn refused(line: &str, parts: &[&str]) {
    let ended = sprifed(line);
    assert_eq!((ended.exit_code, ended.stdout.as_str()), (2, ""), "{line}");
    for part in parts {
        assert!(
            ended.stderr.contains(part),
            "{line}\nlacks {part:?}:\n{}",
            ended.stderr
        );
    }
    assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    let advises = ended.stderr.contains("help: ") || ended.stderr.contains("try '--help'");
    assert!(
        advises,
        "{line} is refused without advice:\n{}",
        ended.stderr
    );
}

/// [`PLAN`] with one of its options replaced.
fn plan_with(option: &str, value: &str) -> String {
    let mut words: Vec<&str> = PLAN.split_whitespace().collect();
    match words.iter().position(|word| *word == option) {
        Some(index) => words[index + 1] = value,
        None => words.extend([option, value]),
    }
    words.join(" ")
}

#[test]
fn a_quantity_that_is_not_finite_and_positive_is_refused() {
    for (value, found) in [
        ("nan", "NaN"),
        ("-nan", "NaN"),
        ("inf", "inf"),
        ("-inf", "-inf"),
        ("1e999", "inf"),
        ("0", "0"),
        ("-0", "-0"),
        ("-1", "-1"),
        ("1e-999", "0"),
    ] {
        for (line, quantity) in [
            ("account epsilon --delta 1e-6 --mu", "mu"),
            ("account epsilon --delta 1e-6 --rho", "rho"),
            ("account delta --epsilon 1 --mu", "mu"),
            ("account compose --delta 1e-6 --mu", "mu"),
            ("account compose --delta 1e-6 --range", "bounded range"),
            (
                "account mu --epsilon 1 --delta 1e-6 --sensitivity",
                "clip norm",
            ),
        ] {
            let words = format!("{quantity} is {found}, but it must be a finite number above zero");
            refused(&format!("{line}={value}"), &[&words]);
            refused(&format!("{line} {value}"), &[&words]);
        }
    }
}

#[test]
fn a_delta_outside_the_open_unit_interval_is_refused_by_every_command() {
    for (value, found) in [
        ("0", "0"),
        ("1", "1"),
        ("-0.5", "-0.5"),
        ("1.5", "1.5"),
        ("nan", "NaN"),
        ("inf", "inf"),
    ] {
        let words = format!("delta is {found}, but it must be strictly between 0 and 1");
        for line in [
            "account epsilon --mu 1 --delta",
            "account mu --epsilon 1 --delta",
            "account compose --mu 1 --delta",
        ] {
            refused(&format!("{line}={value}"), &[&words]);
        }
        refused(&plan_with("--delta", value), &[&words]);
    }
}

#[test]
fn an_epsilon_that_is_negative_or_not_finite_is_refused() {
    for (value, found) in [("-1", "-1"), ("nan", "NaN"), ("inf", "inf")] {
        let words = format!("epsilon is {found}, but it must be a finite number, zero or more");
        refused(
            &format!("account delta --mu 1 --epsilon={value}"),
            &[&words],
        );
        refused(
            &format!("account mu --delta 1e-6 --epsilon={value}"),
            &[&words],
        );
    }
}

#[test]
fn a_word_where_a_number_belongs_is_refused_with_an_example() {
    refused(
        "account epsilon --mu much --delta 1e-6",
        &["'much'", "not a number; write a decimal such as"],
    );
    refused(
        "account compose --mu 0.4x --delta 1e-6",
        &["the count after x must be between 1 and"],
    );
    refused("account compose --mu 0.4x0 --delta 1e-6", &["as in 0.4x10"]);
    refused(
        "account compose --mu 0.4x-3 --delta 1e-6",
        &["as in 0.4x10"],
    );
    for value in ["nan", "inf", "much", "1/0", "1e-2147483648", "1e2147483647"] {
        let found = format!("{value:?} is not a decimal number or a fraction such as 3/4");
        refused(&plan_with("--mu-p", value), &[&found]);
        refused(&plan_with("--mu-s", value), &[&found]);
    }
}

#[test]
fn a_share_of_the_budget_that_is_zero_or_negative_is_refused() {
    for value in ["0", "-1", "-3/4"] {
        refused(
            &plan_with("--mu-p", value),
            &[
                "mu_p is ",
                value,
                "it must be above zero",
                "nothing was spent",
            ],
        );
        refused(
            &plan_with("--mu-s", value),
            &[
                "mu_s is ",
                value,
                "it must be above zero",
                "nothing was spent",
            ],
        );
    }
}

#[test]
fn a_quorum_without_an_honest_client_is_refused() {
    for (quorum, colluders) in [
        ("2", "2"),
        ("1", "0"),
        ("0", "0"),
        ("50", "50"),
        ("50", "60"),
    ] {
        let line = format!("{} --colluders {colluders}", plan_with("--quorum", quorum));
        let found = format!("a quorum of {quorum} with {colluders} colluders");
        refused(
            &line,
            &[
                &found,
                "at least 1 in a quorum of at least 2 is required",
                "raise the quorum",
                "nothing was spent",
            ],
        );
    }
    refused(
        &plan_with("--quorum", "101"),
        &["the quorum is 101, but only 100 clients are invited"],
    );
}

#[test]
fn an_impossible_sparsity_is_refused() {
    for value in ["0", "20", "21"] {
        let found =
            format!("the sparsity is {value}, but it must be at least 1 and below the 20 features");
        refused(
            &plan_with("--sparsity", value),
            &[&found, "nothing was spent"],
        );
    }
    refused(
        &plan_with("--records-per-client", "0"),
        &["invalid value '0'"],
    );
}

#[test]
fn a_bound_that_is_not_finite_and_positive_is_refused() {
    for (option, quantity) in [
        ("--feature-bound", "feature bound"),
        ("--response-bound", "response bound"),
        ("--residual-clip", "residual clip"),
    ] {
        let line = plan_with(option, "-1");
        refused(
            &line,
            &[&format!(
                "{quantity} is -1, but it must be a finite number above zero"
            )],
        );
        refused(&plan_with(option, "nan"), &[&format!("{quantity} is NaN")]);
    }
}

#[test]
fn a_plan_beyond_every_grid_is_refused_without_a_panic() {
    for (option, value) in [
        ("--mu-p", "1e30"),
        ("--mu-p", "1e-30"),
        ("--mu-s", "1e25"),
        ("--mu-p", "1e300"),
    ] {
        refused(&plan_with(option, value), &["nothing was spent"]);
    }
}

#[test]
fn too_little_or_too_much_is_refused_with_the_usage() {
    refused("account epsilon --delta 1e-6", &["--mu <MU>|--rho <RHO>"]);
    refused(
        "account epsilon --mu 1 --rho 1 --delta 1e-6",
        &["cannot be used with"],
    );
    refused("account epsilon --mu 1", &["--delta <DELTA>"]);
    refused(
        "account compose --delta 1e-6",
        &["no release was given, but at least one --mu or --range"],
    );
    refused(
        "account compose --range 1e200 --delta 1e-6",
        &["rho is inf"],
    );
    refused("account mu --epsilon 0 --delta 5e-324", &["mu is 0"]);
    refused(
        "account plan --algorithm lasso --clients 9",
        &["[possible values: omp, grad]"],
    );
    refused("account check", &["<FILES>"]);
    refused("acount paper", &["unrecognized subcommand"]);
}

#[test]
fn a_refusal_in_json_is_one_object_that_names_code_message_and_help() {
    let ended = sprifed(&format!("{} --json", plan_with("--sparsity", "0")));
    assert_eq!(ended.exit_code, 2);
    let error = &ended.json()["error"];
    assert_eq!(error["code"], "sprifed::privacy::unplannable");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("the sparsity is 0"),
        "{error}"
    );
    assert!(
        error["help"]
            .as_str()
            .unwrap()
            .contains("nothing was spent"),
        "{error}"
    );
    assert!(
        ended.stderr.contains("the sparsity is 0"),
        "{}",
        ended.stderr
    );
}

#[test]
fn arguments_that_are_not_text_are_refused_without_a_panic() {
    use std::os::unix::ffi::OsStrExt;
    let strange = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    let ended = run(["account", "epsilon", "--delta", "1e-6", "--mu"]
        .map(std::ffi::OsStr::new)
        .into_iter()
        .chain([strange]));
    assert_eq!((ended.exit_code, ended.stdout.as_str()), (2, ""));
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

#[test]
fn wrong_words_are_json_too_where_that_was_asked_for() {
    for line in [
        "verify --json",
        "verify a b --json",
        "--json no-such-command",
    ] {
        let ended = sprifed(line);
        assert_eq!(ended.exit_code, 2, "{line}");
        let answer = ended.json();
        assert_eq!(answer["error"]["code"], "sprifed::usage", "{answer}");
        assert!(answer["error"]["message"].is_string(), "{answer}");
        assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    }
    let help = sprifed("verify --help --json");
    assert_eq!(help.exit_code, 0);
    assert!(help.stdout.contains("Usage"), "help is no failure");
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_not_read_for_ever() {
    let ended = sprifed("verify /dev/zero");
    assert_eq!((ended.exit_code, ended.stdout.as_str()), (3, ""));
    assert!(
        ended.stderr.contains("more than 268435456 bytes"),
        "{}",
        ended.stderr
    );
}
