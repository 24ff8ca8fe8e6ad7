use super::*;
use crate::terms::DataTerms;

fn columns(names: &[&str]) -> Vec<Column> {
    names
        .iter()
        .map(|name| Column {
            name: name.trim_start_matches('"').to_owned(),
            kind: if name.starts_with('"') {
                ColumnKind::Text
            } else {
                ColumnKind::Numeric
            },
        })
        .collect()
}

fn schema(rest: &str) -> Schema {
    Schema::parse(&format!(
        "[response]\nname = \"y\"\nlower = 0\nupper = 1\n{rest}"
    ))
    .expect("a schema")
}

fn bounded(rest: &str) -> Schema {
    schema(&format!("[features]\nlower = 0\nupper = 1\n{rest}"))
}

fn features(names: &[&str], schema: &Schema) -> Vec<usize> {
    Selection::choose(&columns(names), schema)
        .expect("a selection")
        .features
}

fn refused(names: &[&str], schema: &Schema) -> ColumnError {
    Selection::choose(&columns(names), schema).expect_err("refused")
}

/// Two markers, and a column that is none.
fn markers() -> Vec<Column> {
    let marker = |name: &str, chromosome: &str, position| Column {
        name: name.to_owned(),
        kind: ColumnKind::AlleleCount(Box::new(Marker {
            chromosome: chromosome.to_owned(),
            position: Some(position),
            effect_allele: "A".to_owned(),
            other_allele: "G".to_owned(),
        })),
    };
    let mut columns = columns(&["y", "age"]);
    columns.extend([
        marker("rs1", "6", 10),
        marker("rs2", "6", 20),
        marker("rs3", "7", 10),
    ]);
    columns
}

#[test]
fn a_table_that_counts_another_allele_does_not_fit_what_is_agreed() {
    let agreed = |effect: &str, other: &str| {
        let text =
            "[response]\nname = \"y\"\nlower = 0\nupper = 1\n[features]\nlower = 0\nupper = 2\n";
        let terms = DataTerms::new(text.to_owned(), vec!["age".to_owned(), "rs1".to_owned()])
            .expect("terms");
        let marker = Marker {
            chromosome: "6".to_owned(),
            // Another build of the genome: places may differ, alleles may not.
            position: Some(11),
            effect_allele: effect.to_owned(),
            other_allele: other.to_owned(),
        };
        terms
            .with_markers([("rs1".to_owned(), marker)].into())
            .expect("terms")
    };
    let chosen = |terms: &DataTerms, columns: &[Column]| Selection::choose(columns, terms.schema());
    assert!(chosen(&agreed("A", "G"), &markers()).is_ok());
    for (effect, other) in [("G", "A"), ("T", "C"), ("A", "C")] {
        let refused = chosen(&agreed(effect, other), &markers()).expect_err("refused");
        let said = refused.to_string();
        assert!(
            said.contains("`rs1` counts copies of A and not of G"),
            "{said}"
        );
    }
    let unstated = chosen(&agreed("A", "G"), &columns(&["y", "age", "rs1"]));
    assert_eq!(
        unstated,
        Err(ColumnError::UnstatedAlleles {
            column: "rs1".to_owned()
        })
    );
}

