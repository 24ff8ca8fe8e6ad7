use super::*;

const BOUNDS: &str =
    "[response]\nname = \"risk\"\nlower = -1\nupper = 1\n[features]\nlower = -1\nupper = 1\n";

fn terms(schema: String) -> Result<DataTerms, TermsError> {
    DataTerms::new(schema, vec!["m1".to_owned(), "m2".to_owned()])
}

#[test]
fn a_coordinator_cannot_name_a_client_column() {
    // With a limit for each client, one record would decide which others count.
    let record = "[record]\nclient = \"m1\"\nmax_per_client = 1\n";
    let refused = terms(format!("{BOUNDS}{record}"));
    let said = refused.expect_err("refused").to_string();
    assert!(said.contains("client column `m1`"), "{said}");
}

#[test]
fn terms_without_a_schema_or_bounds_are_refused() {
    assert!(matches!(
        terms("no schema".to_owned()),
        Err(TermsError::Schema(_))
    ));
    let unbounded = BOUNDS
        .split("[features]")
        .next()
        .expect("a text")
        .to_owned();
    assert_eq!(terms(unbounded), Err(TermsError::UnboundedFeature));
}

#[test]
fn a_column_is_named_once() {
    let twice = ["m1", "risk", "m1"].map(str::to_owned).to_vec();
    let terms = DataTerms::new(BOUNDS.to_owned(), twice).expect("terms");
    assert_eq!(terms.columns(), ["risk", "m1"]);
}
