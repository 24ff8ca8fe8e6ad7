//! Every answer in JSON that any test of this program sees fits the published schema of its command.
//!
//! After a change that is meant to change answers, run all tests with `SPRIFED_WRITE_GOLDEN=1`, one at a time, and look
//! at what changed in `docs/json`. The schemas use few keywords of JSON Schema, so that a small checker is enough; a
//! keyword that it does not know is a failure.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};

use crate::command::{run, sprifed};

/// Objects whose keys are names that users chose.
const MAPS: [&str; 1] = ["/policy/parties"];

/// Commands that have tasks of their own.
const GROUPS: [&str; 4] = ["account", "ledger", "schema", "study"];

const POLICY: &str = "coordinators = []\npurposes = [\"any\"]\ncolumns = [\"y\", \"x*\"]\nexpires = \"2999-12-31\"\n\
    largest-epsilon-per-study = 2.0\nlargest-epsilon-in-total = 2.0\nlargest-delta = 1e-5\nlargest-delta-in-total = 1e-5\n\
    smallest-quorum = 3\nlargest-colluder-share = 0.0\nprocedures = [\"sieve\"]\nunits = [\"record\"]\n\
    neighbours = [\"zero-out\"]\nallow-simulated-noise = true\n[parties]\n";

/// One writer at a time.
static WRITING: Mutex<()> = Mutex::new(());

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/json")
}

/// Checks what a command with these arguments printed, if it was asked for JSON and printed any.
pub(crate) fn observe<A: AsRef<str>>(arguments: &[A], stdout: &str) {
    let words: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    if !words.contains(&"--json") {
        return;
    }
    let Ok(answer) = serde_json::from_str::<Value>(stdout) else {
        return;
    };
    let name = name_of(&words, &answer);
    let path = folder().join(format!("{name}.schema.json"));
    if std::env::var_os("SPRIFED_WRITE_GOLDEN").is_some() {
        let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let known = fs::read(&path).ok();
        let known = known.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let schema = widened(known.as_ref(), &answer, "");
        fs::create_dir_all(folder()).unwrap();
        fs::write(&path, format!("{:#}\n", published(&name, schema))).unwrap();
        return;
    }
    let schema = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut problems = Vec::new();
    check(&schema, &answer, "", &mut problems);
    assert!(
        problems.is_empty(),
        "{words:?} does not fit {}: {problems:#?}",
        path.display()
    );
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
        _ if first == "join" && words.contains(&"--check") => "join-check".to_owned(),
        _ => first.to_owned(),
    }
}

fn published(name: &str, mut schema: Value) -> Value {
    let what = match name {
        "error" => "what every command prints with --json if there is no answer".to_owned(),
        "interrupted" => {
            "what a command prints with --json if it was stopped and can go on".to_owned()
        }
        command => format!(
            "what `sprifed {} --json` prints",
            command.replacen('-', " ", 1)
        ),
    };
    let fields = schema.as_object_mut().unwrap();
    fields.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    fields.insert("title".to_owned(), json!(what));
    fields["properties"]["schema_version"] = json!({ "const": 1 });
    schema
}

/// `schema`, made to fit `value` too. A value that was always null may be anything.
fn widened(schema: Option<&Value>, value: &Value, place: &str) -> Value {
    let known = schema.cloned().unwrap_or_else(|| json!({ "type": [] }));
    let was_only_null = known == json!({});
    if value.is_null() && (was_only_null || schema.is_none()) {
        return json!({});
    }
    if known.get("const").is_some() {
        return known;
    }
    let mut types: BTreeSet<String> = types_of(&known);
    if was_only_null {
        types.insert("null".to_owned());
    }
    types.insert(type_of(value).to_owned());
    if types.contains("number") {
        types.remove("integer");
    }
    let mut made = known.as_object().cloned().unwrap_or_default();
    match value {
        Value::Array(items) => {
            let mut of_items = known.get("items").cloned();
            for item in items {
                of_items = Some(widened(of_items.as_ref(), item, place));
            }
            made.insert("items".to_owned(), of_items.unwrap_or_else(|| json!({})));
        }
        Value::Object(fields) if MAPS.contains(&place) => {
            let mut of_values = known.get("additionalProperties").cloned();
            for value in fields.values() {
                of_values = Some(widened(of_values.as_ref(), value, place));
            }
            made.insert(
                "additionalProperties".to_owned(),
                of_values.unwrap_or_else(|| json!({})),
            );
        }
        Value::Object(fields) => widen_object(&mut made, &known, fields, place),
        _ => {}
    }
    let types: Vec<String> = types.into_iter().collect();
    let types = match types.as_slice() {
        [one] => json!(one),
        several => json!(several),
    };
    made.insert("type".to_owned(), types);
    Value::Object(made)
}

