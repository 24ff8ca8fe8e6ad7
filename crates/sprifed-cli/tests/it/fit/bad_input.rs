//! What `fit` refuses: what was found, what to do, the right exit code, and nothing left behind.

use super::table::Folder;
use crate::command::{Ended, run};
use crate::transcript::Transcript;

/// Adds how a fit was refused, which must be with `exit_code` and have left no file.
fn refused(seen: &mut Transcript, case: &str, folder: &Folder, ended: &Ended, exit_code: i32) {
    assert_eq!(
        (ended.exit_code, ended.stdout.as_str()),
        (exit_code, ""),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("help: ") || ended.stderr.contains("try '--help'"),
        "{}",
        ended.stderr
    );
    let left = folder
        .files()
        .into_iter()
        .find(|name| name.contains("model.json"));
    assert_eq!(left, None, "a refusal left a file");
    seen.add(case, &ended.stderr);
}

/// How the only fit of a test was refused.
fn only_refusal(folder: &Folder, ended: &Ended, exit_code: i32) -> Transcript {
    let mut seen = Transcript::new();
    refused(&mut seen, "fit", folder, ended, exit_code);
    seen
}

const SIMPLE: &str = "--sparsity 3 --epsilon 2";

#[test]
fn without_a_schema_it_says_why_bounds_cannot_be_read_off_the_data() {
    let folder = Folder::new("no_schema");
    let (data, out) = (folder.path("data.csv"), folder.path("model.json"));
    let fixed = ["fit", &data, "--out", &out];
    let ended = run(fixed.into_iter().chain(SIMPLE.split(' ')));
    let mut seen = Transcript::new();
    refused(&mut seen, "no schema", &folder, &ended, 2);
    insta::assert_snapshot!(seen);
}

#[test]
fn a_schema_file_that_is_not_there_is_a_matter_of_the_environment() {
    let folder = Folder::new("absent_schema");
    std::fs::remove_file(folder.path("schema.toml")).unwrap();
    insta::assert_snapshot!(only_refusal(&folder, &folder.fit(SIMPLE), 3));
}

#[test]
fn a_table_that_is_not_there_is_a_matter_of_the_environment() {
    let folder = Folder::new("absent_table");
    let ended = folder.fit_file("other.csv", SIMPLE);
    insta::assert_snapshot!(only_refusal(&folder, &ended, 3));
}

#[test]
fn a_draft_that_was_not_filled_in_is_refused() {
    let folder = Folder::new("unfilled");
    let draft = run(["schema", "draft", &folder.path("data.csv")]);
    folder.write("schema.toml", &draft.stdout);
    insta::assert_snapshot!(only_refusal(&folder, &folder.fit(SIMPLE), 2));
}

#[test]
fn schemas_that_contradict_themselves_or_the_command_are_refused() {
    let cases = [
        ("target", "", "--target x_3"),
        ("two_roles", "[feature.y]\nlower = 0\nupper = 1\n", ""),
        ("bounds", "[feature.x_1]\nlower = 2\nupper = 1\n", ""),
        ("unknown_key", "[feature.x_1]\nlower = 0\nuper = 1\n", ""),
        ("absent_column", "[feature.z]\nlower = 0\nupper = 1\n", ""),
    ];
    let mut seen = Transcript::new();
    for (name, more, options) in cases {
        let folder = Folder::new(&format!("schema_{name}"));
        folder.write("schema.toml", &(folder.read("schema.toml") + more));
        let ended = folder.fit(&format!("{SIMPLE} {options}"));
        refused(&mut seen, name, &folder, &ended, 2);
    }
    insta::assert_snapshot!(seen);
}

/// `csv` with another value in the first column of the first record.
fn with_first_value(csv: &str, value: &str) -> String {
    let (header, records) = csv.split_once('\n').unwrap();
    let (_, rest) = records.split_once(',').unwrap();
    format!("{header}\n{value},{rest}")
}

