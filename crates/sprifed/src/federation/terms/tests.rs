use super::*;

const BOUNDS: &str =
    "[response]\nname = \"risk\"\nlower = -1\nupper = 1\n[features]\nlower = -1\nupper = 1\n";

fn terms(schema: String) -> DataTerms {
    DataTerms {
        schema,
        features: vec!["m1".to_owned(), "m2".to_owned()],
    }
}

#[test]
fn a_coordinator_can_not_name_a_client_column() {
    // With a limit for each client, one record would decide which others count.
    let record = "[record]\nclient = \"m1\"\nmax_per_client = 1\n";
    let refused = terms(format!("{BOUNDS}{record}")).schema();
    let said = refused.expect_err("refused").message;
    assert!(said.contains("client column `m1`"), "{said}");
}

#[test]
fn no_column_is_read_that_is_not_shown_to_the_policy() {
    let extra = "include = [\"m*\", \"hiv\"]\n";
    for text in [format!("{BOUNDS}{extra}"), BOUNDS.to_owned()] {
        let terms = terms(text.clone());
        let schema = terms.schema().expect("a schema");
        assert_eq!(terms.columns().expect("columns"), ["risk", "m1", "m2"]);
        // A gap or a word in another column has no table refused.
        let text_of_table = "risk,m1,m2,hiv,m3\n0.1,0.2,0.3,word,\n0.1,0.2,0.3,,x\n";
        let table = sprifed_tables::read_csv(text_of_table.as_bytes(), &schema);
        let table = table.expect("only three columns are read");
        assert_eq!(table.design().names(), ["m1", "m2"], "{text}");
    }
}
