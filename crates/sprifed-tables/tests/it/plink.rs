//! Genotypes beside what PLINK 2 says of the same files, which it wrote; see `tests/plink/README.md`.

use std::path::{Path, PathBuf};

use sprifed_schema::{Column, Schema};
use sprifed_tables::{draft_schema_for, read_columns, read_raw_columns, read_table};

fn cohort(extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/plink/cohort")
        .with_extension(extension)
}

/// The lines of a text file, divided at tabs.
fn lines(extension: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(cohort(extension)).expect("a file");
    let divided = text.lines().map(|line| line.split('\t').map(str::to_owned));
    divided.map(Iterator::collect).collect()
}

fn markers() -> Vec<Column> {
    let columns = read_columns(&cohort("bed")).expect("columns").into_iter();
    columns.filter(|column| column.marker().is_some()).collect()
}

/// Copies of the effect allele: of each record, at each marker.
fn copies() -> Vec<Vec<f64>> {
    let names: Vec<String> = markers().into_iter().map(|column| column.name).collect();
    let raw = read_raw_columns(&cohort("bed"), &names).expect("genotypes");
    (0..raw.n_records())
        .map(|record| raw.row(record).to_vec())
        .collect()
}

#[test]
fn counts_of_genotypes_are_those_of_plink() {
    let (markers, genotypes) = (markers(), copies());
    let expected = lines("gcount");
    assert_eq!(markers.len() + 1, expected.len());
    for (at, line) in expected[1..].iter().enumerate() {
        let marker = markers[at].marker().expect("a marker");
        assert_eq!(
            [
                &marker.chromosome,
                &marker.other_allele,
                &marker.effect_allele
            ],
            [&line[0], &line[2], &line[3]]
        );
        let count = |copies: &str| {
            genotypes
                .iter()
                .filter(|row| row[at].to_string() == copies)
                .count()
        };
        let found = ["0", "1", "2", "NaN"].map(count);
        let stated = [&line[4], &line[5], &line[6], &line[9]];
        assert_eq!(
            found.map(|count| count.to_string()).each_ref(),
            stated,
            "{}",
            markers[at].name
        );
    }
}

#[test]
fn each_genotype_is_that_of_plink() {
    for (row, line) in copies().iter().zip(&lines("raw")[1..]) {
        for (copies, reference) in row.iter().zip(&line[6..]) {
            match reference.parse::<f64>() {
                Ok(reference) => assert_eq!(copies.to_string(), (2.0 - reference).to_string()),
                Err(_) => assert!(copies.is_nan() && reference == "NA"),
            }
        }
    }
}

#[test]
fn the_draft_has_the_bounds_of_markers_and_leaves_those_of_the_response_open() {
    let draft = draft_schema_for(&cohort("bed")).expect("a draft");
    assert!(draft.contains("name = \"PHENO\""), "{draft}");
    assert!(
        draft.contains("lower = 0 ") && draft.contains("upper = 2 "),
        "{draft}"
    );
    let filled = draft
        .replacen("lower = FILL_IN", "lower = 100", 1)
        .replacen("upper = FILL_IN", "upper = 250", 1)
        .replace("lower = FILL_IN", "lower = 1")
        .replace("upper = FILL_IN", "upper = 2")
        .replace(
            "missing_response = \"reject\"",
            "missing_response = \"drop\"",
        );
    let schema = Schema::parse(&filled).expect("a schema");
    let table = read_table(&cohort("bed"), &schema).expect("a table");
    assert_eq!(table.design().n_features(), 23 + 1, "the markers and SEX");
    assert_eq!(table.counts().dropped_without_response, 1);
    assert_eq!(table.counts().clipped_values, 0);
}

#[test]
fn a_file_whose_name_promises_genotypes_but_holds_none_is_refused() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("regions.bed");
    std::fs::write(&path, "chr1\t100\t200\n").expect("a temporary file");
    let refused = read_columns(&path).expect_err("refused").to_string();
    assert!(
        refused.contains("`.bed`") && refused.contains("PLINK"),
        "{refused}"
    );
}
