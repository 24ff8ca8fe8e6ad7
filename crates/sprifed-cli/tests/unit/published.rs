//! The JSON Schemas in `docs/json` are derived from the structs that commands print.
//!
//! After a change that is meant to change answers, run these tests with `SPRIFED_WRITE_GOLDEN=1` and look at what changed
//! in `docs/json`. The end-to-end tests check every answer against these files.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::ledger;
use crate::output::{Interrupted, Refused, Versioned};

/// What a command prints that has two kinds of answers.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Either<A, B> {
    One(A),
    Other(B),
}

/// Every answer, by the name of its command.
fn published() -> BTreeMap<&'static str, Value> {
    let prints = [
        ("account-check", schema_of::<sprifed_vectors::CheckReport>()),
        (
            "account-compose",
            schema_of::<sprifed::account::ComposeAnswer>(),
        ),
        (
            "account-delta",
            schema_of::<sprifed::account::DeltaAnswer>(),
        ),
        (
            "account-epsilon",
            schema_of::<sprifed::account::EpsilonAnswer>(),
        ),
        ("account-mu", schema_of::<sprifed::account::MuAnswer>()),
        ("account-paper", schema_of::<sprifed_paper::ClaimsAnswer>()),
        ("account-plan", schema_of::<sprifed_paper::RunPlanAnswer>()),
        ("audit", schema_of::<sprifed_paper::AuditAnswer>()),
        ("coordinate", schema_of::<sprifed::EndedAnswer>()),
        ("demo", schema_of::<sprifed::DemoAnswer>()),
        ("error", schema_of::<Refused<'_>>()),
        (
            "experiment",
            schema_of::<sprifed_paper::ExperimentsAnswer>(),
        ),
        (
            "experiment-list",
            schema_of::<sprifed_paper::ExperimentList>(),
        ),
        ("fit", schema_of::<sprifed::FitAnswer>()),
        ("interrupted", schema_of::<Interrupted>()),
        ("join", schema_of::<sprifed_party::JoinAnswer>()),
        ("join-check", schema_of::<sprifed_party::CheckAnswer>()),
        ("ledger-export", schema_of::<ledger::LogWritten<'_>>()),
        ("ledger-limit", schema_of::<ledger::LimitAnswer>()),
        (
            "ledger-restart",
            schema_of::<sprifed_party::RestartAnswer>(),
        ),
        ("ledger-show", schema_of::<sprifed_party::LedgerAnswer>()),
        ("ledger-verify", schema_of::<sprifed_party::LogAnswer>()),
        ("plan", schema_of::<sprifed::PlanAnswer>()),
        ("predict", schema_of::<sprifed::PredictionAnswer>()),
        ("schema-check", schema_of::<sprifed::SchemaCheck>()),
        ("schema-draft", schema_of::<sprifed::SchemaDraft>()),
        (
            "simulate",
            schema_of_either::<sprifed_paper::TrialsAnswer, sprifed_paper::TunedAnswer>(),
        ),
        ("study-cancel", schema_of::<sprifed::CancelAnswer>()),
        ("study-export", schema_of::<sprifed::ExportAnswer>()),
        (
            "study-identity",
            schema_of::<sprifed_party::IdentityAnswer>(),
        ),
        ("study-init", schema_of::<sprifed::StudyAnswer>()),
        ("study-leave", schema_of::<sprifed_party::LeaveAnswer>()),
        ("study-officer", schema_of::<sprifed::OfficerAnswer>()),
        ("study-rehearse", schema_of::<sprifed::RehearsalAnswer>()),
        (
            "study-sign-policy",
            schema_of::<sprifed::SignedPolicyAnswer>(),
        ),
        (
            "study-status",
            derived::<
                Either<
                    Versioned<'_, sprifed_coordinator::StatusAnswer>,
                    Either<
                        Versioned<'_, sprifed_party::PartyStatusAnswer>,
                        Versioned<'_, sprifed::TrusteeStatusAnswer>,
                    >,
                >,
            >(),
        ),
        (
            "study-trustee",
            schema_of::<sprifed::TrusteeIdentityAnswer>(),
        ),
        ("trustee", schema_of::<sprifed::TrusteeAnswer>()),
        ("trustee-check", schema_of::<sprifed::TrusteeCheckAnswer>()),
        (
            "verify",
            schema_of_either::<sprifed::ModelVerification, sprifed::StudyVerification>(),
        ),
    ];
    let with_title = |(name, mut schema): (&'static str, Schema)| {
        schema.remove("description");
        schema.insert("title".to_owned(), title_of(name).into());
        (name, schema.to_value())
    };
    prints.into_iter().map(with_title).collect()
}

fn schema_of<T: JsonSchema>() -> Schema {
    derived::<Versioned<'_, T>>()
}

fn schema_of_either<A: JsonSchema, B: JsonSchema>() -> Schema {
    derived::<Either<Versioned<'_, A>, Versioned<'_, B>>>()
}

/// The schema of what a `T` is written as, without room for other keys.
fn derived<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(close).transform(&mut schema);
    schema
}

