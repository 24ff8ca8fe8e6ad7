#![expect(
    clippy::float_cmp,
    reason = "numbers of a schema are kept as they are written"
)]

use proptest::prelude::*;

use super::*;

const WHOLE: &str = r#"
[response]
name = "y"
lower = 0.0
upper = 10.0

[features]
lower = -1.0
upper = 1.0

[feature.age]
lower = 0
upper = 120

[record]
client = "hospital_id"
max_per_client = 3
missing = "midpoint"
missing_response = "drop"
unit = "client"
"#;

fn refused(text: &str) -> String {
    Schema::parse(text).expect_err("refused").to_string()
}

fn with_response(rest: &str) -> String {
    format!("[response]\nname = \"y\"\nlower = 0\nupper = 1\n{rest}")
}

#[test]
fn the_schema_of_the_interface_page_is_read() {
    let schema = Schema::parse(WHOLE).expect("a schema");
    assert_eq!(schema.response().name(), "y");
    assert_eq!(schema.client(), Some("hospital_id"));
    assert_eq!(schema.max_per_client().get(), 3);
    assert_eq!(schema.missing(), MissingPolicy::Midpoint);
    assert_eq!(schema.missing_response(), MissingResponsePolicy::Drop);
    assert_eq!(schema.unit(), PrivacyUnit::Client);
    let upper = |name| schema.units_of(name).map(Units::upper);
    assert_eq!([upper("age"), upper("other")], [Some(120.0), Some(1.0)]);
}

#[test]
fn absent_settings_are_the_strict_ones() {
    let schema = Schema::parse(&with_response("")).expect("a schema");
    assert_eq!(schema.max_per_client().get(), 1);
    assert_eq!(schema.missing(), MissingPolicy::Reject);
    assert_eq!(schema.missing_response(), MissingResponsePolicy::Reject);
    assert_eq!(schema.unit(), PrivacyUnit::Record);
    assert_eq!(schema.units_of("anything"), None);
}

#[test]
fn an_unknown_key_is_refused_by_name() {
    let unknown = refused(&with_response("uper = 3"));
    assert!(unknown.contains("line 5, `uper = 3`: unknown"), "{unknown}");
    assert!(refused(&with_response("[features]\nlowest = 3")).contains("lowest"));
    assert!(refused(&with_response("[records]\nclient = \"a\"")).contains("records"));
    assert!(refused(&with_response("[record]\nmissing = \"mean\"")).contains("midpoint"));
}

#[test]
fn a_missing_response_or_bound_is_refused_by_name() {
    assert!(refused("").contains("response"));
    assert!(refused("[response]\nname = \"y\"\nlower = 0").contains("upper"));
    assert!(refused(&with_response("[feature.a]\nlower = 0")).contains("upper"));
    assert!(refused(&with_response("[features]\nlower = 0")).contains("both, or neither"));
    assert!(refused(&with_response("[features]\nscale = 2")).contains("`features`"));
}

#[test]
fn bounds_must_be_finite_and_in_order() {
    let message = refused(&with_response("[feature.a]\nlower = nan\nupper = 1"));
    assert!(message.contains("`feature.a.lower` is NaN"), "{message}");
    let message = refused(&with_response("[features]\nlower = 2\nupper = 1"));
    assert!(message.contains("lower = 2 and upper = 1"), "{message}");
}

#[test]
fn a_target_among_the_features_is_refused() {
    let named = refused(&with_response("[feature.y]\nlower = 0\nupper = 1"));
    assert!(
        named.contains("`y` is the response and a feature"),
        "{named}"
    );
    let listed = refused(&with_response("[features]\ninclude = [\"y\"]"));
    assert!(
        listed.contains("`y` is the response and a feature"),
        "{listed}"
    );
}

#[test]
fn one_column_cannot_play_two_roles() {
    assert!(refused(&with_response("[record]\nclient = \"y\"")).contains("the client column"));
    let rest = "[record]\nclient = \"c\"\n[feature.c]\nlower = 0\nupper = 1";
    assert!(refused(&with_response(rest)).contains("`c` is the client column and a feature"));
    let rest = "[features]\nexclude = [\"a*\"]\n[feature.ab]\nlower = 0\nupper = 1";
    assert!(refused(&with_response(rest)).contains("excluded from the features"));
}

