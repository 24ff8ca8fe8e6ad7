//! What was spent is never said to be unspent, and what says so is never lost.

use super::table::Folder;

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
