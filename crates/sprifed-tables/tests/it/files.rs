//! Paths, formats recognised by content, and the two schema commands.

use std::fs;
use std::path::{Path, PathBuf};

use sprifed_schema::{PLACEHOLDER, Schema};
use sprifed_tables::{DataError, check, draft_schema_for};
use sprifed_tables::{read_raw_columns, read_schema, read_table};

/// A file that is deleted after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let unique = format!("sprifed-tables-{}-{name}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique);
        fs::write(&path, content).expect("a temporary file");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const SCHEMA: &str =
    "[response]\nname = \"y\"\nlower = 0\nupper = 1\n[features]\nlower = -1\nupper = 1\n";

#[test]
fn a_file_that_is_not_there_is_a_matter_of_the_environment() {
    let absent = PathBuf::from("/nonexistent/table.csv");
    let schema = Schema::parse(SCHEMA).expect("a schema");
    for refused in [
        read_table(&absent, &schema).expect_err("absent"),
        read_schema(&absent).expect_err("absent"),
    ] {
        assert!(refused.is_environment());
        assert!(
            refused.to_string().contains("/nonexistent/table.csv"),
            "{refused}"
        );
    }
}

#[test]
fn a_bad_schema_file_is_a_matter_of_the_user() {
    let file = Scratch::new("bad.toml", "[response]\nname = 3\n");
    let refused = read_schema(&file.0).expect_err("bad");
    assert!(matches!(refused, DataError::Schema(_)));
    assert!(!refused.is_environment());
}

#[test]
fn a_draft_once_filled_in_passes_the_check() {
    let data = Scratch::new("draft.csv", "id,a,b,y\np1,0.5,0.25,1\np2,0.1,0.2,0\n");
    let draft = draft_schema_for(&data.0).expect("a draft");
    let filled = draft
        .replace(&format!("lower = {PLACEHOLDER}"), "lower = 0")
        .replace(&format!("upper = {PLACEHOLDER}"), "upper = 1");
    let schema = Scratch::new("draft.toml", filled);
    let report = check(&schema.0, Some(&data.0)).expect("a report");
    assert!(report.is_usable(), "{:?}", report.problems);
    assert_eq!(report.columns.expect("columns").n_features, 2);
    assert_eq!(report.table.expect("a table").n_records, 2);
    assert!(check(&schema.0, None).expect("a report").is_usable());
}

#[test]
fn raw_columns_come_in_the_order_asked_for_and_unbounded() {
    let data = Scratch::new("raw.csv", "a,b,text\n50,-3,x\n,7,y\n");
    let names = ["b".to_owned(), "a".to_owned()];
    let raw = read_raw_columns(&data.0, &names).expect("columns");
    assert_eq!(raw.n_records(), 2);
    assert_eq!(raw.row(0), [-3.0, 50.0]);
    assert!(raw.row(1)[1].is_nan());
    let refused = read_raw_columns(&data.0, &["text".to_owned()]).expect_err("text");
    assert!(refused.to_string().contains("`text`"), "{refused}");
    let refused = read_raw_columns(&data.0, &["c".to_owned()]).expect_err("absent");
    assert!(refused.to_string().contains("`c`"), "{refused}");
}

#[test]
fn the_format_is_recognised_by_content_and_not_by_name() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
    let length = u16::try_from(header.len()).expect("short").to_le_bytes();
    let items: Vec<u8> = [0.5f32, 0.25]
        .iter()
        .flat_map(|item| item.to_le_bytes())
        .collect();
    let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &items].concat();
    let data = Scratch::new("array.csv", bytes);
    let schema = Schema::parse(&SCHEMA.replace("\"y\"", "\"x_1\"")).expect("a schema");
    let table = read_table(&data.0, &schema).expect("a table");
    assert_eq!(table.design().values(), [0.5]);
}
