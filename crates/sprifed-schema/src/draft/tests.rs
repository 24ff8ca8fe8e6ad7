use proptest::prelude::*;

use super::*;
use crate::schema::Schema;

fn column(name: &str, kind: ColumnKind) -> Column {
    Column {
        name: name.to_owned(),
        kind,
    }
}

#[test]
fn a_draft_cannot_be_used_before_it_is_filled_in() {
    let columns = [
        column("a", ColumnKind::Numeric),
        column("y", ColumnKind::Numeric),
    ];
    let draft = draft_schema(&columns).expect("a draft");
    let refused = Schema::parse(&draft).expect_err("unfilled").to_string();
    assert!(refused.contains(PLACEHOLDER), "{refused}");
}

#[test]
fn a_filled_in_draft_is_a_schema_with_every_column_in_its_place() {
    let columns = [
        column("a.b", ColumnKind::Unstated),
        column("who", ColumnKind::Text),
        column("y", ColumnKind::Numeric),
    ];
    let draft = draft_schema(&columns).expect("a draft");
    let filled = draft
        .replace("# [feature", "[feature")
        .replace(&format!("# lower = {PLACEHOLDER}"), "lower = 0")
        .replace(&format!("# upper = {PLACEHOLDER}"), "upper = 7")
        .replace(&format!("lower = {PLACEHOLDER}"), "lower = -1")
        .replace(&format!("upper = {PLACEHOLDER}"), "upper = 1");
    let schema = Schema::parse(&filled).expect("a schema");
    assert_eq!(schema.response().name(), "y");
    assert!(schema.excludes("who"));
    assert!(schema.names_feature("a.b"));
}

#[test]
fn a_wide_table_gets_a_short_draft() {
    let columns: Vec<Column> = (0..15_000)
        .map(|at| column(&format!("x_{at}"), ColumnKind::Numeric))
        .collect();
    let draft = draft_schema(&columns).expect("a draft");
    assert!(draft.lines().count() < 50);
    assert!(draft.contains("15000 columns"));
    assert!(draft.contains("name = FILL_IN"), "no column is called y");
}

fn marker(name: &str) -> Column {
    let marker = Marker {
        chromosome: "6".to_owned(),
        position: None,
        effect_allele: "A".to_owned(),
        other_allele: "G".to_owned(),
    };
    column(name, ColumnKind::AlleleCount(Box::new(marker)))
}

#[test]
fn markers_have_bounds_without_a_look_and_no_other_column_gets_them() {
    let columns = [
        column("IID", ColumnKind::Text),
        column("PHENO", ColumnKind::Numeric),
        column("age", ColumnKind::Unstated),
        marker("rs1"),
        marker("rs2"),
    ];
    let draft = draft_schema(&columns).expect("a draft");
    assert!(
        draft.contains("[feature.\"age\"]\nlower = FILL_IN"),
        "{draft}"
    );
    let filled = draft
        .replace(&format!("lower = {PLACEHOLDER}"), "lower = 18")
        .replace(&format!("upper = {PLACEHOLDER}"), "upper = 99");
    let schema = Schema::parse(&filled).expect("a schema");
    assert_eq!(schema.response().name(), "PHENO");
    assert!(schema.excludes("IID"));
    let bounds = |name| {
        schema
            .units_of(name)
            .map(|units| (units.lower(), units.upper()))
    };
    assert_eq!(bounds("rs2"), Some((0.0, 2.0)));
    assert_eq!(bounds("age"), Some((18.0, 99.0)));
    assert_eq!(schema.missing(), crate::schema::MissingPolicy::Midpoint);
}

#[test]
fn repeated_names_are_refused() {
    let columns = [
        column("a", ColumnKind::Numeric),
        column("a", ColumnKind::Text),
    ];
    assert_eq!(
        draft_schema(&columns),
        Err(ColumnError::DuplicateColumn { column: "a".into() })
    );
}

#[test]
fn all_names_that_cannot_be_used_are_said_at_once() {
    let columns = ["a", "", "a", "b", "b", ""].map(|name| column(name, ColumnKind::Unstated));
    let said = draft_schema(&columns).expect_err("refused").to_string();
    for part in ["column 2", "column 6", "`a` occurs", "`b` occurs"] {
        assert!(said.contains(part), "{said}");
    }
}

proptest! {
    #[test]
    fn any_name_survives_quoting(name in "\\PC{1,12}|[\\x01-\\x7f]{1,12}") {
        let text = format!(
            "[response]\nname = {}\nlower = 0\nupper = 1", quote(&name)
        );
        let schema = Schema::parse(&text).expect("a schema");
        prop_assert_eq!(schema.response().name(), name);
    }
}
