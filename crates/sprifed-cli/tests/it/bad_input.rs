//! Bad input: found, required, what to do; exit code 2; nothing on standard output.

use crate::command::{run, sprifed};
use crate::transcript::Transcript;

const PLAN: &str = "account plan --algorithm omp --clients 100 --features 20 --sparsity 3 --mu-p 0.4 --mu-s 0.1 --delta 1e-6";

/// What is said to `line`, which must be refused with advice.
fn refusal(line: &str) -> String {
    let ended = sprifed(line);
    assert_eq!((ended.exit_code, ended.stdout.as_str()), (2, ""), "{line}");
    assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    let advises = ended.stderr.contains("help: ") || ended.stderr.contains("try '--help'");
    assert!(
        advises,
        "{line} is refused without advice:\n{}",
        ended.stderr
    );
    ended.stderr
}

/// Adds how `line` is refused.
fn add(seen: &mut Transcript, line: &str) {
    seen.add(line, &refusal(line));
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
    let mut seen = Transcript::new();
    for value in [
        "nan", "-nan", "inf", "-inf", "1e999", "0", "-0", "-1", "1e-999",
    ] {
        for line in [
            "account epsilon --delta 1e-6 --mu",
            "account epsilon --delta 1e-6 --rho",
            "account delta --epsilon 1 --mu",
            "account compose --delta 1e-6 --mu",
            "account compose --delta 1e-6 --range",
            "account mu --epsilon 1 --delta 1e-6 --sensitivity",
        ] {
            let joined = format!("{line}={value}");
            let said = refusal(&joined);
            assert_eq!(refusal(&format!("{line} {value}")), said);
            seen.add(joined, &said);
        }
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_delta_outside_the_open_unit_interval_is_refused_by_every_command() {
    let mut seen = Transcript::new();
    for value in ["0", "1", "-0.5", "1.5", "nan", "inf"] {
        for line in [
            "account epsilon --mu 1 --delta",
            "account mu --epsilon 1 --delta",
            "account compose --mu 1 --delta",
        ] {
            add(&mut seen, &format!("{line}={value}"));
        }
        add(&mut seen, &plan_with("--delta", value));
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn an_epsilon_that_is_negative_or_not_finite_is_refused() {
    let mut seen = Transcript::new();
    for value in ["-1", "nan", "inf"] {
        for line in [
            "account delta --mu 1 --epsilon",
            "account mu --delta 1e-6 --epsilon",
        ] {
            add(&mut seen, &format!("{line}={value}"));
        }
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_word_where_a_number_belongs_is_refused_with_an_example() {
    let mut seen = Transcript::new();
    add(&mut seen, "account epsilon --mu much --delta 1e-6");
    for mu in ["0.4x", "0.4x0", "0.4x-3"] {
        add(
            &mut seen,
            &format!("account compose --mu {mu} --delta 1e-6"),
        );
    }
    for value in ["nan", "inf", "much", "1/0", "1e-2147483648", "1e2147483647"] {
        for option in ["--mu-p", "--mu-s"] {
            add(&mut seen, &plan_with(option, value));
        }
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_share_of_the_budget_that_is_zero_or_negative_is_refused() {
    let mut seen = Transcript::new();
    for value in ["0", "-1", "-3/4"] {
        for option in ["--mu-p", "--mu-s"] {
            add(&mut seen, &plan_with(option, value));
        }
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_quorum_without_an_honest_client_is_refused() {
    let mut seen = Transcript::new();
    for (quorum, colluders) in [
        ("2", "2"),
        ("1", "0"),
        ("0", "0"),
        ("50", "50"),
        ("50", "60"),
    ] {
        let line = format!("{} --colluders {colluders}", plan_with("--quorum", quorum));
        add(&mut seen, &line);
    }
    add(&mut seen, &plan_with("--quorum", "101"));
    insta::assert_snapshot!(seen);
}

#[test]
fn an_impossible_sparsity_is_refused() {
    let mut seen = Transcript::new();
    for value in ["0", "20", "21"] {
        add(&mut seen, &plan_with("--sparsity", value));
    }
    add(&mut seen, &plan_with("--records-per-client", "0"));
    insta::assert_snapshot!(seen);
}

#[test]
fn a_bound_that_is_not_finite_and_positive_is_refused() {
    let mut seen = Transcript::new();
    for option in ["--feature-bound", "--response-bound", "--residual-clip"] {
        for value in ["-1", "nan"] {
            add(&mut seen, &plan_with(option, value));
        }
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_plan_beyond_every_grid_is_refused_without_a_panic() {
    let mut seen = Transcript::new();
    for (option, value) in [
        ("--mu-p", "1e30"),
        ("--mu-p", "1e-30"),
        ("--mu-s", "1e25"),
        ("--mu-p", "1e300"),
    ] {
        add(&mut seen, &plan_with(option, value));
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn too_little_or_too_much_is_refused_with_the_usage() {
    let mut seen = Transcript::new();
    for line in [
        "account epsilon --delta 1e-6",
        "account epsilon --mu 1 --rho 1 --delta 1e-6",
        "account epsilon --mu 1",
        "account compose --delta 1e-6",
        "account compose --range 1e200 --delta 1e-6",
        "account mu --epsilon 0 --delta 5e-324",
        "account plan --algorithm lasso --clients 9",
        "account check",
        "acount paper",
    ] {
        add(&mut seen, line);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_refusal_in_json_is_one_object_that_names_code_message_and_help() {
    let ended = sprifed(&format!("{} --json", plan_with("--sparsity", "0")));
    assert_eq!(ended.exit_code, 2);
    let error = &ended.json()["error"];
    assert_eq!(error["code"], "sprifed::privacy::unplannable");
    let [message, help] = ["message", "help"].map(|part| error[part].as_str().unwrap());
    let said = format!("error: {message}\n help: {help}\n code: {}\n", ended.code());
    assert_eq!(ended.stderr, said, "it is explained on standard error, too");
    insta::assert_snapshot!(said);
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
    assert_eq!(help.stdout, sprifed("verify --help").stdout);
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_not_read_for_ever() {
    let ended = sprifed("verify /dev/zero");
    assert_eq!((ended.exit_code, ended.stdout.as_str()), (3, ""));
    insta::assert_snapshot!(ended.stderr);
}
