//! What was spent is never said to be unspent, and what says so is never lost.

use super::table::Folder;
use crate::command::run;

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
    assert!(ended.stderr.contains("IS SPENT"), "{}", ended.stderr);
    assert!(
        !ended.stderr.contains("nothing was spent"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("-DP for each"), "{}", ended.stdout);
    assert!(folder.files().contains(&"model.json".to_owned()));
}

#[test]
fn a_file_whose_receipts_can_not_be_read_is_not_replaced() {
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
fn a_model_is_verified_and_an_edited_one_is_refused() {
    let folder = Folder::new("verified");
    let ended = folder.fit(SIMPLE);
    assert_eq!(ended.exit_code, 0, "{}", ended.stderr);
    let path = folder.path("model.json");
    let verified = run(["verify", &path]);
    assert_eq!(verified.exit_code, 0, "{}", verified.stderr);
    assert!(verified.stdout.contains("VERIFIED"), "{}", verified.stdout);
    assert!(
        verified.stdout.contains("nobody has signed it"),
        "{}",
        verified.stdout
    );
    let mut model = folder.json("model.json");
    let epsilon = model["guarantee"]["epsilon"].as_f64().unwrap();
    model["guarantee"]["epsilon"] = (epsilon / 2.0).into();
    folder.write("model.json", &model.to_string());
    let refused = run(["verify", &path]);
    assert_eq!(refused.exit_code, 1, "{}", refused.stderr);
    let named = run(["verify", &path, "--model", &path]);
    assert_ne!(named.exit_code, 0);
}