#[test]
fn tables_that_do_not_fit_are_refused_without_showing_a_value() {
    type Change = fn(&str) -> String;
    let cases: [(&str, Change); 5] = [
        ("text", |csv| with_first_value(csv, "secret-4711")),
        ("duplicate", |csv| csv.replacen("x_2,", "x_1,", 1)),
        ("empty", |csv| csv.lines().next().unwrap().to_owned() + "\n"),
        ("nothing", |_| String::new()),
        ("missing", |csv| with_first_value(csv, "")),
    ];
    let mut seen = Transcript::new();
    for (name, change) in cases {
        let folder = Folder::new(&format!("table_{name}"));
        folder.write("data.csv", &change(&folder.read("data.csv")));
        let schema = folder.read("schema.toml")
            + "include = [\"x_0\", \"x_1\", \"x_4\", \"x_5\", \"x_6\"]\n";
        folder.write("schema.toml", &schema);
        let ended = folder.fit(SIMPLE);
        refused(&mut seen, name, &folder, &ended, 2);
        assert!(!ended.stderr.contains("4711"), "{}", ended.stderr);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_sparsity_that_no_model_has_is_refused() {
    let folder = Folder::new("sparsity");
    let mut seen = Transcript::new();
    for sparsity in ["0", "20", "21"] {
        let ended = folder.fit(&format!("--sparsity {sparsity} --epsilon 2"));
        refused(&mut seen, sparsity, &folder, &ended, 2);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn clients_without_records_and_two_splits_are_refused() {
    let folder = Folder::new("bad_clients");
    let mut seen = Transcript::new();
    for clients in ["3001", "0"] {
        let ended = folder.fit(&format!("{SIMPLE} --clients {clients}"));
        refused(&mut seen, clients, &folder, &ended, 2);
    }
    let schema = folder.read("schema.toml") + "exclude = [\"x_0\"]\n[record]\nclient = \"x_0\"\n";
    folder.write("schema.toml", &schema);
    let ended = folder.fit(&format!("{SIMPLE} --clients 10"));
    refused(&mut seen, "two splits", &folder, &ended, 2);
    insta::assert_snapshot!(seen);
}

#[test]
fn illegal_budgets_and_unknown_names_are_refused() {
    let folder = Folder::new("budget");
    let mut seen = Transcript::new();
    for options in [
        "--sparsity 3 --epsilon -1",
        "--sparsity 3 --epsilon nan",
        "--sparsity 3 --epsilon 1 --delta 0",
        "--sparsity 3 --epsilon 1 --delta 1",
        "--sparsity 3 --epsilon 1 --procedure omp",
        "--sparsity 3 --epsilon 1 --backend trusted-hardware",
        "--sparsity 3 --epsilon 1 --neighbours add-remove",
        "--sparsity 3 --epsilon 1 --seed 1",
        "--sparsity 3",
        "--sparsity 3 --epsilon 1e-9 --procedure argmax",
    ] {
        refused(&mut seen, options, &folder, &folder.fit(options), 2);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_model_is_not_overwritten_without_force() {
    let folder = Folder::new("overwrite");
    folder.write("model.json", "precious");
    let ended = folder.fit(SIMPLE);
    ended.assert_refused(2, "sprifed::file::exists");
    let mut seen = Transcript::new();
    seen.add("fit", &ended.stderr);
    insta::assert_snapshot!(seen);
    assert_eq!(folder.read("model.json"), "precious");
    assert_eq!(folder.files().len(), 3);
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_anything_is_spent() {
    let folder = Folder::new("unwritable");
    let ended = folder.fit_to("data.csv", "nowhere/model.json", SIMPLE);
    insta::assert_snapshot!(only_refusal(&folder, &ended, 3));
}

#[test]
fn a_score_on_the_table_itself_must_be_called_what_it_is() {
    let folder = Folder::new("hidden_score");
    let data = folder.path("data.csv");
    let ended = folder.fit(&format!("{SIMPLE} --evaluate {data}"));
    insta::assert_snapshot!(only_refusal(&folder, &ended, 2));
}

#[test]
fn a_table_to_evaluate_on_is_checked_before_anything_is_spent() {
    let folder = Folder::new("bad_evaluation");
    folder.write("test.csv", "x_0,y\n1,2\n");
    let test = folder.path("test.csv");
    let ended = folder.fit(&format!("{SIMPLE} --evaluate {test}"));
    insta::assert_snapshot!(only_refusal(&folder, &ended, 2));
}

#[test]
fn a_refusal_as_json_is_one_object_with_code_and_help() {
    let folder = Folder::new("json_refusal");
    let ended = folder.fit("--sparsity 20 --epsilon 1 --json");
    assert_eq!(ended.exit_code, 2);
    assert_eq!(ended.json()["error"]["code"], "sprifed::plan::impossible");
}
