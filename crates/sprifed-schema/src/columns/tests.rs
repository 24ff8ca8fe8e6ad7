use super::*;

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
fn a_table_without_features_is_refused() {
    assert_eq!(refused(&["y"], &bounded("")), ColumnError::NoFeatures);
}
