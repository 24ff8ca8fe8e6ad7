//! `account plan`: the certified plan of a whole run.

use serde_json::Value;

use crate::command::{answer, assert_near, number, text};

const PLAN: &str = "account plan --algorithm omp --clients 2000 --quorum 1800 --colluders 100 --features 10000 --sparsity 10 --mu-p 0.4 --mu-s 0.02 --delta 1e-6";

fn plan(options: &str) -> Value {
    answer(&format!("{PLAN} {options}"))
}

#[test]
fn a_plan_states_its_guarantee_with_unit_relation_and_currency() {
    let guarantee = plan("")["guarantee"].clone();
    assert_eq!(
        (
            &guarantee["mode"],
            &guarantee["unit"],
            &guarantee["neighbours"]
        ),
        (&"certified".into(), &"record".into(), &"zero-out".into())
    );
    assert!(number(&guarantee, "/slack") <= 1e-9);
    let statement = guarantee["statement"].as_str().unwrap();
    for part in [
        "-DP for each record under zero-out",
        "100 colluding clients",
        "the currency is Gaussian DP",
    ] {
        assert!(statement.contains(part), "{statement}");
    }
    assert!(text(PLAN).starts_with(statement));
}

#[test]
fn the_total_is_that_of_the_theory_and_its_epsilon_that_of_the_total() {
    let found = plan("");
    let theory = 0.16 * (10.0 - 90.0 / 20_000.0) + 0.0004 * 6.5;
    let mu = number(&found, "/guarantee/mu");
    assert!(mu * mu >= theory && mu * mu <= theory * 1.001, "{mu}");
    // The protocol's own failure is a part of delta; the noise has what is left.
    let left = 1e-6 - number(&found, "/guarantee/protocol_failure");
    let direct = answer(&format!("account epsilon --mu {mu} --delta {left:e}"));
    assert_near(
        number(&found, "/guarantee/epsilon"),
        number(&direct, "/epsilon"),
        1e-9,
    );
    let of_sums: f64 = found["sums"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sum| number(sum, "/mu").powi(2))
        .sum();
    assert_near(of_sums, mu * mu, 1e-12);
}

#[test]
fn a_plan_lists_its_sums_blocks_and_what_each_client_uploads() {
    let found = plan("");
    assert_eq!(found["rounds"], 11);
    assert_eq!(found["sums"].as_array().unwrap().len(), 11);
    assert_eq!(found["honest"], 1700);
    let blocks = found["sums"][1]["blocks"].as_array().unwrap();
    let named: Vec<_> = blocks
        .iter()
        .map(|b| (b["block"].as_str().unwrap(), b["coordinates"].clone()))
        .collect();
    assert_eq!(
        named,
        [
            ("beta", 9999.into()),
            ("gammaS", 1.into()),
            ("betaS", 1.into())
        ]
    );
    let coordinates: u64 = found["sums"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|sum| sum["blocks"].as_array().unwrap())
        .map(|block| block["coordinates"].as_u64().unwrap())
        .sum();
    assert_eq!(found["coordinates"], coordinates);
    let bits = found["modulus"]["bits"].as_u64().unwrap();
    assert_eq!(found["upload_bytes"], (coordinates * bits).div_ceil(8));
    assert!(found["modulus"]["least"].as_u64().unwrap() <= 1 << bits);
    insta::assert_snapshot!(text(PLAN));
}

#[test]
fn the_gradient_variant_takes_two_sums_for_each_feature() {
    let found = answer(&PLAN.replace("omp", "grad"));
    assert_eq!(found["rounds"], 20);
    assert_eq!(found["sums"][0]["blocks"][0]["block"], "grad");
    let clipped = answer(&format!(
        "{} --feature-bound 2 --residual-clip 0.25",
        PLAN.replace("omp", "grad")
    ));
    assert_near(number(&clipped, "/sums/0/blocks/0/limit"), 0.5, 1e-15);
}

#[test]
fn bounds_scale_the_limits_and_leave_the_cost_alone() {
    let (one, other) = (plan(""), plan("--feature-bound 3 --response-bound 5"));
    assert_eq!(one["guarantee"]["epsilon"], other["guarantee"]["epsilon"]);
    let limits = |plan: &Value| {
        let blocks = plan["sums"][1]["blocks"].as_array().unwrap().clone();
        blocks
            .iter()
            .map(|block| block["limit"].as_f64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(limits(&one), [1.0, 1.0, 1.0]);
    assert_eq!(limits(&other), [9.0, 15.0, 9.0]);
}

#[test]
fn more_caution_never_looks_cheaper() {
    let epsilon = |options: &str| number(&plan(options), "/guarantee/epsilon");
    let replaced = plan("--neighbours replace-one");
    assert_eq!(replaced["guarantee"]["neighbours"], "replace-one");
    // The noise is made for the relation, so both aim at the same budget.
    assert!(number(&replaced, "/guarantee/epsilon") <= epsilon("") * 1.001);
    let noise = |plan: &Value| {
        let block = &plan["sums"][0]["blocks"][0];
        let (numerator, denominator) = fraction(block["share_variance"].as_str().unwrap());
        numerator / denominator / number(block, "/bound").powi(2)
    };
    assert_near(noise(&replaced) / noise(&plan("")), 4.0, 1e-2);
}

fn fraction(text: &str) -> (f64, f64) {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    (numerator.parse().unwrap(), denominator.parse().unwrap())
}

#[test]
fn more_records_per_client_need_a_larger_modulus_and_the_same_budget() {
    let (one, many) = (plan(""), plan("--records-per-client 50"));
    assert_eq!(one["guarantee"]["epsilon"], many["guarantee"]["epsilon"]);
    assert!(number(&many, "/modulus/least") > number(&one, "/modulus/least"));
}
