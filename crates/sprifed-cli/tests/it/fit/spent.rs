//! What was spent is never said to be unspent, and what says so is never lost.

use super::table::Folder;
use crate::command::run;
use crate::transcript::Transcript;

const SIMPLE: &str = "--sparsity 3 --epsilon 2";

#[test]
fn a_score_that_fails_after_the_release_says_that_the_budget_is_spent() {
    let folder = Folder::new("score_fails");
    let table = folder.read("data.csv");
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    lines[40] = lines[40]
        .split(',')
        .map(|_| "text")
        .collect::<Vec<_>>()
        .join(",");
    folder.write("broken.csv", &lines.join("\n"));
    let options = format!("{SIMPLE} --evaluate {}", folder.path("broken.csv"));
    let ended = folder.fit(&options);
    assert_ne!(ended.exit_code, 0, "{}", ended.stdout);
    let mut seen = Transcript::new();
    seen.add("fit", &ended.stderr);
    insta::assert_snapshot!(seen);
    assert!(
        !ended.stderr.contains("nothing was spent"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("for each record"), "{}", ended.stdout);
    assert!(folder.files().contains(&"model.json".to_owned()));
}

#[test]
fn a_file_whose_receipts_cannot_be_read_is_not_replaced() {
    let folder = Folder::new("damaged_receipts");
    folder.write("model.json", "{\"receipts\":[");
    let ended = folder.fit(&format!("{SIMPLE} --force"));
    assert_eq!(ended.exit_code, 2, "{}", ended.stderr);
    assert_eq!(folder.read("model.json"), "{\"receipts\":[");
}

#[test]
fn a_model_never_replaces_the_table_it_is_made_from() {
    let folder = Folder::new("out_is_data");
    let before = folder.read("data.csv");
    let ended = folder.fit_file(
        "data.csv",
        &format!("{SIMPLE} --force --out {}", folder.path("data.csv")),
    );
    assert_ne!(ended.exit_code, 0);
    assert_eq!(folder.read("data.csv"), before);
}

#[test]
fn the_guarantee_of_a_model_is_computed_again_and_an_edited_one_is_refused() {
    let folder = Folder::new("verified");
    let ended = folder.fit(SIMPLE);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let path = folder.path("model.json");
    let mut model = folder.json("model.json");
    let epsilon = model["guarantee"]["epsilon"].as_f64().unwrap();
    model["guarantee"]["epsilon"] = (epsilon / 2.0).into();
    folder.write("model.json", &model.to_string());
    let refused = run(["verify", &path]);
    assert_eq!(refused.exit_code, 1, "{}", refused.stderr);
    let named = run(["verify", &path, "--model", &path]);
    assert_ne!(named.exit_code, 0);
}

#[test]
fn a_model_is_not_called_verified_because_its_coefficients_can_be_edited() {
    let folder = Folder::new("unsigned");
    let ended = folder.fit(SIMPLE);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let mut model = folder.json("model.json");
    model["features"][0]["coefficient"] = 1234.5.into();
    folder.write("edited.json", &model.to_string());
    let mut seen = Transcript::new();
    for name in ["model.json", "edited.json"] {
        let path = folder.path(name);
        let checked = run(["verify", &path]);
        assert_eq!(checked.exit_code, 0, "{}", checked.stderr);
        let said = &checked.stdout;
        assert!(!said.contains("VERIFIED"), "{said}");
        seen.add(name, said);
        let answer = run(["verify", &path, "--json"]).json();
        assert_eq!(answer["verified"], false);
        assert_eq!(answer["consistent"], true);
        assert_eq!(answer["signed"], false);
        assert_eq!(answer["model_checked"], false);
    }
    insta::assert_snapshot!(seen);
}
