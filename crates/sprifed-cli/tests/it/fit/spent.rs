//! What was spent is never said to be unspent, and what says so is never lost.

use std::fs;
use std::path::{Path, PathBuf};

use super::table::Folder;
use crate::command::{Ended, answer, run};
use crate::federation::stage::wait_until;
use crate::process::{Running, code_of, with_room_for};
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
fn a_page_that_fails_after_the_fit_says_that_the_budget_is_spent() {
    let folder = Folder::new("page_fails");
    let place = folder.path("ledger");
    answer(&format!("ledger limit {place} --epsilon 5 --delta 1e-4"));
    let options = format!(
        "{SIMPLE} --ledger {place} --report {}",
        folder.path("page.html")
    );
    // The fit waits for its ledger, which it opens when it has found the places of both files to be free.
    let opened = PathBuf::from(folder.path("ledger/ledger.sqlite.lock"));
    fs::remove_file(&opened).unwrap();
    let held = rusqlite::Connection::open(folder.path("ledger/ledger.sqlite")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let log = folder.path("log");
    let mut command = folder.fit_command("data.csv", "model.json", &options);
    let fit = Running::start(&mut command, Path::new(&log));
    let is_hidden = |name: &String| name.starts_with(".sprifed-");
    wait_until("the places of both files", || opened.exists());
    assert!(!folder.files().iter().any(is_hidden));
    folder.write("page.html", "another program's");
    held.execute_batch("ROLLBACK").unwrap();
    let ended = fit.finish();
    let said = folder.read("log");
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert_eq!(code_of(&said), "sprifed::file::exists");
    let mut seen = Transcript::new();
    seen.add("fit", &said);
    insta::assert_snapshot!(seen);
    let answered = String::from_utf8(ended.stdout).unwrap();
    assert!(answered.contains("for each record"), "{answered}");
    assert!(!answered.contains("page.html"), "{answered}");
    assert_eq!(folder.read("page.html"), "another program's");
    assert!(!folder.files().iter().any(is_hidden));
    // It is so: the model is whole, and the ledger has the fit.
    let verified = run(["verify", &folder.path("model.json")]);
    assert_eq!(verified.exit_code, 0, "{}", verified.stderr);
    let spent = &answer(&format!("ledger show {place}"))["lines"][0];
    assert_eq!(
        (&spent["what"], &spent["settled"]),
        (&"fit".into(), &true.into())
    );
}

#[test]
fn a_ledger_that_the_disk_refuses_is_said_in_full_and_no_half_of_it_is_left() {
    let folder = Folder::new("spent_fails");
    let options = format!("{SIMPLE} --procedure sieve");
    let command = folder.fit_command("data.csv", "model.json", &options);
    let ended = Ended::of(&mut with_room_for(15, &command));
    ended.assert_refused(3, "sprifed::file::unwritable");
    assert!(
        ended.stderr.contains("keep this record: {"),
        "{}",
        ended.stderr
    );
    assert_eq!(folder.files(), ["data.csv", "schema.toml"]);
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
