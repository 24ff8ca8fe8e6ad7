//! Every answer in JSON that any test of this program sees fits the published schema of its command.
//!
//! The schemas are in `docs/json`; `src/published.rs` derives them from the structs that are printed.

use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::command::{answer, run, sprifed};

/// Commands that have tasks of their own.
pub(crate) const GROUPS: [&str; 4] = ["account", "ledger", "schema", "study"];

const POLICY: &str = "coordinators = []\npurposes = [\"any\"]\ncolumns = [\"y\", \"x*\"]\nexpires = \"2999-12-31\"\n\
    largest-epsilon-per-study = 2.0\nlargest-epsilon-in-total = 2.0\nlargest-delta = 1e-5\nlargest-delta-in-total = 1e-5\n\
    smallest-quorum = 3\nlargest-colluder-share = 0.0\nprocedures = [\"sieve\"]\nunits = [\"record\"]\n\
    neighbours = [\"zero-out\"]\ntrustees = []\nlargest-trustee-coalition = 1\nallow-simulated-noise = true\n[parties]\n";

/// Files that start processes: those of the binary, and a browser.
const STARTERS: [&str; 2] = ["process.rs", "browser.rs"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/json")
}

/// Checks what a command with these arguments printed, if it was asked for JSON.
pub(crate) fn observe(words: &[String], stdout: &[u8]) {
    let is_asked = |option: &str| words.iter().any(|word| word == option);
    if stdout.is_empty() || !is_asked("--json") || is_asked("--help") {
        return;
    }
    let answer: Value = serde_json::from_slice(stdout)
        .unwrap_or_else(|error| panic!("{words:?} printed no JSON: {error}"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let name = name_of(&words, &answer);
    if let Some(problem) = problem_of(&name, &answer) {
        panic!("{words:?} does not fit {name}.schema.json: {problem}\n{answer:#}");
    }
}

/// What in `answer` does not fit the schema with this name.
fn problem_of(name: &str, answer: &Value) -> Option<String> {
    let path = folder().join(format!("{name}.schema.json"));
    let schema = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema = serde_json::from_slice(&schema).unwrap();
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    let place = "https://answer.invalid/";
    compiler.add_resource(place, schema).unwrap();
    let schema = compiler.compile(place, &mut schemas).unwrap();
    let checked = schemas.validate(answer, schema);
    checked.err().map(|error| format!("{error:#}"))
}

/// The name of the schema: that of the command, or of what every command may end with.
fn name_of(words: &[&str], answer: &Value) -> String {
    for end in ["error", "interrupted"] {
        if answer.get(end).is_some() {
            return end.to_owned();
        }
    }
    let mut command = words.iter().filter(|word| **word != "--json");
    let first = command.next().copied().unwrap_or_default();
    match command.next() {
        Some(second) if GROUPS.contains(&first) => format!("{first}-{second}"),
        Some(&"list") if first == "experiment" => "experiment-list".to_owned(),
        _ if ["join", "trustee"].contains(&first) && words.contains(&"--check") => {
            format!("{first}-check")
        }
        _ => first.to_owned(),
    }
}

#[test]
fn numbers_beyond_all_doubles_fit_the_schemas_too() {
    answer("account delta --mu 1 --epsilon 1e300");
    answer(
        "account plan --algorithm omp --clients 100 --feature-bound 1e308 --response-bound 1e308 --features 10 \
         --sparsity 1 --mu-p 1 --mu-s 1 --delta 1e-6",
    );
}

#[test]
fn every_command_has_a_schema() {
    // Their answers are checked wherever a test runs them; here are those that no other test asks for JSON.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("json_schema");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let place = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (dpo, north, log) = (place("dpo"), place("north"), place("log.jsonl"));
    let (policy, party) = (
        format!("{north}/policy.toml"),
        format!("{north}/party.json"),
    );
    run(["study", "officer", &dpo, "--json"]);
    run([
        "study",
        "identity",
        "north",
        "--records",
        "400",
        "--out",
        &north,
        "--json",
    ]);
    fs::write(&policy, POLICY).unwrap();
    let signed = ["--officer", &dpo, "--party", &party, "--json"];
    run(["study", "sign-policy", &policy].into_iter().chain(signed));
    run([
        "ledger",
        "limit",
        &north,
        "--epsilon",
        "10",
        "--delta",
        "1e-5",
        "--json",
    ]);
    run(["ledger", "show", &north, "--json"]);
    run(["ledger", "export", &north, "--out", &log, "--json"]);
    run(["ledger", "verify", &log, "--json"]);
    run(["demo", "--out", &place("demo"), "--json"]);
    run([
        "experiment",
        "privacy",
        "--quick",
        "--out",
        &place("paper"),
        "--json",
    ]);
    for line in [
        "account paper --json",
        "experiment list --json",
        "account delta --mu -1 --epsilon 1 --json",
        "fit no-such-table.csv --sparsity 2 --epsilon 1 --json",
    ] {
        sprifed(line);
    }
    let help = sprifed("--help").stdout;
    for command in commands_of(&help) {
        let names = if GROUPS.contains(&command.as_str()) {
            let tasks = commands_of(&sprifed(&format!("{command} --help")).stdout);
            tasks
                .iter()
                .map(|task| format!("{command}-{task}"))
                .collect()
        } else {
            vec![command]
        };
        for name in names {
            let path = self::folder().join(format!("{name}.schema.json"));
            assert!(path.exists(), "{} is missing", path.display());
        }
    }
}

/// The names under `Commands:` of a help text.
pub(crate) fn commands_of(help: &str) -> Vec<String> {
    let lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"));
    let listed = lines.skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.map(str::to_owned).collect()
}

#[test]
fn an_answer_with_other_keys_or_types_does_not_fit() {
    let right = answer("account delta --mu 1 --epsilon 1");
    assert_eq!(problem_of("account-delta", &right), None);
    let changed = |key: &str, value: Option<Value>| {
        let mut answer = right.clone();
        let fields = answer.as_object_mut().unwrap();
        match value {
            Some(value) => fields.insert(key.to_owned(), value),
            None => fields.remove(key),
        };
        answer
    };
    for wrong in [
        changed("new", Some(json!(0))),
        changed("delta", None),
        changed("delta", Some(json!("1"))),
        changed("rounded", Some(json!("sideways"))),
        changed("schema_version", None),
        changed("schema_version", Some(json!(2))),
    ] {
        assert!(problem_of("account-delta", &wrong).is_some(), "{wrong}");
    }
    let mut nested =
        answer("plan --records 400 --features 20 --sparsity 2 --epsilon 2 --forecast-trials 0");
    assert_eq!(problem_of("plan", &nested), None);
    nested["guarantee"]["new"] = json!(0);
    assert!(problem_of("plan", &nested).is_some());
}

#[test]
fn the_binary_is_run_in_one_way() {
    fn check(folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                check(&path);
                continue;
            }
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !name.ends_with(".rs") || STARTERS.contains(&name.as_str()) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for call in ["output", "spawn", "status"].map(|call| format!(".{call}()")) {
                assert!(
                    !text.contains(&call),
                    "{} calls {call}: use `output_of` or `Running`, which check answers in JSON",
                    path.display()
                );
            }
        }
    }
    check(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it"));
}
