//! `plan`: what can be found, what is assumed, and which procedure is chosen.

use serde_json::Value;

use crate::command::{answer, number, sprifed, text};
use crate::fit::table::Folder;

fn procedures(plan: &Value) -> Vec<(f64, String)> {
    let rows = plan["forecast"]["rows"].as_array().unwrap();
    let name = |row: &Value| row["procedure"].as_str().unwrap().to_owned();
    rows.iter()
        .map(|row| (number(row, "/population_r2"), name(row)))
        .collect()
}

#[test]
fn without_a_stated_r2_four_are_shown_for_every_procedure_and_the_fit_without_noise() {
    let plan =
        answer("plan --records 400 --features 60 --sparsity 2 --epsilon 3 --forecast-trials 2");
    let found = procedures(&plan);
    assert_eq!(found.len(), 16, "{found:?}");
    for r2 in [0.1, 0.25, 0.5, 0.8] {
        for name in ["grad", "sieve", "argmax", "non-private-omp"] {
            assert!(found.contains(&(r2, name.to_owned())), "{r2} {name}");
        }
    }
    assert_eq!(plan["forecast"]["records_for_90_percent"], Value::Null);
}

#[test]
fn a_forecast_promises_no_more_than_the_stated_r2() {
    let plan = answer(
        "plan --records 600 --features 60 --sparsity 2 --epsilon 3 --r2 0.3 --forecast-trials 2",
    );
    for row in plan["forecast"]["rows"].as_array().unwrap() {
        assert!(number(row, "/test_r2/mean") <= 0.3, "{row}");
    }
    let assumes = plan["forecast"]["assumes"].as_str().unwrap();
    assert!(assumes.contains("0.3"), "{assumes}");
}

#[test]
fn below_the_floor_a_plan_says_first_that_nothing_can_be_found() {
    let line = "plan --records 60 --features 5000 --sparsity 5 --epsilon 1";
    let plan = answer(line);
    assert_eq!(plan["floor"]["is_below"], true);
    assert_eq!(plan["forecast"], Value::Null);
    insta::assert_snapshot!(text(line));
}

#[test]
fn auto_takes_argmax_on_a_curator_and_a_procedure_of_sums_on_secure_sums() {
    let size = "plan --records 2000 --features 3000 --sparsity 5 --epsilon 3 --forecast-trials 0";
    let curator = answer(size);
    assert_eq!(curator["procedure"], "argmax");
    assert_eq!(curator["choice"]["is_auto"], true);
    let clients = answer(&format!("{size} --backend secure-sum --clients 50"));
    assert_ne!(clients["procedure"], "argmax");
    assert_eq!(clients["floor"]["choices"], Value::Null);
}

#[test]
fn a_plan_refuses_what_a_fit_refuses_argmax_on_secure_sums() {
    let planned = sprifed(
        "plan --backend secure-sum --procedure argmax --records 3000 --features 20 --sparsity 3 --epsilon 2 --clients 10",
    );
    let folder = Folder::new("argmax_on_sums");
    let fitted =
        folder.fit("--backend secure-sum --procedure argmax --sparsity 3 --epsilon 2 --clients 10");
    planned.assert_refused(2, "sprifed::fit::needs-choices");
    assert_eq!(planned.stderr, fitted.stderr);
    assert_eq!(fitted.exit_code, 2);
    insta::assert_snapshot!(planned.stderr);
}

#[test]
fn a_schema_states_the_unit_and_the_number_of_features() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("schema.toml");
    let mut schema = "[response]\nname = \"y\"\nlower = -1\nupper = 1\n\
                      [record]\nclient = \"who\"\nunit = \"client\"\n"
        .to_owned();
    for feature in ["a", "b", "c"] {
        schema += &format!("[feature.{feature}]\nlower = -1\nupper = 1\n");
    }
    std::fs::write(&path, schema).unwrap();
    let plan = answer(&format!(
        "plan --records 900 --clients 300 --sparsity 1 --epsilon 3 --schema {} --forecast-trials 0",
        path.display()
    ));
    assert_eq!(plan["features"], 3);
    assert_eq!(plan["guarantee"]["unit"], "client");
}
