//! What `fit` refuses: what was found, what to do, the right exit code, and nothing left behind.

use super::table::Folder;
use crate::command::{Ended, run};

/// Asserts that a fit was refused with `exit_code` and all `parts`, and left no file.
fn refused(folder: &Folder, ended: &Ended, exit_code: i32, parts: &[&str]) {
    assert_eq!(
        (ended.exit_code, ended.stdout.as_str()),
        (exit_code, ""),
        "{}",
        ended.stderr
    );
    for part in parts {
        assert!(
            ended.stderr.contains(part),
            "lacks {part:?}:\n{}",
            ended.stderr
        );
    }
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
}

const SIMPLE: &str = "--sparsity 3 --epsilon 2";

#[test]
fn without_a_schema_it_says_why_bounds_cannot_be_read_off_the_data() {
    let folder = Folder::new("no_schema");
    let (data, out) = (folder.path("data.csv"), folder.path("model.json"));
    let ended = run([
        "fit",
        &data,
        "--out",
        &out,
        "--sparsity",
        "3",
        "--epsilon",
        "1",
    ]);
    let parts = [
        "cannot be read off the data",
        "the value of one record",
        "schema draft",
        "nothing was spent",
    ];
    refused(&folder, &ended, 2, &parts);
}

#[test]
fn a_schema_file_that_is_not_there_is_a_matter_of_the_environment() {
    let folder = Folder::new("absent_schema");
    std::fs::remove_file(folder.path("schema.toml")).unwrap();
    refused(
        &folder,
        &folder.fit(SIMPLE),
        3,
        &["schema.toml", "cannot be opened"],
    );
}

#[test]
fn a_table_that_is_not_there_is_a_matter_of_the_environment() {
    let folder = Folder::new("absent_table");
    refused(
        &folder,
        &folder.fit_file("other.csv", SIMPLE),
        3,
        &["other.csv", "cannot be opened"],
    );
}

#[test]
fn a_draft_that_was_not_filled_in_is_refused() {
    let folder = Folder::new("unfilled");
    let draft = run(["schema", "draft", &folder.path("data.csv")]);
    folder.write("schema.toml", &draft.stdout);
    refused(
        &folder,
        &folder.fit(SIMPLE),
        2,
        &["FILL_IN", "known without looking at the records"],
    );
}

#[test]
fn schemas_that_contradict_themselves_or_the_command_are_refused() {
    let cases = [
        ("target", "", "--target x_3", "x_3"),
        (
            "two_roles",
            "[feature.y]\nlower = 0\nupper = 1\n",
            "",
            "the response",
        ),
        (
            "bounds",
            "[feature.x_1]\nlower = 2\nupper = 1\n",
            "",
            "lower < upper",
        ),
        (
            "unknown_key",
            "[feature.x_1]\nlower = 0\nuper = 1\n",
            "",
            "uper",
        ),
        (
            "absent_column",
            "[feature.z]\nlower = 0\nupper = 1\n",
            "",
            "no such column",
        ),
    ];
    for (name, more, options, part) in cases {
        let folder = Folder::new(&format!("schema_{name}"));
        folder.write("schema.toml", &(folder.read("schema.toml") + more));
        refused(
            &folder,
            &folder.fit(&format!("{SIMPLE} {options}")),
            2,
            &[part],
        );
    }
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
    let cases: [(&str, Change, &str); 5] = [
        ("text", |csv| with_first_value(csv, "secret-4711"), "text"),
        (
            "duplicate",
            |csv| csv.replacen("x_2,", "x_1,", 1),
            "more than once",
        ),
        (
            "empty",
            |csv| csv.lines().next().unwrap().to_owned() + "\n",
            "n = 0",
        ),
        ("nothing", |_| String::new(), "empty"),
        ("missing", |csv| with_first_value(csv, ""), "missing"),
    ];
    for (name, change, part) in cases {
        let folder = Folder::new(&format!("table_{name}"));
        folder.write("data.csv", &change(&folder.read("data.csv")));
        let schema = folder.read("schema.toml")
            + "include = [\"x_0\", \"x_1\", \"x_4\", \"x_5\", \"x_6\"]\n";
        folder.write("schema.toml", &schema);
        let ended = folder.fit(SIMPLE);
        refused(&folder, &ended, 2, &[part]);
        assert!(!ended.stderr.contains("4711"), "{}", ended.stderr);
    }
}

