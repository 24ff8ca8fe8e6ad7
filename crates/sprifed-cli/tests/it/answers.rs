//! `account delta`, `epsilon`, `mu` and `compose`.

use crate::command::{answer, assert_near, number, sprifed, text};

#[test]
fn delta_is_answered_for_mu_and_for_rho() {
    let by_mu = answer("account delta --mu 1 --epsilon 1");
    assert_near(number(&by_mu, "/delta"), 0.126_936_737_507, 1e-11);
    assert_near(
        number(&by_mu, "/log_delta").exp(),
        number(&by_mu, "/delta"),
        1e-12,
    );
    assert!(number(&by_mu, "/delta") > number(&by_mu, "/log_delta").exp());
    assert!(by_mu["rho"].is_null());
    let by_rho = answer("account delta --rho 0.5 --epsilon 1");
    assert!(number(&by_rho, "/delta") > number(&by_mu, "/delta"));
    assert!(by_rho["mu"].is_null());
    assert!(text("account delta --mu 1 --epsilon 1").starts_with("delta = 1.269367375"));
}

#[test]
fn epsilon_is_answered_rounded_up() {
    let by_mu = answer("account epsilon --mu 1.32 --delta 1e-4");
    assert_near(number(&by_mu, "/epsilon"), 5.308, 5e-4);
    assert_eq!(by_mu["rounded"], "up");
    let by_rho = answer("account epsilon --rho 0.8712 --delta 1e-4");
    assert!(number(&by_rho, "/epsilon") > number(&by_mu, "/epsilon"));
    insta::assert_snapshot!(text("account epsilon --mu 1.32 --delta 1e-4"));
}

#[test]
fn mu_is_answered_rounded_down_with_the_noise_for_both_relations() {
    let granted = answer("account mu --epsilon 1 --delta 1e-6 --sensitivity 2");
    assert_near(number(&granted, "/mu"), 0.236_704_38, 1e-8);
    assert_eq!(granted["rounded"], "down");
    let [zero_out, replace_one] = ["zero-out", "replace-one"]
        .map(|relation| number(&granted, &format!("/noise_std_dev/{relation}")));
    assert_near(zero_out * number(&granted, "/mu"), 2.0, 1e-12);
    assert_near(replace_one, 2.0 * zero_out, 1e-12);
    insta::assert_snapshot!(text("account mu --epsilon 1 --delta 1e-6 --sensitivity 2"));
}

#[test]
fn epsilon_of_the_granted_mu_is_within_the_target() {
    for target in [0.1, 1.0, 5.0] {
        let mu = number(
            &answer(&format!("account mu --epsilon {target} --delta 1e-6")),
            "/mu",
        );
        let back = number(
            &answer(&format!("account epsilon --mu {mu} --delta 1e-6")),
            "/epsilon",
        );
        assert_near(back, target, 1e-9);
    }
}

#[test]
fn repeated_gaussian_releases_compose_in_quadrature() {
    let composed = answer("account compose --mu 0.4x10 --mu 0.02x20 --delta 1e-4");
    assert_near(number(&composed, "/mu"), 1.268_07, 1e-5);
    assert_near(number(&composed, "/epsilon"), 5.056, 5e-4);
    assert!(number(&composed, "/epsilon_by_zcdp") > number(&composed, "/epsilon"));
    let direct = answer(&format!(
        "account epsilon --mu {} --delta 1e-4",
        number(&composed, "/mu")
    ));
    assert_near(
        number(&direct, "/epsilon"),
        number(&composed, "/epsilon"),
        1e-10,
    );
}

#[test]
fn selections_compose_with_gaussian_releases_and_never_for_free() {
    let sums = answer("account compose --mu 0.4x10 --delta 1e-6");
    let both = answer("account compose --mu 0.4x10 --range 0.5x3 --delta 1e-6");
    let selections = answer("account compose --range 0.5x10 --delta 1e-5");
    assert!(number(&both, "/epsilon") > number(&sums, "/epsilon"));
    assert!(number(&both, "/epsilon") <= number(&both, "/epsilon_by_zcdp"));
    // Between what an adaptive attack attains and the better of the published routes.
    let epsilon = number(&selections, "/epsilon");
    assert!((3.25..3.52).contains(&epsilon), "{epsilon}");
    assert!(selections["mu"].is_null());
    insta::assert_snapshot!(text(
        "account compose --mu 0.4x10 --range 0.5x3 --delta 1e-6"
    ));
}

#[test]
fn an_answer_does_not_depend_on_where_the_json_flag_stands() {
    let ended = [
        "--json account epsilon --mu 1 --delta 1e-6",
        "account --json epsilon --mu 1 --delta 1e-6",
    ]
    .map(|line| sprifed(line).json());
    assert_eq!(ended[0], ended[1]);
    assert_eq!(ended[0], answer("account epsilon --mu 1 --delta 1e-6"));
}
