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

const TIME: &str = "outcome = \"survival\"\nevent = \"dead\"\nhorizon = 60";

#[test]
fn a_time_and_its_event_are_one_number_in_units_of_the_horizon() {
    let schema = schema(TIME).unwrap();
    let response = schema.response();
    assert_eq!(response.levels(), None);
    let event = response.event_time().unwrap();
    assert_eq!((event.column(), event.horizon()), ("dead", 60.0));
    assert_eq!(event.levels().names(), ["0", "1"]);
    assert_eq!(event.response(15.0, 1.0), Ok(0.25));
    assert_eq!(event.response(15.0, 0.0), Ok(-0.25));
    assert_eq!(event.response(60.0, 1.0), Ok(1.0));
    // Beyond the horizon nothing counts.
    assert_eq!(event.response(61.0, 1.0), Ok(-1.0));
    assert!(event.response(0.0, 1.0).unwrap() > 0.0);
    assert_eq!(event.response(0.0, 0.0), Ok(0.0));
    assert_eq!(event.response(-1.0, 1.0), Err(CellDefect::NegativeTime));
    assert!(event.response(f64::NAN, 1.0).unwrap().is_nan());
    assert!(event.response(3.0, f64::NAN).unwrap().is_nan());
    assert!(event.response(f64::INFINITY, 1.0).unwrap().is_infinite());
    // Such numbers pass the units as they are, and residuals are within their bound.
    let units = response.units();
    assert_eq!((units.to_unit(-0.25), units.bound()), (-0.25, 4.0));
    let reading = response.reading().unwrap();
    assert_eq!(reading.column(), "dead");
    assert_eq!(
        [reading.of_text(b"1"), reading.of_text(b"0")],
        [Some(1.0), Some(0.0)]
    );
}

#[test]
fn a_time_needs_its_event_and_its_horizon_and_nothing_else() {
    for (text, says) in [
        ("outcome = \"survival\"\nevent = \"dead\"", "`horizon`"),
        ("outcome = \"survival\"\nhorizon = 60", "`event`"),
        (
            "outcome = \"survival\"\nevent = \"y\"\nhorizon = 60",
            "another column",
        ),
        (
            "outcome = \"survival\"\nevent = \"dead\"\nhorizon = 0",
            "above 0",
        ),
        (
            "outcome = \"survival\"\nevent = \"dead\"\nhorizon = inf",
            "above 0",
        ),
        (&format!("{TIME}\nlower = 0"), "a key for numbers"),
        (&format!("{TIME}\nlevels = [0, 1, 2]"), "two `levels`"),
        (
            "lower = 0\nupper = 1\nhorizon = 60",
            "require outcome = \"survival\"",
        ),
        (
            "outcome = \"binary\"\nlevels = [0, 1]\nevent = \"dead\"",
            "require outcome = \"survival\"",
        ),
    ] {
        let refused = schema(text).unwrap_err();
        assert!(refused.contains(says), "{text}: {refused}");
    }
    let as_feature = format!(
        "[response]\nname = \"y\"\n{TIME}\n[features]\nlower = 0\nupper = 1\n[feature.dead]\nlower = 0\nupper = 1\n"
    );
    let refused = Schema::parse(&as_feature).unwrap_err().to_string();
    assert!(refused.contains("the event"), "{refused}");
}
