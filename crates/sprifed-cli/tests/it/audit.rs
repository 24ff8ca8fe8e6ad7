//! The audit of the whole system: quickly in every run, thoroughly in the slow suite.

use crate::command::{answer, number, sprifed, text};
use crate::process::is_slow_run;
use crate::transcript::Transcript;

#[test]
fn a_short_audit_says_what_is_claimed_and_what_was_found() {
    let found = answer("audit --procedure sieve --units 12 --features 6 --trials 20");
    assert_eq!(found["verdict"], "consistent");
    let claimed = number(&found, "/at_budget/claimed_epsilon");
    assert!((2.7..=3.0).contains(&claimed), "{claimed}");
    assert!(number(&found, "/at_budget/least_epsilon") <= claimed);
    let words = text("audit --procedure sieve --units 12 --features 6 --trials 20");
    assert!(words.starts_with("Verdict   consistent\n"), "{words}");
    assert!(
        words.contains("claimed epsilon  epsilon at least"),
        "{words}"
    );
}

#[test]
fn the_example_of_the_help_runs() {
    let help = text("audit --help");
    let (_, example) = help.split_once("Example: sprifed ").unwrap();
    let (example, _) = example.split_once("\n\n").unwrap();
    let words = text(example);
    assert!(words.starts_with("Verdict   consistent\n"), "{words}");
}

#[test]
fn the_numbers_of_an_audit_are_written_as_people_write_them() {
    let words = text("audit --procedure sieve --units 12 --features 6 --trials 20 --level 0.9");
    for row in words.lines().skip_while(|line| !line.starts_with("---")) {
        let cells = row.split_whitespace().take(3);
        let is_long = |cell: &str| cell.len() > 9 && !cell.starts_with('-');
        let numbers: Vec<&str> = cells.filter(|cell| cell.parse::<f64>().is_ok()).collect();
        for number in numbers {
            assert!(!is_long(number) && !number.ends_with("e-1"), "{words}");
        }
    }
    assert!(words.contains("\n0.3 "), "{words}");
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let mut seen = Transcript::new();
    for line in [
        "audit --procedure paper-omp",
        "audit --level 1.5",
        "audit --trials 3",
        "audit --procedure argmax --backend secure-sum --trials 20",
    ] {
        let ended = sprifed(line);
        assert_eq!(ended.exit_code, 2, "{line}: {}", ended.stderr);
        seen.add(line, &ended.stderr);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn the_whole_system_stands_a_long_audit() {
    if !is_slow_run() {
        return;
    }
    for procedure in [
        "grad",
        "sieve",
        "argmax",
        "honest-omp",
        "honest-grad",
        "dp-sgd",
        "dp-gcd",
    ] {
        for backend in ["curator", "secure-sum", "trustees"] {
            if procedure == "argmax" && backend == "secure-sum" {
                continue;
            }
            // A study over secure sums or by trustees takes twenty times as long.
            let trials = if backend == "curator" { 1000 } else { 200 };
            for relation in ["zero-out", "replace-one"] {
                for unit in ["record --units 40", "client --units 6"] {
                    // 80 audits: at this level one of a thousand correct systems is flagged.
                    let found = answer(&format!(
                        "audit --procedure {procedure} --backend {backend} --neighbours {relation} \
                         --unit {unit} --trials {trials} --level 0.99999"
                    ));
                    assert_eq!(found["verdict"], "consistent", "{found}");
                }
            }
        }
    }
}
