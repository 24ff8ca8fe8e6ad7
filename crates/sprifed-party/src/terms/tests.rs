use super::*;

const BOUNDS: &str =
    "[response]\nname = \"risk\"\nlower = -1\nupper = 1\n[features]\nlower = -1\nupper = 1\n";

#[test]
fn no_column_is_read_that_is_not_shown_to_the_policy() {
    let extra = "include = [\"m*\", \"hiv\"]\n";
    for text in [format!("{BOUNDS}{extra}"), BOUNDS.to_owned()] {
        let features = ["m1", "m2"].map(str::to_owned).to_vec();
        let terms = DataTerms::new(text.clone(), features).expect("terms");
        assert_eq!(terms.columns(), ["risk", "m1", "m2"]);
        // A gap or a word in another column has no table refused.
        let text_of_table = "risk,m1,m2,hiv,m3\n0.1,0.2,0.3,word,\n0.1,0.2,0.3,,x\n";
        let table = sprifed_tables::read_csv(text_of_table.as_bytes(), terms.schema());
        let table = table.expect("only three columns are read");
        assert_eq!(table.design().names(), ["m1", "m2"], "{text}");
    }
}
