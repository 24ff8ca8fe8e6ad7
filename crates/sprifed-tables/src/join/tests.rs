use std::io::Cursor;

use super::*;
use crate::cell::{Defect, Place};
use crate::error::Which;
use crate::formats::csv::open_csv;
use crate::formats::plink::PlinkTable;
use crate::text_format::TextFormat;

const SCHEMA: &str = "
    [response]
    name = \"height\"
    lower = 0
    upper = 2
    [features]
    lower = 0
    upper = 2
    exclude = [\"FID\", \"IID\", \"SEX\"]
    [feature.age]
    lower = 0
    upper = 100
    [record]
    missing = \"midpoint\"
";

const DROP: &str = "missing_response = \"drop\"\n";

/// Three samples and two markers: copies 2 1 0, and 0 1 2.
fn genotypes() -> Box<dyn OpenTable> {
    let bed = [0x6C, 0x1B, 1, 0b11_10_00, 0b00_10_11];
    let bim = "6 rs1 0 1000 A G\n6 rs2 0 2000 T C\n";
    let fam = "f1 p1 0 0 1 -9\nf1 p2 0 0 2 -9\nf2 p3 0 0 0 -9\n";
    let table = PlinkTable::open(Cursor::new(bed.to_vec()), bim.as_bytes(), fam.as_bytes());
    Box::new(table.expect("genotypes"))
}

fn csv(text: &str) -> Box<dyn OpenTable> {
    let text = Cursor::new(text.to_owned());
    Box::new(open_csv(text, TextFormat::default()).expect("a table"))
}

fn asked(sample_column: Option<&'static str>, extra: ExtraSamples) -> SampleTable<'static> {
    SampleTable {
        path: Path::new("phenotypes.csv"),
        sample_column,
        extra,
    }
}

fn joined(
    first: Box<dyn OpenTable>,
    second: &str,
    asked: SampleTable<'_>,
    schema: &str,
) -> Result<Table, DataError> {
    let schema = Schema::parse(schema).expect("a schema");
    Joined::new(first, csv(second), asked)?.into_table(&schema)
}

fn beside_genotypes(second: &str, rest: &str) -> Result<Table, DataError> {
    let asked = asked(None, ExtraSamples::Refuse);
    joined(genotypes(), second, asked, &(SCHEMA.to_owned() + rest))
}

fn problem(outcome: Result<Table, DataError>) -> TableError {
    match outcome.expect_err("refused") {
        DataError::Table(problem) => problem,
        other => panic!("{other}"),
    }
}

#[test]
fn rows_belong_to_samples_whatever_their_order() {
    let table =
        beside_genotypes("height,IID,age\n0,p3,0\n2,p1,100\n1,p2,50\n", "").expect("a table");
    assert_eq!(table.design().names(), ["rs1", "rs2", "age"]);
    assert_eq!(table.response(), [1.0, 0.0, -1.0]);
    let rows = table.design().rows().map(|row| row.to_vec());
    let rows: Vec<Vec<f32>> = rows.collect();
    assert_eq!(rows, [[1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [-1.0, 1.0, -1.0]]);
    assert_eq!(table.counts().unmatched, 0);
}

#[test]
fn a_sample_without_a_row_keeps_its_place_and_contributes_nothing() {
    let second = "IID,height,age\np1,2,100\np3,0,0\n";
    assert_eq!(
        problem(beside_genotypes(second, "")),
        TableError::UnmatchedRecords { count: 1 }
    );
    let table = beside_genotypes(second, DROP).expect("a table");
    assert_eq!(table.public_size(), 3);
    assert_eq!(table.present(), [true, false, true]);
    assert_eq!(*table.design().row(1), [0.0; 3]);
    assert_eq!(table.counts().unmatched, 1);
}

#[test]
fn samples_that_only_the_second_table_has_are_refused_unless_they_are_to_be_left_out() {
    let second = "IID,height,age\np1,2,100\np2,1,50\np3,0,0\np9,1,1\nq,1,1\n";
    assert_eq!(
        problem(beside_genotypes(second, "")),
        TableError::ExtraSamples { count: 2 }
    );
    let left_out = asked(None, ExtraSamples::LeaveOut);
    let table = joined(genotypes(), second, left_out, SCHEMA).expect("a table");
    assert_eq!(table.counts().extra_samples, 2);
    assert_eq!(table.public_size(), 3);
}

#[test]
fn a_sample_twice_in_either_table_is_refused() {
    let second = "IID,height,age\np1,2,100\np2,1,50\np1,0,0\np1,1,1\n";
    assert_eq!(
        problem(beside_genotypes(second, DROP)),
        TableError::RepeatedSamples {
            table: Which::Second,
            count: 2,
            place: Place::Line(4),
        }
    );
    let first = csv("IID,rs1\np1,0\nx,1\nx,1\n");
    let asked = asked(Some("IID"), ExtraSamples::LeaveOut);
    let twice = joined(
        first,
        "IID,height,age\np1,2,100\n",
        asked,
        &(SCHEMA.to_owned() + DROP),
    );
    assert_eq!(
        problem(twice),
        TableError::RepeatedSamples {
            table: Which::First,
            count: 1,
            place: Place::Line(4),
        }
    );
}

#[test]
fn a_row_without_an_identifier_is_refused() {
    assert_eq!(
        problem(beside_genotypes("IID,height,age\np1,2,100\n ,1,50\n", DROP)),
        TableError::NamelessSample {
            table: Which::Second,
            place: Place::Line(3),
        }
    );
}

#[test]
fn families_count_where_both_tables_have_them() {
    // The sample p2 of another family is another sample.
    let second = "#FID,IID,height,age\nf1,p1,2,100\nf9,p2,1,50\nf2,p3,0,0\n";
    assert_eq!(
        problem(beside_genotypes(second, DROP)),
        TableError::ExtraSamples { count: 1 }
    );
    let of_their_own = second.replace("f9", "f1");
    assert!(beside_genotypes(&of_their_own, "").is_ok());
}

#[test]
fn identifiers_are_compared_whole() {
    // `f1p` and `1` are not `f1` and `p1`.
    let second = "FID,IID,height,age\nf1p,1,2,100\n";
    assert_eq!(
        problem(beside_genotypes(second, DROP)),
        TableError::ExtraSamples { count: 1 }
    );
}

#[test]
fn the_identifier_may_be_called_otherwise() {
    let second = "person,height,age\np1,2,100\np2,1,50\np3,0,0\n";
    let missing = problem(beside_genotypes(second, ""));
    assert!(missing.to_string().contains("--sample-column"), "{missing}");
    let named = asked(Some("person"), ExtraSamples::Refuse);
    let table = joined(genotypes(), second, named, SCHEMA).expect("a table");
    assert_eq!(table.response(), [1.0, 0.0, -1.0]);
}

#[test]
fn two_plain_tables_are_joined_by_the_column_that_the_user_names() {
    let first = || csv("who,rs1\np1,2\np2,1\np3,0\n");
    let second = "who,height,age\np3,0,0\np2,1,50\np1,2,100\n";
    let exclude = SCHEMA.replace("\"FID\"", "\"who\"");
    let unnamed = joined(first(), second, asked(None, ExtraSamples::Refuse), &exclude);
    assert_eq!(problem(unnamed), TableError::UnnamedSampleColumn);
    let table = joined(
        first(),
        second,
        asked(Some("who"), ExtraSamples::Refuse),
        &exclude,
    )
    .expect("a table");
    let rows = table.design().rows().map(|row| row.to_vec());
    let rows: Vec<Vec<f32>> = rows.collect();
    assert_eq!(rows, [[1.0, 1.0], [0.0, 0.0], [-1.0, -1.0]]);
    assert_eq!(table.response(), [1.0, 0.0, -1.0]);
}

#[test]
fn unmatched_records_of_plain_tables_are_counted_too() {
    let first = || csv("who,rs1\np1,2\np2,1\np3,0\n");
    let second = "who,height,age\np3,0,0\nx,1,1\n";
    let exclude = SCHEMA.replace("\"FID\"", "\"who\"");
    let named = |extra| asked(Some("who"), extra);
    let refused = joined(first(), second, named(ExtraSamples::LeaveOut), &exclude);
    assert_eq!(problem(refused), TableError::UnmatchedRecords { count: 2 });
    let extra = joined(
        first(),
        second,
        named(ExtraSamples::Refuse),
        &(exclude.clone() + DROP),
    );
    assert_eq!(problem(extra), TableError::ExtraSamples { count: 1 });
    let table = joined(
        first(),
        second,
        named(ExtraSamples::LeaveOut),
        &(exclude + DROP),
    )
    .expect("a table");
    assert_eq!(
        (table.counts().unmatched, table.counts().extra_samples),
        (2, 1)
    );
    assert_eq!(table.present(), [false, false, true]);
}

#[test]
fn a_cell_of_the_second_table_is_refused_by_its_line_there() {
    let refused = problem(beside_genotypes(
        "IID,height,age\np3,0,0\np2,1,old\np1,2,9\n",
        "",
    ));
    let TableError::Cells { problems } = refused else {
        panic!("{refused}");
    };
    assert_eq!(problems.len(), 1);
    assert_eq!(
        (problems[0].place, problems[0].defect),
        (Place::Line(3), Defect::Text)
    );
    assert_eq!(problems[0].column, "age");
}

#[test]
fn categories_of_the_second_table_have_levels() {
    let schema = SCHEMA.replace(
        "lower = 0\n    upper = 100",
        "levels = [\"young\", \"old\"]",
    );
    let second = "IID,height,age\np3,0,young\np2,1,old\np1,2,old\n";
    let table = joined(
        genotypes(),
        second,
        asked(None, ExtraSamples::Refuse),
        &schema,
    )
    .expect("a table");
    let ages: Vec<f32> = table.design().rows().map(|row| row[2]).collect();
    assert_eq!(ages, [1.0, 1.0, 0.0]);
}

#[test]
fn phenotypes_come_from_the_second_table_alone_and_sex_if_it_has_it() {
    let names = |second: &str| -> Vec<String> {
        let joined = Joined::new(genotypes(), csv(second), asked(None, ExtraSamples::Refuse));
        let columns = joined.expect("tables").columns.into_iter();
        columns.map(|column| column.name).collect()
    };
    assert_eq!(names("IID,y\n"), ["FID", "IID", "SEX", "rs1", "rs2", "y"]);
    assert_eq!(
        names("IID,SEX,PHENO\n"),
        ["FID", "IID", "rs1", "rs2", "SEX", "PHENO"]
    );
}

#[test]
fn a_name_in_both_tables_is_refused() {
    let twice = beside_genotypes("IID,height,rs1\np1,2,100\np2,1,50\np3,0,0\n", "");
    let said = problem(twice).to_string();
    assert!(said.contains("`rs1` occurs more than once"), "{said}");
}

#[test]
fn predictions_read_joined_columns_too() {
    let joined = Joined::new(
        genotypes(),
        csv("IID,height,age\np3,0,1\np1,2,100\n"),
        asked(None, ExtraSamples::Refuse),
    );
    let names = ["age", "rs1"].map(|name| RawRequest::Number(name.to_owned()));
    let raw = joined.expect("tables").into_raw(&names).expect("columns");
    assert_eq!(raw.row(0), [100.0, 2.0]);
    assert!(raw.row(1)[0].is_nan());
    assert_eq!(raw.row(1)[1..], [1.0]);
    assert_eq!(raw.row(2), [1.0, 0.0]);
}

#[test]
fn no_message_repeats_an_identifier() {
    for second in [
        "IID,height,age\nsecret,2,1\n",
        "IID,height,age\nsecret,2,1\nsecret,1,1\n",
        "IID,height,age\np1,secret,1\np2,1,1\np3,1,1\n",
    ] {
        let refused = beside_genotypes(second, DROP).expect_err("refused");
        assert!(
            !format!("{refused} {refused:?}").contains("secret"),
            "{refused}"
        );
    }
}
