//! Responses of two levels.

use crate::{CellDefect, Schema};

fn schema(response: &str) -> Result<Schema, String> {
    let text = format!("[response]\nname = \"y\"\n{response}\n[features]\nlower = 0\nupper = 1\n");
    Schema::parse(&text).map_err(|error| error.to_string())
}

#[test]
fn the_second_level_counts_as_one() {
    let schema = schema("outcome = \"binary\"\nlevels = [\"no\", \"yes\"]").unwrap();
    let response = schema.response();
    let levels = response.levels().unwrap();
    assert_eq!(levels.names(), ["no", "yes"]);
    assert_eq!(levels.of_text(b"no"), Ok(0.0));
    assert_eq!(levels.of_text(b" yes "), Ok(1.0));
    assert!(levels.of_text(b"").unwrap().is_nan());
    assert_eq!(levels.of_text(b"maybe"), Err(CellDefect::UnknownLevel));
    assert_eq!(
        (response.units().lower(), response.units().upper()),
        (0.0, 1.0)
    );
    assert_eq!(
        (response.units().to_unit(1.0), response.units().bound()),
        (1.0, 1.0)
    );
    let reading = response.reading().unwrap();
    assert!(reading.is_usable());
    assert_eq!(
        [reading.of_text(b"yes"), reading.of_text(b"no")],
        [Some(1.0), Some(0.0)]
    );
}

#[test]
fn levels_may_be_numbers_or_truth_values() {
    let numbers = schema("outcome = \"binary\"\nlevels = [0, 1]").unwrap();
    let levels = numbers.response().levels().unwrap();
    assert_eq!(levels.of_text(b"1.0"), Ok(1.0));
    assert_eq!(levels.of_text(b"0.5"), Err(CellDefect::UnknownLevel));
    let truth = schema("outcome = \"binary\"\nlevels = [false, true]").unwrap();
    assert_eq!(truth.response().levels().unwrap().of_text(b"TRUE"), Ok(1.0));
}

#[test]
fn what_is_no_pair_of_levels_is_refused() {
    for (response, words) in [
        ("outcome = \"binary\"", "exactly two"),
        ("outcome = \"binary\"\nlevels = [0, 1, 2]", "exactly two"),
        (
            "outcome = \"binary\"\nlevels = [1, \"1.0\"]",
            "the same value",
        ),
        (
            "outcome = \"binary\"\nlevels = [0, 1]\nlower = 0\nupper = 1",
            "a key for numbers",
        ),
        (
            "outcome = \"binary\"\nlevels = [0, 1]\ntransform = \"log1p\"",
            "a key for numbers",
        ),
        ("lower = 0\nupper = 1\nlevels = [0, 1]", "binary"),
        ("lower = 0", "no `upper`"),
        ("outcome = \"ternary\"\nlower = 0\nupper = 1", "ternary"),
    ] {
        let error = schema(response).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let linear = schema("outcome = \"linear\"\nlower = 0\nupper = 1").unwrap();
    assert_eq!(linear.response().levels(), None);
}
