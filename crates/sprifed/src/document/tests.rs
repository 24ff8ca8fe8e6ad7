#![expect(
    clippy::disallowed_methods,
    reason = "the corpus of the fuzzer is read from files"
)]

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Document;
use crate::verify::tests::{fitted, secret_noise};

/// A document of each kind, as a program wrote it.
fn documents() -> [String; 3] {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sprifed-fuzz/corpus/receipt");
    let receipt = |name: &str| fs::read_to_string(corpus.join(name)).unwrap();
    let model = fitted(None, secret_noise()).to_string();
    [model, receipt("study"), receipt("party")]
}

/// The paths of all objects in `value`; of the items of a list, those of the first.
fn objects(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(path.to_owned());
            for (key, value) in fields {
                objects(value, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            if let Some(value) = items.first() {
                objects(value, &format!("{path}/0"), found);
            }
        }
        _ => {}
    }
}

fn is_read(text: &str) -> bool {
    Document::parse(text, "document").is_ok()
}

#[test]
fn no_object_of_a_document_has_a_key_twice_or_a_field_that_no_program_wrote() {
    for text in documents() {
        let good: Value = serde_json::from_str(&text).unwrap();
        assert!(is_read(&good.to_string()));
        let mut paths = Vec::new();
        objects(&good, "", &mut paths);
        assert!(paths.len() > 10, "{paths:?}");
        for path in paths {
            let mut added = good.clone();
            let object = added.pointer_mut(&path).unwrap().as_object_mut().unwrap();
            let (first, value) = object.iter().next().unwrap();
            let (first, value) = (first.clone(), value.clone());
            object.insert("note".to_owned(), "approved".into());
            let added = added.to_string();
            assert!(!is_read(&added), "an added field at {path:?}");
            let again = format!("\"{first}\":{value}");
            let twice = added.replacen("\"note\":\"approved\"", &again, 1);
            assert_ne!(twice, added);
            assert!(!is_read(&twice), "{first} stands twice at {path:?}");
        }
    }
}
