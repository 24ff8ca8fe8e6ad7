//! Arrow files of another program; see `tests/arrow/README.md`.

use std::path::{Path, PathBuf};

use sprifed_schema::Schema;
use sprifed_tables::{draft_schema_for, read_table};

const SCHEMA: &str = "
    [response]
    name = \"y\"
    lower = 0
    upper = 10
    [features]
    lower = -1
    upper = 1
    exclude = [\"who\", \"seen\"]
    [feature.arm]
    levels = [\"low\", \"high\"]
    [feature.place]
    levels = [\"north\", \"south\"]
    [record]
    missing = \"midpoint\"
";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/arrow")
        .join(name)
}

#[test]
fn files_of_pyarrow_are_read() {
    let schema = Schema::parse(SCHEMA).expect("a schema");
    for name in ["plain.arrow", "lz4.arrow"] {
        let table = read_table(&file(name), &schema).expect(name);
        assert_eq!(
            table.design().names(),
            ["dose", "flag", "arm=high", "place=south"]
        );
        let rows = table.design().rows().map(|row| row.to_vec());
        let rows: Vec<Vec<f32>> = rows.collect();
        assert_eq!(
            rows,
            [
                [0.5, 1.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
                [-1.0, 0.0, 1.0, 0.0],
                [1.0, 1.0, 0.0, 1.0]
            ],
            "{name}"
        );
        assert_eq!(table.response(), [-1.0, 0.0, 1.0, 0.0]);
    }
}

#[test]
fn a_draft_tells_text_and_dates_by_what_the_file_states() {
    let draft = draft_schema_for(&file("plain.arrow")).expect("a draft");
    assert!(
        draft.contains("exclude = [\"arm\", \"place\", \"seen\"]"),
        "{draft}"
    );
}

#[test]
fn another_packing_is_refused_with_advice() {
    let schema = Schema::parse(SCHEMA).expect("a schema");
    let said = read_table(&file("zstd.arrow"), &schema)
        .expect_err("refused")
        .to_string();
    assert!(said.contains("Zstandard") && said.contains("lz4"), "{said}");
}
