#![expect(
    clippy::float_cmp,
    reason = "numbers of a schema are kept as they are written"
)]

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

#[test]
fn everything_that_decides_how_a_table_is_read_is_in_the_terms() {
    let schema = SchemaText {
        schema: format!(
            "{BOUNDS}bounds = \"b.csv\"\nevery = 5\n[feature.sex]\nlevels = [\"f\", \"m\"]"
        ),
        bounds: Some("column,lower,upper\nm1,0,7\n".to_owned()),
    };
    let columns = ["m1", "sex", "m9"].map(str::to_owned).to_vec();
    let terms = DataTerms::with_always(schema, columns, vec!["m9".to_owned()]).expect("terms");
    assert_eq!(terms.features(), ["m9", "m1", "sex=m"]);
    assert_eq!(terms.columns(), ["risk", "m1", "sex", "m9"]);
    assert_eq!([terms.mapping().features()[1].upper()], [7.0]);
    assert_eq!(
        terms.mapping().covariates().features().collect::<Vec<_>>(),
        [0]
    );
    assert_eq!(terms.schema().every().get(), 1, "the features are named");
    let absent = DataTerms::with_always(
        BOUNDS.to_owned(),
        vec!["m1".to_owned()],
        vec!["age".to_owned()],
    );
    assert!(matches!(absent, Err(TermsError::AlwaysNotFeature { .. })));
}

#[test]
fn every_party_derives_the_order_with_the_columns_first_that_are_always_in_the_model() {
    let columns = ["m1", "m2", "m3"].map(str::to_owned).to_vec();
    let always = vec!["m3".to_owned()];
    let terms = DataTerms::with_always(BOUNDS.to_owned(), columns, always).expect("terms");
    assert_eq!(terms.features(), ["m3", "m1", "m2"]);
    assert_eq!(terms.mapping().covariates().n_features(), 1);
    // As it is written, for a reader.
    assert_eq!(terms.columns(), ["risk", "m1", "m2", "m3"]);
}
