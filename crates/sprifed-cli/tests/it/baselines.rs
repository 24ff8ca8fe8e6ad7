//! `simulate` with the baselines: what they report, and what they refuse.

use crate::command::{answer, number, sprifed, text};
use crate::transcript::Transcript;

const SMALL: &str = "--records 300 --features 40 --sparsity 3 --trials 2";

#[test]
fn certified_baselines_report_a_guarantee_within_the_budget_and_their_parameters() {
    for procedure in ["dp-sgd", "dp-gcd"] {
        let line = format!("simulate --procedure {procedure} {SMALL} --epsilon 50 --delta 1e-5");
        let found = answer(&line);
        let epsilon = number(&found, "/guarantee/epsilon");
        assert!((49.0..=50.0).contains(&epsilon), "{procedure}: {epsilon}");
        assert_eq!(found["guarantee"]["mode"], "certified");
        assert!(number(&found, "/parameters/steps") >= 1.0);
        assert!(number(&found, "/recovered/mean") >= 2.0, "{found}");
        assert!(number(&found, "/test_mse/median") < number(&found, "/null_mse"));
    }
}

#[test]
fn published_baselines_claim_what_the_papers_formula_gives_and_deliver_nothing() {
    let claimed = |procedure: &str| {
        let line = format!("simulate --procedure {procedure} {SMALL} --reading paper --mu-p 0.5");
        let found = answer(&line);
        assert!(found["guarantee"]["delivered"]["zero-out"].is_null());
        let words = text(&line);
        assert!(words.contains("NOT PRIVATE"), "{words}");
        assert!(words.contains("delivered none"), "{words}");
        number(&found, "/guarantee/claimed/mu")
    };
    // 3·0.5² + 6·0.02², however many steps; 2·4·0.5² for four steps.
    assert!((claimed("paper-dp-sgd") - 0.7524f64.sqrt()).abs() < 1e-9);
    assert!((claimed("paper-dp-sgd --steps 7") - 0.7524f64.sqrt()).abs() < 1e-9);
    assert!((claimed("paper-dp-gcd") - 2.0f64.sqrt()).abs() < 1e-9);
    assert!((claimed("paper-dp-gcd --steps 8") - 2.0).abs() < 1e-9);
}

#[test]
fn tuning_reports_a_free_row_that_is_not_private_and_one_within_the_budget() {
    let line = format!("simulate --procedure dp-sgd {SMALL} --epsilon 100 --tune 2");
    let found = answer(&line);
    let statement = found["free"]["statement"].as_str().unwrap();
    assert!(statement.starts_with("NOT PRIVATE"), "{statement}");
    let epsilon = number(&found, "/charged/guarantee/epsilon");
    assert!((98.0..=100.0).contains(&epsilon), "{epsilon}");
    for row in ["free", "charged"] {
        assert!(number(&found, &format!("/{row}/recovered/mean")) > 0.0);
        assert!(number(&found, &format!("/{row}/null_mse")) > 0.0);
    }
    let published = answer(&format!(
        "simulate --procedure paper-dp-gcd {SMALL} --reading paper --tune 2"
    ));
    assert!(published["charged"].is_null());
}

#[test]
fn what_a_baseline_cannot_do_is_refused_with_the_reason() {
    let mut seen = Transcript::new();
    for options in [
        "dp-sgd --batch-rate 0.1",
        "paper-dp-sgd --batch-rate 0.1",
        "dp-sgd --steps 0",
        "dp-gcd --penalty 1",
        "grad --steps 3",
        "paper-dp-sgd --clip 1",
        "grad --tune 3",
    ] {
        let ended = sprifed(&format!("simulate --procedure {options} {SMALL}"));
        assert_eq!(
            (ended.exit_code, ended.stdout.as_str()),
            (2, ""),
            "{options}"
        );
        seen.add(options, &ended.stderr);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn comparisons_are_for_trials_and_not_for_plans_fits_or_studies() {
    let mut seen = Transcript::new();
    for command in [
        "plan --records 100 --features 20 --sparsity 2 --epsilon 1",
        "fit data.csv --sparsity 2 --epsilon 1",
        "study init heart",
    ] {
        for comparison in ["honest-omp", "honest-grad", "dp-sgd", "dp-gcd", "paper-omp"] {
            let line = format!("{command} --procedure {comparison}");
            let ended = sprifed(&line);
            assert_eq!(ended.exit_code, 2, "{line}");
            seen.add(line, &ended.stderr);
        }
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn trials_of_the_papers_algorithms_state_what_its_theorems_ask_for() {
    let world = "--records 100 --features 20 --sparsity 2 --trials 1";
    for procedure in ["honest-omp", "paper-grad"] {
        let line = format!("simulate --procedure {procedure} {world}");
        let theorem = &answer(&line)["theorem"];
        assert!(
            theorem["omp"]["required_records"].as_f64().unwrap() > 1e3,
            "{theorem}"
        );
        assert_eq!(theorem["grad"]["holds"], false);
        assert!(text(&line).contains("they are sufficient, not necessary"));
    }
    let ours = answer(&format!("simulate --procedure grad {world}"));
    assert!(ours["theorem"].is_null());
}