#[test]
fn a_sparsity_that_no_model_has_is_refused() {
    let folder = Folder::new("sparsity");
    for sparsity in ["0", "20", "21"] {
        let ended = folder.fit(&format!("--sparsity {sparsity} --epsilon 2"));
        refused(
            &folder,
            &ended,
            2,
            &["below the number of features", "nothing was spent"],
        );
    }
}

#[test]
fn clients_without_records_and_two_splits_are_refused() {
    let folder = Folder::new("bad_clients");
    refused(
        &folder,
        &folder.fit(&format!("{SIMPLE} --clients 3001")),
        2,
        &["3001 clients", "3000 records"],
    );
    refused(
        &folder,
        &folder.fit(&format!("{SIMPLE} --clients 0")),
        2,
        &["0 clients"],
    );
    let schema = folder.read("schema.toml") + "exclude = [\"x_0\"]\n[record]\nclient = \"x_0\"\n";
    folder.write("schema.toml", &schema);
    refused(
        &folder,
        &folder.fit(&format!("{SIMPLE} --clients 10")),
        2,
        &["--clients 10", "x_0"],
    );
}

#[test]
fn illegal_budgets_and_unknown_names_are_refused() {
    let folder = Folder::new("budget");
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
    ] {
        refused(&folder, &folder.fit(options), 2, &[]);
    }
    refused(
        &folder,
        &folder.fit("--sparsity 3 --epsilon 1e-9 --procedure argmax"),
        2,
        &["nothing was spent"],
    );
}

#[test]
fn a_model_is_not_overwritten_without_force() {
    let folder = Folder::new("overwrite");
    folder.write("model.json", "precious");
    let ended = folder.fit(SIMPLE);
    assert_eq!((ended.exit_code, ended.stdout.as_str()), (2, ""));
    assert!(
        ended.stderr.contains("--force") && ended.stderr.contains("nothing was spent"),
        "{}",
        ended.stderr
    );
    assert_eq!(folder.read("model.json"), "precious");
    assert_eq!(folder.files().len(), 3);
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_anything_is_spent() {
    let folder = Folder::new("unwritable");
    let [data, schema, out] =
        ["data.csv", "schema.toml", "nowhere/model.json"].map(|name| folder.path(name));
    let ended = run([
        "fit",
        &data,
        "--schema",
        &schema,
        "--out",
        &out,
        "--sparsity",
        "3",
        "--epsilon",
        "1",
    ]);
    refused(&folder, &ended, 3, &["cannot be written"]);
}

#[test]
fn a_score_on_the_table_itself_must_be_called_what_it_is() {
    let folder = Folder::new("hidden_score");
    let data = folder.path("data.csv");
    refused(
        &folder,
        &folder.fit(&format!("{SIMPLE} --evaluate {data}")),
        2,
        &["--score-not-private"],
    );
}

#[test]
fn a_table_to_evaluate_on_is_checked_before_anything_is_spent() {
    let folder = Folder::new("bad_evaluation");
    folder.write("test.csv", "x_0,y\n1,2\n");
    let test = folder.path("test.csv");
    refused(
        &folder,
        &folder.fit(&format!("{SIMPLE} --evaluate {test}")),
        2,
        &["lacks 19", "`x_1`"],
    );
}

#[test]
fn a_refusal_as_json_is_one_object_with_code_and_help() {
    let folder = Folder::new("json_refusal");
    let ended = folder.fit("--sparsity 20 --epsilon 1 --json");
    assert_eq!(ended.exit_code, 2);
    assert_eq!(ended.json()["error"]["code"], "sprifed::plan::impossible");
}
