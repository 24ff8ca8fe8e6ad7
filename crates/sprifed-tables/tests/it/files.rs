//! Paths, formats recognised by content, and the two schema commands.

use std::fs;
use std::path::{Path, PathBuf};

use sprifed_schema::{Mapping, PLACEHOLDER, Schema, Units};
use sprifed_tables::{DataError, check, draft_schema_for};
use sprifed_tables::{read_features, read_raw_columns, read_schema, read_table};

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
    // The draft cannot know that `id` is text: no cell was read.
    let unread = Scratch::new("unread.toml", &filled);
    let report = check(&unread.0, Some((&data.0).into())).expect("a report");
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert!(
        report.problems[0].contains("column `id`, line 2: text"),
        "{:?}",
        report.problems
    );
    let filled = filled.replace("# exclude = [\"id\", \"time\"]", "exclude = [\"id\"]");
    let schema = Scratch::new("draft.toml", filled);
    let report = check(&schema.0, Some((&data.0).into())).expect("a report");
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
    assert_eq!(*table.design().values(), [0.5]);
}

#[test]
fn a_placeholder_is_named_by_file_and_line() {
    let file = Scratch::new(
        "unfilled.toml",
        "[response]\nname = \"y\"\nlower = FILL_IN\nupper = 1\n",
    );
    let said = read_schema(&file.0).expect_err("unfilled").to_string();
    assert!(
        said.contains("unfilled.toml line 3: replace FILL_IN with a number"),
        "{said}"
    );
}

#[test]
fn the_bounds_file_is_found_beside_the_schema() {
    let bounds = Scratch::new("bounds.csv", "column,lower,upper\na,0,4\n");
    let name = bounds
        .0
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let schema = Scratch::new("bounded.toml", format!("{SCHEMA}bounds = \"{name}\"\n"));
    let read = read_schema(&schema.0).expect("a schema");
    assert_eq!(read.units_of("a").map(Units::upper), Some(4.0));
    let absent = Scratch::new("unbounded.toml", format!("{SCHEMA}bounds = \"none.csv\"\n"));
    let refused = read_schema(&absent.0).expect_err("absent");
    assert!(
        refused.is_environment() && refused.to_string().contains("none.csv"),
        "{refused}"
    );
}

#[test]
fn predictions_read_levels_and_gaps_as_the_fit_did() {
    let data = Scratch::new("levels.csv", "arm,age\na,30\nc,\nzz,40\n,50\n");
    let schema = "[response]\nname = \"y\"\nlower = 0\nupper = 1\n[feature.arm]\nlevels = [\"a\", \"b\", \"c\"]\n\
                  [feature.age]\nlower = 0\nupper = 100\nmissing = \"indicator\"";
    let schema = Schema::parse(schema).expect("a schema");
    let mapping = Mapping::for_features(&schema, ["arm", "age"]).expect("bounded");
    let readings: Vec<_> = (0..4).map(|place| mapping.reading(place)).collect();
    let raw = read_features(&data.0, readings.clone(), None).expect("columns");
    let read = |record: usize| -> Vec<Option<f64>> {
        let cells = readings.iter().zip(raw.row(record));
        cells
            .map(|(reading, cell)| reading.of_number(*cell))
            .collect()
    };
    let values = |row: [f64; 4]| row.map(Some).to_vec();
    assert_eq!(read(0), values([0.0, 0.0, 30.0, 0.0]));
    assert_eq!(read(1), values([0.0, 1.0, 50.0, 1.0]), "age is missing");
    assert_eq!(read(2)[..2], [None, None], "an unknown level");
    assert_eq!(read(3)[..2], [None, None], "a missing level");
}
