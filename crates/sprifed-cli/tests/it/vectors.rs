//! `account check`: known answers, tampered answers, and files that are none.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::command::{Ended, file, run};
use crate::transcript::Transcript;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn vector_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("vectors"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    files
}

fn vector_file(name: &str) -> PathBuf {
    let path = vector_files()
        .into_iter()
        .find(|path| path.file_stem().unwrap() == name);
    path.expect("a vector file of this name")
}

fn read(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(vector_file(name)).unwrap()).unwrap()
}

fn check(paths: &[PathBuf], options: &[&str]) -> Ended {
    let arguments = ["account", "check"]
        .iter()
        .chain(options)
        .map(OsString::from);
    run(arguments.chain(paths.iter().map(OsString::from)))
}

/// The check of a copy of file `name` that `alter` has changed.
fn check_altered(name: &str, test: &str, alter: impl FnOnce(&mut Value)) -> Ended {
    let mut vectors = read(name);
    alter(&mut vectors);
    let path = file(&format!("{test}.json"), &vectors.to_string());
    check(&[path], &["--json"])
}

#[test]
fn a_file_that_passes_ends_with_zero_and_says_how_many() {
    let ended = check(&[vector_file("sensitivity")], &[]);
    assert_eq!((ended.exit_code, ended.stderr.as_str()), (0, ""));
    let count = read("sensitivity")["vectors"].as_array().unwrap().len();
    let mut seen = Transcript::new();
    seen.hide(root().display().to_string(), "[root]");
    seen.hide(format!("{count} passed"), "[all] passed");
    seen.add("check", &ended.stdout);
    insta::assert_snapshot!(seen);
}

#[test]
fn a_tampered_answer_fails_with_found_expected_and_tolerance() {
    let ended = check_altered("gdp_delta_to_eps", "tampered_answer", |file| {
        let expected = &mut file["vectors"][0]["expected"]["eps"];
        let value: f64 = expected.as_str().unwrap().parse().unwrap();
        *expected = format!("{}", value + 1e-6).into();
    });
    assert_eq!(ended.exit_code, 1);
    let report = ended.json();
    assert_eq!(report["failed"], 1);
    let failure = report["files"][0]["failures"][0].as_str().unwrap();
    for part in [
        "gdp_delta_to_eps-",
        "eps: found ",
        ", expected ",
        " within ",
    ] {
        assert!(failure.contains(part), "{failure}");
    }
    assert_eq!(ended.code(), "sprifed::account::vectors-failed");
}

#[test]
fn an_answer_of_infinity_is_not_met_by_every_number() {
    for value in ["inf", "1e999", "nan", "-inf"] {
        let name = format!("infinite_answer_{value}");
        let ended = check_altered("gdp_to_delta", &name, |file| {
            file["vectors"][0]["expected"]["log_delta"] = value.into();
        });
        assert_eq!(
            (ended.exit_code, &ended.json()["failed"]),
            (1, &json!(1)),
            "{value}"
        );
    }
}

#[test]
fn an_answer_that_is_not_compared_fails() {
    for name in [
        "gdp_to_delta",
        "zcdp_to_approxdp",
        "sensitivity",
        "rounding_modulus",
        "paper_settings",
    ] {
        let ended = check_altered(name, &format!("extra_answer_{name}"), |file| {
            file["vectors"][0]["expected"]["surprise"] = "1".into();
        });
        assert_eq!(ended.exit_code, 1, "{name}");
        let report = ended.json();
        let failure = report["files"][0]["failures"][0]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            failure.contains("surprise: expected, but not compared"),
            "{failure}"
        );
    }
}

#[test]
fn a_vector_without_its_answer_or_its_input_fails() {
    for part in ["expected", "inputs"] {
        let ended = check_altered("gdp_to_delta", &format!("without_{part}"), |file| {
            file["vectors"][0][part] = json!({});
        });
        assert_eq!(
            (ended.exit_code, &ended.json()["failed"]),
            (1, &json!(1)),
            "{part}"
        );
    }
}

