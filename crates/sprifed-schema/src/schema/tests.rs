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