#[test]
fn regions_choose_markers_and_leave_other_columns_alone() {
    let chosen = |rest: &str| {
        let columns = markers();
        let selection = Selection::choose(&columns, &bounded(rest)).expect("a selection");
        let names = selection
            .features
            .iter()
            .map(|&at| columns[at].name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(chosen("regions = [\"6:15-25\"]"), ["age", "rs2"]);
    assert_eq!(
        chosen("regions = [\"7\", \"6:1-10\"]"),
        ["age", "rs1", "rs3"]
    );
    assert_eq!(
        chosen("regions = [\"7\"]\n[feature.rs2]\nlower = 0\nupper = 2"),
        ["age", "rs2", "rs3"],
        "a marker with a table of its own stays"
    );
    let none = Selection::choose(&markers(), &bounded("regions = [\"chr6\"]"));
    let said = none.expect_err("refused").to_string();
    assert!(said.contains("`chr6`"), "{said}");
}

#[test]
fn without_patterns_every_other_column_is_a_feature() {
    let schema = bounded("[record]\nclient = \"who\"");
    assert_eq!(features(&["a", "who", "y", "b"], &schema), [0, 3]);
}

#[test]
fn text_never_decides_which_features_there_are() {
    let schema = bounded("[record]\nclient = \"who\"");
    let column = "text".to_owned();
    let refusal = ColumnError::NotNumeric {
        column,
        role: "a feature",
    };
    assert_eq!(refused(&["a", "who", "y", "\"text", "b"], &schema), refusal);
}

#[test]
fn patterns_choose_and_exclusion_wins() {
    let schema = bounded("include = [\"x_*\", \"y*\"]\nexclude = [\"x_2\"]");
    assert_eq!(
        features(&["x_1", "x_2", "y", "y_2", "pid"], &schema),
        [0, 3]
    );
}

#[test]
fn a_feature_with_its_own_table_needs_no_pattern() {
    let schema = schema("[features]\ninclude = []\n[feature.a]\nlower = 0\nupper = 1");
    assert_eq!(features(&["a", "b", "y"], &schema), [0]);
}

#[test]
fn absent_columns_are_named_with_their_role() {
    let absent = |column: &str, role| ColumnError::AbsentColumn {
        column: column.into(),
        role,
    };
    assert_eq!(refused(&["a"], &bounded("")), absent("y", "the response"));
    let client = bounded("[record]\nclient = \"who\"");
    assert_eq!(
        refused(&["a", "y"], &client),
        absent("who", "the client column")
    );
    let named = bounded("[feature.b]\nlower = 0\nupper = 1");
    assert_eq!(refused(&["a", "y"], &named), absent("b", "a feature"));
    let listed = bounded("include = [\"b\"]");
    assert_eq!(refused(&["a", "y"], &listed), absent("b", "a feature"));
    let idle = bounded("include = [\"b*\"]");
    assert_eq!(
        refused(&["a", "y"], &idle),
        ColumnError::IdlePattern {
            pattern: "b*".into()
        }
    );
}

#[test]
fn text_is_refused_where_numbers_were_asked_for() {
    let text = |column: &str, role| ColumnError::NotNumeric {
        column: column.into(),
        role,
    };
    assert_eq!(
        refused(&["a", "\"y"], &bounded("")),
        text("y", "the response")
    );
    let asked = bounded("include = [\"*\"]");
    assert_eq!(refused(&["\"a", "y"], &asked), text("a", "a feature"));
}

#[test]
fn repeated_and_absent_names_are_refused() {
    let duplicate = ColumnError::DuplicateColumn { column: "a".into() };
    assert_eq!(refused(&["a", "y", "a"], &bounded("")), duplicate);
    assert_eq!(
        refused(&["a", "", "y"], &bounded("")),
        ColumnError::NamelessColumn { position: 2 }
    );
    assert_eq!(refused(&[], &bounded("")), ColumnError::NoHeader);
    assert_eq!(
        duplicate_names(&columns(&["a", "b", "a", "a", "b"])),
        ["a", "b"]
    );
}

#[test]
fn features_without_bounds_are_counted_and_the_first_is_named() {
    let schema = schema("[feature.b]\nlower = 0\nupper = 1");
    let unbounded = ColumnError::Unbounded {
        count: 2,
        first: "a".into(),
    };
    assert_eq!(refused(&["a", "b", "c", "y"], &schema), unbounded);
}

#[test]
fn all_problems_are_said_at_once() {
    let schema = bounded("[record]\nclient = \"who\"\n[feature.b]\nlower = 0\nupper = 1");
    let problems = refused(&["a", "\"t"], &schema).each();
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    for (problem, name) in said.iter().zip(["`y`", "`who`", "`b`", "`t`"]) {
        assert!(problem.contains(name), "{problem}");
    }
}

#[test]
fn one_column_in_every_few_is_kept_and_named_ones_do_not_count() {
    let schema = bounded("every = 3\nalways = [\"age\"]\n[feature.s2]\nlower = 0\nupper = 1");
    let names = ["s0", "age", "s1", "s2", "s3", "y", "s4", "s5"];
    assert_eq!(features(&names, &schema), [1, 0, 3, 6]);
    let by_pattern = bounded("include = [\"s*\", \"s5\"]\nevery = 2");
    assert_eq!(features(&names, &by_pattern), [0, 3, 6, 7]);
}

#[test]
fn columns_of_an_array_without_names_are_explained() {
    let said = refused(&["x_0", "x_1"], &bounded("")).to_string();
    assert!(said.contains("called x_0 to x_1"), "{said}");
}

#[test]
fn levels_may_be_text_and_dates_are_refused_by_name() {
    let schema = bounded("[feature.sex]\nlevels = [\"f\", \"m\"]");
    assert_eq!(features(&["\"sex", "a", "y"], &schema), [0, 1]);
    let mut dated = columns(&["visit", "y"]);
    dated[0].kind = ColumnKind::Date;
    let said = Selection::choose(&dated, &bounded(""))
        .expect_err("a date")
        .to_string();
    assert!(
        said.contains("`visit`") && said.contains("days since"),
        "{said}"
    );
}

#[test]
fn a_table_without_features_is_refused() {
    assert_eq!(refused(&["y"], &bounded("")), ColumnError::NoFeatures);
}

#[test]
fn columns_that_are_always_in_the_model_come_first_in_the_order_of_the_table() {
    let schema = bounded("always = [\"sex\", \"age\"]");
    let names = ["g1", "age", "y", "g2", "sex", "g3"];
    assert_eq!(features(&names, &schema), [1, 4, 0, 3, 5]);
}