/// Refuses keys that the struct does not have, and keeps of its documentation what a reader of JSON needs.
fn close(schema: &mut Schema) {
    // Such as `uint32`: not among the formats of JSON Schema.
    schema.remove("format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let first = text.split("\n\n").next().unwrap_or_default();
        *text = first
            .replace("[`", "`")
            .replace("`]", "`")
            .replace('\n', " ");
    }
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        let composed = ["$ref", "allOf", "anyOf", "oneOf"].map(|keyword| schema.get(keyword));
        assert!(
            composed.iter().all(Option::is_none),
            "keys of a flattened enum cannot be refused one by one: {schema:?}"
        );
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

fn title_of(name: &str) -> String {
    match name {
        "error" => "what every command prints with --json if there is no answer".to_owned(),
        "interrupted" => {
            "what a command prints with --json if it was stopped and can go on".to_owned()
        }
        "join-check" => "what `sprifed join --check --json` prints".to_owned(),
        "trustee-check" => "what `sprifed trustee --check --json` prints".to_owned(),
        command => format!(
            "what `sprifed {} --json` prints",
            command.replacen('-', " ", 1)
        ),
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/json")
}

#[test]
fn the_published_schemas_are_those_of_the_structs() {
    let is_writing = std::env::var_os("SPRIFED_WRITE_GOLDEN").is_some();
    let mut kept: BTreeMap<String, String> = BTreeMap::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(".schema.json") {
            kept.insert(name.to_owned(), fs::read_to_string(&path).unwrap());
        }
    }
    let path = |name: &str| folder().join(format!("{name}.schema.json"));
    for (name, schema) in published() {
        let derived = format!("{schema:#}\n");
        let found = kept.remove(name);
        if is_writing {
            fs::write(path(name), derived).unwrap();
            continue;
        }
        let found = found.unwrap_or_else(|| panic!("{} is missing", path(name).display()));
        let differs = found.lines().zip(derived.lines()).find(|(a, b)| a != b);
        assert!(
            found == derived,
            "{} is not what the struct gives; the first line that differs, published and derived: {differs:#?}",
            path(name).display()
        );
    }
    for name in kept.into_keys() {
        if is_writing {
            fs::remove_file(path(&name)).unwrap();
            continue;
        }
        panic!("{} is of no command", path(&name).display());
    }
}

#[test]
fn every_answer_needs_its_version_and_refuses_other_keys() {
    fn check(place: &str, schema: &Value) {
        match schema {
            Value::Object(fields) => {
                if fields.contains_key("properties") && fields.contains_key("type") {
                    assert_eq!(schema["additionalProperties"], false, "{place}");
                }
                for (name, inner) in fields {
                    check(&format!("{place}/{name}"), inner);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| check(place, item)),
            _ => {}
        }
    }
    for (name, schema) in published() {
        check(name, &schema);
        let is_answer = |schema: &&Value| schema["properties"].get("schema_version").is_some();
        let roots = [&schema].into_iter().chain(
            schema["$defs"]
                .as_object()
                .into_iter()
                .flat_map(|defs| defs.values()),
        );
        let answers: Vec<&Value> = roots.filter(is_answer).collect();
        assert!(!answers.is_empty(), "{name}");
        for answer in answers {
            let required = answer["required"].as_array().unwrap();
            assert!(required.contains(&"schema_version".into()), "{name}");
            assert_eq!(answer["properties"]["schema_version"]["const"], 1, "{name}");
        }
    }
}