#[test]
fn the_cap_is_at_least_one_and_needs_a_client_column() {
    let zero = refused(&with_response(
        "[record]\nclient = \"c\"\nmax_per_client = 0",
    ));
    assert!(zero.contains("at least 1"), "{zero}");
    let alone = refused(&with_response("[record]\nmax_per_client = 5"));
    assert!(alone.contains("`record.client` is absent"), "{alone}");
}

#[test]
fn a_log_response_is_bounded_in_the_units_of_its_column() {
    let text = "[response]\nname = \"y\"\nlower = 0\nupper = 99\ntransform = \"log1p\"";
    let schema = Schema::parse(text).expect("a schema");
    let units = schema.response().units();
    assert!((units.upper() - 100f64.ln()).abs() < 1e-12);
    assert!(refused(&text.replace("lower = 0", "lower = -1")).contains("lower > -1"));
}

#[test]
fn another_target_than_the_response_is_refused() {
    let schema = Schema::parse(WHOLE).expect("a schema");
    assert_eq!(schema.require_target("y"), Ok(()));
    let message = schema.require_target("z").expect_err("refused").to_string();
    assert!(
        message.contains("target is `z`") && message.contains("`y`"),
        "{message}"
    );
}

#[test]
fn the_message_for_no_schema_says_why_bounds_cannot_be_read_off_the_data() {
    assert!(
        SchemaError::Missing
            .to_string()
            .contains("the value of one record")
    );
}

#[test]
fn a_place_that_was_not_filled_in_is_named_by_its_line() {
    let text = "[response]\nname = \"y\"\nlower = FILL_IN  # a number\nupper = 1\n# lower = FILL_IN\n[features]\nupper = FILL_IN\n";
    let message = refused(text);
    assert!(
        message.contains("line 3: replace FILL_IN with a number"),
        "{message}"
    );
    assert!(message.ends_with("also in line 7"), "{message}");
}

fn with_bounds(rest: &str, bounds: &str) -> Result<Schema, SchemaError> {
    Schema::of_text(&SchemaText {
        schema: with_response(&format!("[features]\nbounds = \"bounds.csv\"\n{rest}")),
        bounds: Some(bounds.to_owned()),
    })
}

#[test]
fn bounds_come_from_a_file_unless_the_column_has_its_own() {
    let rest = "lower = 0\nupper = 1\ncenter = 0\nscale = 9\n[feature.b]\nlower = 5\nupper = 6\n[feature.\"c*\"]\nlower = -1\nupper = 0\ntransform = \"log1p\"\n[feature.d]\ntransform = \"log1p\"";
    let text = "column,lower,upper,center,scale\na,0,10,4,2\nb,0,99,,\nc1,0,3,,\nd,0,9,,\n";
    let schema = with_bounds(rest, text).expect("a schema");
    let bounds = |name| {
        let units = schema.units_of(name).expect("bounds");
        [units.lower(), units.upper(), units.center(), units.scale()]
    };
    assert_eq!(bounds("a"), [0.0, 10.0, 4.0, 2.0]);
    assert_eq!(bounds("b"), [5.0, 6.0, 5.5, 0.5]);
    assert_eq!(
        [bounds("c1")[1]],
        [4f64.ln()],
        "bounds of the file, transform of the pattern"
    );
    assert_eq!([bounds("c2")[0]], [-(2f64.ln())]);
    assert_eq!([bounds("d")[1]], [10f64.ln()]);
    assert_eq!(bounds("z"), [0.0, 1.0, 0.0, 9.0]);
}

#[test]
fn a_public_value_for_gaps_can_come_from_the_bounds_file() {
    let text = "column,lower,upper,missing_value\na,0,2,0.6\nb,0,2,\n";
    let schema = with_bounds("\n[record]\nmissing = \"midpoint\"", text).expect("a schema");
    let unit = |name: &str| match schema.coding_of(name) {
        Some(Coding::Number(number)) => number.to_unit(f64::NAN),
        _ => panic!("{name} is a number"),
    };
    assert_eq!([unit("a"), unit("b")], [-0.4, 0.0]);
    let outside = with_bounds("", "column,lower,upper,missing_value\na,0,2,3\n");
    let said = outside.expect_err("refused").to_string();
    assert!(said.contains("outside its bounds"), "{said}");
}