#[test]
fn an_illegal_input_of_a_vector_fails_it_without_a_panic() {
    for value in ["-1", "0", "nan", "inf", "much", "1e-2147483648"] {
        let ended = check_altered("gdp_to_delta", &format!("illegal_input_{value}"), |file| {
            file["vectors"][0]["inputs"]["mu"] = value.into();
        });
        assert_eq!(
            (ended.exit_code, &ended.json()["failed"]),
            (1, &json!(1)),
            "{value}"
        );
    }
}

#[test]
fn an_unknown_group_is_a_usage_error_unless_it_is_allowed() {
    let mut vectors = read("gdp_to_delta");
    vectors["vectors"][0]["group"] = "telepathy".into();
    let group = file("unknown_group.json", &vectors.to_string());
    vectors["meta"]["name"] = "telepathy".into();
    let name = file("unknown_name.json", &vectors.to_string());
    let mut seen = Transcript::new();
    for (path, unsupported) in [
        (group, 1),
        (name, vectors["vectors"].as_array().unwrap().len()),
    ] {
        let refused = check(std::slice::from_ref(&path), &["--json"]);
        assert_eq!(
            (refused.exit_code, &refused.json()["unsupported"]),
            (2, &json!(unsupported))
        );
        assert_eq!(refused.code(), "sprifed::account::unsupported-vectors");
        seen.add("refused", &refused.stderr);
        let allowed = check(&[path], &["--allow-unsupported"]);
        assert_eq!((allowed.exit_code, allowed.stderr.as_str()), (0, ""));
        seen.add("allowed", &allowed.stdout);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_missing_file_is_the_environment_and_a_malformed_one_is_usage() {
    let missing = check(&[PathBuf::from("no/such/file.json")], &[]);
    missing.assert_refused(3, "sprifed::file::unreadable");
    let mut seen = Transcript::new();
    seen.add("missing", &missing.stderr);
    let contents = [
        "",
        "{",
        "[]",
        "null",
        "{\"meta\":{}}",
        "{\"meta\":{\"name\":\"sensitivity\"},\"vectors\":7}",
    ];
    for (index, contents) in contents.iter().enumerate() {
        let malformed = check(&[file(&format!("malformed_{index}.json"), contents)], &[]);
        malformed.assert_refused(2, "sprifed::account::bad-vector-file");
        seen.add(contents, &malformed.stderr);
    }
    insta::assert_snapshot!(seen);
    let folder = check(&[PathBuf::from(env!("CARGO_TARGET_TMPDIR"))], &["--json"]);
    assert_eq!(folder.exit_code, 3);
    assert_eq!(folder.json()["error"]["code"], "sprifed::file::unreadable");
}

#[test]
fn a_file_without_vectors_does_not_pass() {
    let ended = check_altered("sensitivity", "no_vectors", |file| {
        file["vectors"] = json!([])
    });
    assert_eq!(ended.exit_code, 2);
    assert_eq!(ended.code(), "sprifed::account::no-vectors");
}

#[test]
fn only_as_many_failures_are_shown_as_asked_for() {
    let mut vectors = read("gdp_delta_to_eps");
    for vector in vectors["vectors"].as_array_mut().unwrap() {
        vector["expected"]["eps"] = "1e6".into();
    }
    let path = file("all_wrong.json", &vectors.to_string());
    let count = vectors["vectors"].as_array().unwrap().len();
    let ended = check(&[path], &["--show", "2"]);
    assert_eq!(ended.exit_code, 1);
    assert_eq!(
        ended
            .stdout
            .lines()
            .filter(|line| line.starts_with("    "))
            .count(),
        2
    );
    let mut seen = Transcript::new();
    seen.hide(format!("{count} "), "[all] ");
    seen.add("why it failed", &ended.stderr);
    insta::assert_snapshot!(seen);
}
