//! `schema draft` and `schema check`.

use crate::command::{file, run};
use crate::transcript::Transcript;

const DATA: &str = "id,age,y\nzelda,31,1.5\nquincy,47,2.5\n";
const SCHEMA: &str = "[response]\nname = \"y\"\nlower = 0\nupper = 10\n[features]\nlower = 0\nupper = 120\n\
     exclude = [\"id\"]\n";

fn path(name: &str, contents: &str) -> String {
    file(name, contents).to_str().unwrap().to_owned()
}

#[test]
fn a_draft_names_columns_and_holds_no_value_of_theirs() {
    let data = path("draft.csv", DATA);
    let ended = run(["schema", "draft", &data]);
    assert_eq!((ended.exit_code, ended.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ended.stdout);
    for value in ["31", "47", "1.5", "2.5", "zelda", "quincy"] {
        assert!(!ended.stdout.contains(value), "{value}: {}", ended.stdout);
    }
    let json = run(["schema", "draft", &data, "--json"]).json();
    assert_eq!(
        json["schema"].as_str().unwrap().trim_end(),
        ended.stdout.trim_end()
    );
}

#[test]
fn a_draft_goes_to_a_file_that_is_not_overwritten() {
    let (data, out) = (path("draft_out.csv", DATA), path("draft_out.toml", "mine"));
    assert_eq!(run(["schema", "draft", &data, "--out", &out]).exit_code, 2);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    let forced = run(["schema", "draft", &data, "--out", &out, "--force"]);
    assert_eq!(forced.exit_code, 0, "{}", forced.stderr);
    let mut seen = Transcript::new();
    seen.add("what is said", &forced.stdout);
    seen.add("what is written", &std::fs::read_to_string(&out).unwrap());
    insta::assert_snapshot!(seen);
}

#[test]
fn a_schema_is_checked_alone_and_against_a_table() {
    let (schema, data) = (path("check.toml", SCHEMA), path("check.csv", DATA));
    let alone = run(["schema", "check", &schema]);
    assert_eq!(alone.exit_code, 0, "{}", alone.stderr);
    let mut seen = Transcript::new();
    seen.add("alone", &alone.stdout);
    let fitting = run(["schema", "check", &schema, &data]);
    assert_eq!(fitting.exit_code, 0, "{}", fitting.stderr);
    seen.add("with a table", &fitting.stdout);
    insta::assert_snapshot!(seen);
    let json = run(["schema", "check", &schema, &data, "--json"]).json();
    assert_eq!(
        (&json["usable"], &json["report"]["table"]["n_records"]),
        (&true.into(), &2.into())
    );
}

#[test]
fn a_schema_that_does_not_fit_is_reported_whole_and_refused() {
    let (schema, data) = (
        path("misfit.toml", SCHEMA),
        path("misfit.csv", "age,z\n1,2\n"),
    );
    let ended = run(["schema", "check", &schema, &data]);
    assert_eq!(ended.exit_code, 2);
    assert_eq!(ended.code(), "sprifed::schema::does-not-fit");
    let mut seen = Transcript::new();
    seen.add("the report", &ended.stdout);
    seen.add("the refusal", &ended.stderr);
    insta::assert_snapshot!(seen);
    let json = run(["schema", "check", &schema, &data, "--json"]);
    assert_eq!((json.exit_code, &json.json()["usable"]), (2, &false.into()));
}

#[test]
fn a_schema_that_cannot_be_read_is_refused_by_who_must_act() {
    let broken = path("broken.toml", "[response]\nname = 3\n");
    assert_eq!(run(["schema", "check", &broken]).exit_code, 2);
    assert_eq!(
        run(["schema", "check", "/nonexistent/schema.toml"]).exit_code,
        3
    );
    assert_eq!(
        run(["schema", "draft", "/nonexistent/data.csv"]).exit_code,
        3
    );
}