fn widen_object(
    made: &mut Map<String, Value>,
    known: &Value,
    fields: &Map<String, Value>,
    place: &str,
) {
    let mut properties = known["properties"].as_object().cloned().unwrap_or_default();
    let is_new = properties.is_empty();
    for (name, value) in fields {
        let schema = widened(properties.get(name), value, &format!("{place}/{name}"));
        properties.insert(name.clone(), schema);
    }
    let before = known["required"].as_array().cloned().unwrap_or_default();
    let is_there = |name: &String| fields.contains_key(name);
    let was_required = |name: &String| is_new || before.contains(&json!(name));
    let required: Vec<&String> = properties
        .keys()
        .filter(|name| is_there(name) && was_required(name))
        .collect();
    made.insert("required".to_owned(), json!(required));
    made.insert("additionalProperties".to_owned(), json!(false));
    made.insert("properties".to_owned(), Value::Object(properties));
}

fn types_of(schema: &Value) -> BTreeSet<String> {
    match &schema["type"] {
        Value::String(one) => BTreeSet::from([one.clone()]),
        several => several
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Everything in `value` that does not fit `schema`.
fn check(schema: &Value, value: &Value, place: &str, problems: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema" | "title" | "description" => {}
            "const" if value != rule => problems.push(format!("{place} is {value}, not {rule}")),
            "type" => {
                let allowed = types_of(schema);
                let found = type_of(value);
                let is_whole = found == "integer" && allowed.contains("number");
                if !allowed.contains(found) && !is_whole {
                    problems.push(format!("{place} is {found}, not {allowed:?}"));
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(rule, item, &format!("{place}/{index}"), problems);
                }
            }
            "required" if value.is_object() => {
                let names = rule
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                let absent = names.filter(|name| value.get(name).is_none());
                problems.extend(absent.map(|name| format!("{place} lacks {name}")));
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        check(rule, value, &format!("{place}/{name}"), problems);
                    }
                }
            }
            "additionalProperties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    let is_known = schema["properties"].get(name).is_some();
                    if *rule == Value::Bool(false) {
                        if !is_known {
                            problems.push(format!("{place} has {name}, which the schema has not"));
                        }
                    } else if !is_known {
                        check(rule, value, &format!("{place}/{name}"), problems);
                    }
                }
            }
            "const" | "required" => {}
            other => problems.push(format!("{place}: the checker does not know {other}")),
        }
    }
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
fn commands_of(help: &str) -> Vec<String> {
    let lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"));
    let listed = lines.skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.map(str::to_owned).collect()
}

#[test]
fn the_checker_finds_what_does_not_fit() {
    let answer = json!({ "a": 1, "b": null, "c": [{ "d": "x" }] });
    let schema = widened(None, &answer, "");
    let found = |value: Value| {
        let mut problems = Vec::new();
        check(&schema, &value, "", &mut problems);
        problems
    };
    assert_eq!(found(answer), Vec::<String>::new());
    for wrong in [
        json!({ "a": "1", "b": null, "c": [] }),
        json!({ "a": 1, "c": [] }),
        json!({ "a": 1, "b": 2, "c": [{ "d": "x", "e": 0 }] }),
        json!({ "a": 1, "b": 2, "c": [], "new": 0 }),
    ] {
        assert_eq!(found(wrong.clone()).len(), 1, "{wrong}");
    }
    let wider = widened(Some(&schema), &json!({ "a": 0.5, "b": "y", "c": [] }), "");
    assert_eq!(wider["properties"]["a"]["type"], "number");
    assert_eq!(wider["properties"]["b"]["type"], json!(["null", "string"]));
}
