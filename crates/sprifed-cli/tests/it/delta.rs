//! The delta of secure sums: the noise's and the protocol's, together.

use crate::command::{answer, assert_near, number, sprifed, text};
use crate::fit::table::Folder;
use crate::transcript::Transcript;

/// Each command that plans secure sums, up to its delta.
const COMMANDS: [&str; 3] = [
    "plan --procedure grad --records 300 --features 20 --sparsity 2 --epsilon 5 --forecast-trials 0 --backend secure-sum",
    "simulate --procedure grad --records 300 --features 20 --sparsity 2 --epsilon 5 --trials 1 --backend secure-sum",
    "account plan --algorithm omp --colluders 1 --features 20 --sparsity 2 --mu-p 0.4 --mu-s 0.1",
];

#[test]
fn a_delta_that_the_protocol_uses_up_is_refused_with_the_least() {
    let mut seen = Transcript::new();
    for command in COMMANDS {
        for clients in [3, 50] {
            let line = format!("{command} --clients {clients} --delta 1e-30");
            let ended = sprifed(&line);
            assert_eq!((ended.exit_code, ended.stdout.as_str()), (2, ""), "{line}");
            seen.add(line, &ended.stderr);
        }
    }
    insta::assert_snapshot!(seen);
    // A curator runs no protocol that could fail.
    let alone = "plan --procedure grad --records 300 --features 20 --sparsity 2 --epsilon 5 --forecast-trials 0 --delta 1e-30";
    assert_near(
        number(&answer(alone), "/guarantee/protocol_failure"),
        0.0,
        0.0,
    );
}

#[test]
fn a_fit_is_refused_too_before_anything_is_spent() {
    let folder = Folder::new("small_delta");
    let ended =
        folder.fit("--sparsity 3 --epsilon 5 --backend secure-sum --clients 3 --delta 1e-30");
    ended.assert_refused(2, "sprifed::plan::impossible");
    insta::assert_snapshot!(ended.stderr);
}

#[test]
fn epsilon_is_that_of_the_noise_at_what_the_protocol_leaves_of_delta() {
    let (total, failure) = (1e-19, 2f64.powi(-64));
    let folder = Folder::new("delta_parts");
    let fit = folder
        .fit("--sparsity 3 --epsilon 5 --backend secure-sum --clients 3 --delta 1e-19 --json");
    let plan = |command: &str| answer(&format!("{command} --clients 3 --delta 1e-19"));
    for found in [fit.json(), plan(COMMANDS[0]), plan(COMMANDS[2])] {
        assert_near(number(&found, "/guarantee/protocol_failure"), failure, 0.0);
        assert_near(number(&found, "/guarantee/delta"), total, 0.0);
        let mu = number(&found, "/guarantee/mu");
        let left = total - failure;
        let noise = answer(&format!("account epsilon --mu {mu} --delta {left:e}"));
        let epsilon = number(&found, "/guarantee/epsilon");
        assert_near(epsilon, number(&noise, "/epsilon"), 1e-9);
        let naive = answer(&format!("account epsilon --mu {mu} --delta {total:e}"));
        assert!(epsilon > number(&naive, "/epsilon") + 1e-3);
    }
}

#[test]
fn a_plan_says_which_failure_harms_privacy_and_which_only_a_sum() {
    let mut seen = Transcript::new();
    let random_graph = 2.0 * 2f64.powi(-42);
    let cryptography = 2f64.powi(-64);
    for (clients, privacy, availability) in [
        (3, cryptography, 0.0),
        (50, random_graph + cryptography, random_graph),
    ] {
        let plan = format!("{} --clients {clients} --delta 1e-6", COMMANDS[0]);
        let found = answer(&plan);
        let failures = &found["secure_sums"]["failures"];
        assert_near(number(failures, "/privacy/in_the_study"), privacy, 0.0);
        assert_eq!(failures["privacy"]["is_in_delta"], true);
        let in_delta = number(&found, "/guarantee/protocol_failure");
        assert_near(in_delta, privacy, 0.0);
        assert_near(
            number(failures, "/availability/for_each_sum"),
            availability,
            0.0,
        );
        assert_eq!(failures["availability"]["is_in_delta"], false);
        let wrapped = number(failures, "/accuracy/in_the_study");
        assert_near(wrapped, 2f64.powi(-40), 1e-24);
        assert_eq!(failures["accuracy"]["is_in_delta"], false);
        let said = text(&plan);
        seen.add(format!("{clients} clients"), &said);
        assert!(!said.contains("2^-40"), "{said}");
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn two_clients_are_enough_for_secure_sums() {
    // Enough records for both to seek features: their plans have the same steps.
    let line = COMMANDS[0].replace("--records 300", "--records 600");
    let planned = answer(&format!("{line} --clients 2 --delta 1e-6"));
    let curator = line.replace("--backend secure-sum", "");
    let alone = answer(&format!("{curator} --delta 1e-6"));
    // Two whole shares of noise: the square root of two times a curator's.
    let noise = |found| number(found, "/steps/0/relative_noise/0");
    let ratio = noise(&planned) / noise(&alone);
    assert_near(ratio, core::f64::consts::SQRT_2, 0.02);
    let said = text(&format!("{} --clients 2 --delta 1e-6", COMMANDS[1]));
    assert!(said.contains("the 2 clients, one share each"), "{said}");
    let folder = Folder::new("two_clients");
    let fit = folder.fit("--sparsity 3 --epsilon 50 --backend secure-sum --clients 2 --json");
    assert_eq!(fit.exit_code, 0, "{}", fit.stderr);
    assert_eq!(fit.json()["clients"], 2);
}
