//! `--backend trustees`: choices without a trusted curator, with all roles in one process.

use crate::command::{answer, number, run, sprifed, text};
use crate::fit::table::Folder;

#[test]
fn a_fit_by_trustees_chooses_argmax_and_its_model_verifies() {
    let folder = Folder::new("trustees");
    let fit = |options: &str| {
        let line = format!("--sparsity 3 --epsilon 5 --backend trustees {options} --force --json");
        let ended = folder.fit(&line);
        assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
        ended.json()
    };
    let found = fit("--clients 20");
    assert_eq!(found["procedure"], "argmax", "{found}");
    assert_eq!(found["guarantee"]["backend"], "trustees");
    let statement = found["guarantee"]["statement"].as_str().unwrap();
    assert!(statement.contains("three trustees"), "{statement}");
    assert!(
        statement.contains("This run simulated all clients and trustees in one process"),
        "{statement}"
    );
    let model = folder.path("model.json");
    assert_eq!(run(["verify", &model]).exit_code, 0);
    // Noise that can be repeated gives the same model, bit for bit.
    let again = "--clients 20 --simulate-noise 7";
    assert_eq!(fit(again)["features"], fit(again)["features"]);
}

#[test]
fn a_plan_for_trustees_states_bytes_rounds_records_and_who_sees_what() {
    let size = "plan --records 235 --features 2000 --sparsity 5 --epsilon 5.34 --delta 1e-4 --forecast-trials 0";
    let found = answer(&format!("{size} --backend trustees --clients 20"));
    assert_eq!(found["procedure"], "argmax", "{found}");
    assert_eq!(found["trustees"]["clients"], 20);
    let of_trustee = |name: &str| number(&found, &format!("/trustees/trustee/{name}"));
    assert!(
        of_trustee("rounds") > 100.0 && of_trustee("sends_bytes") > 1e5,
        "{found}"
    );
    let factor = number(&found, "/trustees/records_per_curator_record");
    assert!((1.05..1.4).contains(&factor), "{factor}");
    let words = text(&format!("{size} --backend trustees"));
    assert!(
        words.contains("any two trustees together see every contribution"),
        "{words}"
    );
    assert!(answer(size)["trustees"].is_null());
}

#[test]
fn a_quorum_of_trustees_is_refused() {
    let refused = sprifed(
        "plan --records 300 --features 20 --sparsity 2 --epsilon 5 --backend trustees --quorum 3",
    );
    assert_eq!(refused.exit_code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("three trustees"),
        "{}",
        refused.stderr
    );
}

#[test]
fn trials_and_audits_run_by_trustees() {
    let found = answer(
        "simulate --procedure argmax --backend trustees --clients 10 --records 300 --features 50 --sparsity 2 \
         --epsilon 5 --trials 2 --dropouts 0.1",
    );
    assert_eq!(found["backend"], "trustees", "{found}");
    assert!(number(&found, "/recovered_share/mean") >= 0.5, "{found}");
    let found = answer(
        "audit --procedure argmax --backend trustees --units 12 --features 6 --trials 40 --level 0.99999",
    );
    assert_eq!(found["backend"], "trustees", "{found}");
    assert_eq!(found["verdict"], "consistent", "{found}");
}
