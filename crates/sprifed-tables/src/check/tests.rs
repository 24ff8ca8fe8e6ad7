use sprifed_schema::{CheckReport, Schema, TableReport, check_columns, check_schema};

use super::add_outcome;
use crate::assemble::RowSource as _;
use crate::formats::csv::{open_csv, read_csv};
use crate::text_format::TextFormat;

const SCHEMA: &str = r#"
[response]
name = "y"
lower = 0
upper = 1
[features]
lower = 0
upper = 1
exclude = ["pid", "note", "nothing*"]
[feature.age]
lower = 0
upper = 120
[record]
client = "who"
"#;

fn checked(text: &str) -> CheckReport {
    let schema = Schema::parse(SCHEMA).expect("a schema");
    let opened = open_csv(text.as_bytes(), TextFormat::default()).expect("a table");
    let mut report = check_columns(&schema, opened.columns());
    if report.is_usable() {
        add_outcome(&mut report, &schema, read_csv(text.as_bytes(), &schema))
            .expect("no environment");
    }
    report
}

#[test]
fn a_good_pair_is_described() {
    let report = checked("who,pid,age,note,b,y\na,1,30,hi,0.5,0\na,2,30,ho,0.5,0\nb,3,30,hm,0,1\n");
    assert!(report.is_usable(), "{:?}", report.problems);
    let columns = report.columns.expect("columns");
    assert_eq!(columns.n_features, 2);
    assert_eq!(columns.under_default_bounds, ["b"]);
    assert_eq!(columns.left_out, ["pid", "note"]);
    assert_eq!(columns.idle_excludes, ["nothing*"]);
    let expected = TableReport {
        n_records: 3,
        n_clients: 2,
        unmatched: 0,
        extra_samples: 0,
        over_cap: 1,
        has_missing_response: false,
        sites: Vec::new(),
    };
    assert_eq!(report.table, Some(expected));
}

#[test]
fn every_absent_column_is_listed() {
    let report = checked("b,z\n0,1\n");
    assert!(!report.is_usable());
    assert_eq!(report.problems.len(), 3, "each obstacle is explained");
    let columns = report.columns.expect("columns");
    assert_eq!(columns.absent, ["age", "who", "y"]);
    assert!(!columns.has_response);
    assert_eq!(report.table, None);
}

#[test]
fn duplicates_are_listed() {
    let report = checked("who,age,b,b,y\na,1,2,3,0\n");
    assert!(
        report.problems[0].contains("`b` occurs more than once"),
        "{:?}",
        report.problems
    );
    assert_eq!(report.columns.expect("columns").duplicates, ["b"]);
}

#[test]
fn a_missing_response_is_a_problem_that_says_what_to_do() {
    let report = checked("who,age,b,y\na,1,0.5,\n");
    assert!(
        report.problems[0].contains("`y`, line 2: missing response")
            && report.problems[0].contains("missing_response = \"drop\""),
        "{:?}",
        report.problems
    );
}

#[test]
fn a_report_is_json() {
    let schema = Schema::parse(SCHEMA).expect("a schema");
    let json = serde_json::to_value(check_schema(&schema)).expect("json");
    assert_eq!(json["schema"]["response"], "y");
    assert_eq!(json["schema"]["missing"], "reject");
    assert_eq!(json["table"], serde_json::Value::Null);
}

#[test]
fn all_columns_with_cells_that_cannot_be_used_are_reported_by_line() {
    let report = checked("who,age,b,c,y\na,1,0.5,x,1\nb,old,0.5,y,0\nc,2021-03-04,inf,z,\n");
    let starts = [
        "column `age`, line 3: text",
        "column `b`, line 4: infinite value",
        "column `c`, line 2: text",
        "column `y`, line 4: missing response",
    ];
    assert_eq!(report.problems.len(), starts.len(), "{:?}", report.problems);
    for (problem, start) in report.problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}");
    }
}
