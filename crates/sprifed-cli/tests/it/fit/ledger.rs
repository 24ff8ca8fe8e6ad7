//! Fits that are entered into a ledger, and those that would pass it by.

use serde_json::{Value, json};

use super::table::{Folder, csv};
use crate::command::{Ended, answer, run};
use crate::transcript::Transcript;

fn fit(folder: &Folder, options: &str) -> Ended {
    folder.fit(&format!("--sparsity 3 --force {options}"))
}

fn shown(folder: &Folder) -> Value {
    answer(&format!("ledger show {}", folder.path("ledger")))
}

fn total(folder: &Folder) -> f64 {
    let totals = shown(folder)["totals"]["by_unit_and_neighbours"].take();
    totals[0]["epsilon"].as_f64().unwrap_or(0.0)
}

#[test]
fn fits_are_entered_added_up_and_refused_at_the_limit() {
    let folder = Folder::new("ledger");
    let place = folder.path("ledger");
    answer(&format!("ledger limit {place} --epsilon 5 --delta 1e-4"));
    let entered = format!("--epsilon 2 --ledger {place}");
    for _ in 0..2 {
        let ended = fit(&folder, &entered);
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    }
    let twice = total(&folder);
    assert!(twice > 3.0 && twice <= 4.0, "{twice}");
    let found = shown(&folder);
    assert_eq!(found["lines"].as_array().unwrap().len(), 2);
    assert_eq!(found["lines"][0]["what"], "fit");
    assert_eq!(found["lines"][0]["settled"], true);
    assert_eq!(found["lines"][0]["data"], found["lines"][1]["data"]);
    let model = folder.read("model.json");
    let ended = fit(&folder, &entered);
    ended.assert_refused(1, "sprifed::ledger::refused");
    let mut seen = Transcript::new();
    seen.add("the third fit", &ended.stderr);
    insta::assert_snapshot!(seen);
    assert_eq!(folder.read("model.json"), model, "nothing was released");
    assert!((total(&folder) - twice).abs() < 1e-12);
    // Simulated noise protects no record: it is listed and in no total.
    let ended = fit(&folder, &format!("{entered} --simulate-noise 1"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    assert!((total(&folder) - twice).abs() < 1e-12);
    assert_eq!(shown(&folder)["totals"]["unprotected_studies"], 1);
    let checked = answer(&format!("ledger verify {place}"));
    assert_eq!(checked["verified"], json!(true));
}

#[test]
fn a_table_with_a_ledger_is_not_fitted_past_it() {
    let folder = Folder::new("ledger_past");
    let place = folder.path("ledger");
    let ended = fit(&folder, &format!("--epsilon 2 --ledger {place}"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let ended = fit(&folder, "--epsilon 2");
    ended.assert_refused(2, "sprifed::ledger::needed");
    let mut seen = Transcript::new();
    seen.add("without a ledger", &ended.stderr);
    let other = folder.path("other");
    let ended = fit(&folder, &format!("--epsilon 2 --ledger {other}"));
    ended.assert_refused(1, "sprifed::ledger::refused");
    seen.add("with another ledger", &ended.stderr);
    insta::assert_snapshot!(seen);
    // Noise that is known protects nothing, so such a fit is accounted for, too.
    let ended = fit(&folder, "--epsilon 2 --simulate-noise 1");
    ended.assert_refused(2, "sprifed::ledger::needed");
    assert_eq!(shown(&folder)["lines"].as_array().unwrap().len(), 1);
}

#[test]
fn a_fit_says_where_it_is_accounted_for() {
    let folder = Folder::new("ledger_words");
    let without = fit(&folder, "--epsilon 2");
    let words = "No ledger counts this fit";
    let last: Vec<&str> = without.stdout.lines().rev().take(3).collect();
    assert!(last.iter().any(|line| line.starts_with(words)), "{last:?}");
    let ledger = folder.path("ledger");
    let with = fit(&folder, &format!("--epsilon 2 --ledger {ledger}"));
    assert!(!with.stdout.contains(words), "{}", with.stdout);
}

#[test]
fn a_model_is_not_evaluated_on_another_table_with_a_ledger() {
    let folder = Folder::new("ledger_evaluate");
    let place = folder.path("ledger");
    folder.write("other.csv", &folder.read("data.csv"));
    let ended = fit(&folder, &format!("--epsilon 2 --ledger {place}"));
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let model = folder.read("model.json");
    folder.write("new.csv", &csv(3000, 2));
    let options = format!(
        "--sparsity 3 --epsilon 2 --force --evaluate {}",
        folder.path("other.csv")
    );
    let ended = folder.fit_file("new.csv", &options);
    ended.assert_refused(2, "sprifed::score::accounted");
    let mut seen = Transcript::new();
    seen.add("fit", &ended.stderr);
    insta::assert_snapshot!(seen);
    assert_eq!(folder.read("model.json"), model, "nothing was released");
}

#[test]
fn a_fit_that_is_refused_leaves_nothing_in_the_ledger() {
    let folder = Folder::new("ledger_refused");
    let place = folder.path("ledger");
    let ended = fit(
        &folder,
        &format!("--epsilon 2 --clients 7 --quorum 3 --ledger {place}"),
    );
    assert_ne!(ended.exit_code, 0, "{}", ended.stdout);
    assert!(
        !folder.files().contains(&"ledger".to_owned()),
        "not even one"
    );
    let ended = run(["ledger", "show", &place]);
    assert_eq!(ended.exit_code, 2, "{}", ended.stderr);
}

#[test]
fn a_category_that_is_one_candidate_is_refused_for_other_outcomes_before_it_is_charged() {
    let folder = Folder::new("ledger_category");
    let place = folder.path("ledger");
    answer(&format!("ledger limit {place} --epsilon 5 --delta 1e-4"));
    for (outcome, response) in [
        (
            "binary",
            "name = \"y\"\noutcome = \"binary\"\nlevels = [0, 1]\n",
        ),
        (
            "survival",
            "name = \"t\"\noutcome = \"survival\"\nevent = \"y\"\nhorizon = 30\n",
        ),
    ] {
        let table = csv(3000, 1);
        let mut lines = table.lines();
        let mut changed = format!("arm,t,{}\n", lines.next().unwrap());
        for (record, line) in lines.enumerate() {
            let (features, _) = line.rsplit_once(',').unwrap();
            let (arm, event) = (["low", "mid", "high"][record % 3], record % 2);
            changed += &format!("{arm},{},{features},{event}\n", 1 + record % 40);
        }
        folder.write("data.csv", &changed);
        let unused = match outcome {
            "binary" => "exclude = [\"t\"]\n",
            _ => "",
        };
        let schema = |together: bool| {
            format!(
                "[response]\n{response}[features]\nlower = 0\nupper = 10\n{unused}\
                 [feature.arm]\nlevels = [\"low\", \"mid\", \"high\"]\ntogether = {together}\n"
            )
        };
        folder.write("schema.toml", &schema(true));
        for options in [
            "",
            "--procedure argmax",
            "--procedure sieve --backend secure-sum --clients 12",
        ] {
            let ended = fit(&folder, &format!("--epsilon 2 --ledger {place} {options}"));
            assert_eq!(ended.exit_code, 2, "{}", ended.stderr);
            let words: Vec<&str> = ended.stderr.split_whitespace().collect();
            let says =
                format!("categories that are picked together with the outcome \"{outcome}\"");
            assert!(words.join(" ").contains(&says), "{}", ended.stderr);
            assert!(shown(&folder)["lines"].as_array().unwrap().is_empty());
        }
        // As candidates of their own its levels are fitted.
        folder.write("schema.toml", &schema(false));
        let alone = fit(&folder, "--epsilon 2 --procedure argmax --simulate-noise 1");
        assert_eq!(alone.exit_code, 0, "{}", alone.stderr);
    }
}