#[test]
fn a_bounds_file_that_is_none_is_refused_by_its_line() {
    let said = |text| with_bounds("", text).expect_err("refused").to_string();
    assert!(said("column,lower,upper\na,0,1\na,0,2\n").contains("line 3"));
    assert!(said("column,lower,upper\na,zero,1\n").contains("line 2"));
    assert!(said("column,lower\na,0\n").contains("upper"));
    assert!(said("column,lower,upper\na,2,1\n").contains("lower < upper"));
    let alone = refused(&with_response("[features]\nbounds = \"bounds.csv\""));
    assert!(alone.contains("`bounds.csv`"), "{alone}");
}

#[test]
fn tables_of_features_that_contradict_themselves_are_refused() {
    for (rest, part) in [
        ("[feature.a]\nmissing_value = 1", "no bounds"),
        (
            "[feature.a]\nlevels = [\"a\", \"b\"]\nlower = 0\nupper = 1",
            "one or the other",
        ),
        (
            "[feature.a]\nlevels = [\"a\", \"b\"]\nmissing = \"midpoint\"",
            "no middle",
        ),
        (
            "[feature.a]\nlower = 0\nupper = 1\nmissing = \"value\"",
            "without `missing_value`",
        ),
        (
            "[feature.a]\nlower = 0\nupper = 1\nmissing_value = 2",
            "outside its bounds",
        ),
        (
            "[feature.a]\nlower = 0\nupper = 1\nother = true",
            "without `levels`",
        ),
        ("[record]\nmissing = \"value\"", "missing_value"),
        ("[features]\nevery = 0", "at least 1"),
        ("[features]\nalways = [\"y\"]", "the response and a feature"),
        (
            "[features]\nalways = [\"a\"]\nexclude = [\"a\"]",
            "always in the model",
        ),
    ] {
        let message = refused(&with_response(rest));
        assert!(message.contains(part), "{rest}: {message}");
    }
}

#[test]
fn levels_may_be_written_as_truth_values_and_numbers() {
    let rest = "[feature.a]\nlevels = [false, true]\n[feature.b]\nlevels = [0, 1]\nreference = 1";
    let schema = Schema::parse(&with_response(rest)).expect("a schema");
    let reference = |name| match schema.coding_of(name) {
        Some(Coding::Levels(levels)) => levels.reference().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!([reference("a"), reference("b")], ["false", "1"]);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = Schema::parse(&text);
    }

    #[test]
    fn arbitrary_numbers_never_panic(
        lower in any::<f64>(),
        upper in any::<f64>(),
        center in any::<f64>(),
        scale in any::<f64>(),
        transform in prop_oneof![Just("identity"), Just("log1p")],
    ) {
        let text = format!(
            "[response]\nname = \"y\"\nlower = {lower:?}\nupper = {upper:?}\n\
             center = {center:?}\nscale = {scale:?}\ntransform = \"{transform}\"\n"
        );
        if let Ok(schema) = Schema::parse(&text) {
            prop_assert!(schema.response().units().bound().is_finite());
        }
    }
}

/// A schema may come from another party: it must not have a file of any place read and published.
#[test]
fn a_bounds_file_lies_beside_its_schema() {
    let text = |name: &str| {
        format!("[response]\nname = \"y\"\nlower = 0\nupper = 1\n[features]\nbounds = '{name}'\n")
    };
    for name in [
        "../b.csv",
        "/dev/zero",
        "a/b.csv",
        "..",
        ".",
        "",
        "a\\b.csv",
        "C:b.csv",
    ] {
        let said = SchemaText::bounds_name(&text(name))
            .expect_err(name)
            .to_string();
        assert!(said.contains("`features.bounds`"), "{said}");
        let whole = SchemaText {
            schema: text(name),
            bounds: Some("column,lower,upper\n".to_owned()),
        };
        assert!(Schema::of_text(&whole).is_err(), "{name}");
    }
    let plain = SchemaText::bounds_name(&text("b.csv")).expect("a name");
    assert_eq!(plain.as_deref(), Some("b.csv"));
}
