use super::*;

fn read(text: &str, indices: &str) -> Result<Table, DataError> {
    let schema = Schema::parse(
        "[response]\nname = \"y\"\nlower = -4\nupper = 4\n[features]\nlower = -1\nupper = 1\n",
    )
    .expect("a schema");
    let indices = IndexRange::parse(indices).expect("indices");
    read_svmlight(text.as_bytes(), indices, &schema)
}

fn refused(text: &str) -> String {
    read(text, "1-3").expect_err("refused").to_string()
}

#[test]
fn what_a_line_does_not_have_is_zero() {
    let text = "# made by hand\n+1 1:0.5 3:-1 # first\n\n-2 2:0.25\n4\n";
    let table = read(text, "1-3").expect("a table");
    assert_eq!(table.design().names(), ["x_1", "x_2", "x_3"]);
    let rows = table.design().rows().map(|row| row.to_vec());
    let rows: Vec<Vec<f32>> = rows.collect();
    assert_eq!(rows, [[0.5, 0.0, -1.0], [0.0, 0.25, 0.0], [0.0; 3]]);
    assert_eq!(table.response(), [0.25, -0.5, 1.0]);
}

/// An index that no record has must not change the columns, or they would say what the records do.
#[test]
fn the_columns_are_those_that_the_user_states() {
    let text = "1 0:1\n2 0:0.5\n";
    let table = read(text, "0-4").expect("a table");
    assert_eq!(table.design().names(), ["x_0", "x_1", "x_2", "x_3", "x_4"]);
}

#[test]
fn a_line_that_is_none_is_refused_by_its_number() {
    for (text, part) in [
        ("1 1:1\n1 4:1\n", "line 2 has an index outside --svmlight"),
        ("1 0:1\n", "outside --svmlight"),
        ("1 2:1 2:1\n", "index twice"),
        ("1 qid:3 1:1\n", "no whole number"),
        ("1 1\n", "without a colon"),
        ("1 -1:2\n", "no whole number"),
        ("1 2:one\n", "column `x_2`, line 1: text"),
        ("1 2:\n", "column `x_2`, line 1: missing"),
        ("", "no records"),
        ("# only a comment", "no records"),
    ] {
        let said = refused(text);
        assert!(said.contains(part), "{text:?}: {said}");
    }
}

#[test]
fn ranges_of_indices_are_two_numbers_in_order() {
    for text in ["", "5", "3-2", "-1-4", "a-b", "1-99999999999"] {
        assert!(IndexRange::parse(text).is_err(), "{text}");
    }
    assert!(IndexRange::parse("7-7").is_ok());
}
