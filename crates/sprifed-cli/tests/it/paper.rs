//! `account paper`: the recomputed numbers of the paper.

use serde_json::Value;

use crate::command::{answer, assert_near, number, text};

fn row<'a>(answer: &'a Value, place: &str) -> &'a Value {
    let rows = answer["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["place"].as_str().unwrap().contains(place))
        .unwrap()
}

#[test]
fn the_table_says_that_it_is_not_a_guarantee() {
    let label = "NOMINAL (paper formula, not a DP guarantee)";
    assert_eq!(answer("account paper")["label"], label);
    let words = text("account paper");
    assert!(words.starts_with(label), "{words}");
    assert!(!words.contains(")-DP"), "{words}");
}

#[test]
fn the_claims_for_ten_features_are_set_beside_what_they_deliver() {
    let table = answer("account paper");
    let ten = row(&table, "section 6, s = 10");
    assert_near(number(ten, "/claimed_epsilon"), 5.34, 1e-12);
    assert_near(number(ten, "/epsilon_of_claimed_mu"), 5.308, 5e-4);
    assert_near(number(ten, "/theorem/mu"), 1.2681, 5e-5);
    assert_near(number(ten, "/theorem/epsilon"), 5.056, 5e-4);
    assert_near(number(ten, "/delivered_zero_out/epsilon"), 11.9, 0.06);
    assert_near(number(ten, "/delivered_replace_one/epsilon"), 30.7, 0.06);
    let [zero_out, replace_one] =
        ["zero_out", "replace_one"].map(|relation| number(ten, &format!("/needed_{relation}/mu")));
    assert_near(replace_one, 2.0 * zero_out, 1e-12);
}

#[test]
fn the_claims_for_five_features_are_set_beside_what_they_deliver() {
    let table = answer("account paper");
    let five = row(&table, "section 6, s = 5");
    assert_near(number(five, "/theorem/mu"), 1.2158, 5e-5);
    assert_near(number(five, "/theorem/epsilon"), 4.806, 5e-4);
    assert_near(number(five, "/delivered_zero_out/epsilon"), 11.7, 0.06);
    assert_near(number(five, "/delivered_replace_one/epsilon"), 30.1, 0.06);
    assert_near(
        number(row(&table, "figures, s = 5"), "/claimed_epsilon"),
        4.94,
        1e-12,
    );
    assert_near(
        number(row(&table, "Table 1, s = 10"), "/claimed_epsilon"),
        5.74,
        1e-12,
    );
}

#[test]
fn a_setting_without_a_stated_sparsity_has_no_total() {
    let table = answer("account paper");
    let madelon = row(&table, "MADELON");
    assert_near(number(madelon, "/epsilon_of_claimed_mu"), 6.227, 5e-4);
    assert_near(number(madelon, "/claimed_epsilon"), 8.38, 1e-12);
    for part in [
        "theorem",
        "needed_zero_out",
        "delivered_zero_out",
        "delivered_replace_one",
    ] {
        assert!(madelon[part].is_null(), "{part}");
    }
}

#[test]
fn the_text_shows_the_same_numbers_rounded() {
    insta::assert_snapshot!(text("account paper"));
}
