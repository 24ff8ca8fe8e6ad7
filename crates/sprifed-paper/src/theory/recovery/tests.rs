//! The conditions of the recovery theorems, against values computed by hand and laws.

use sprifed_privacy::Mu;

use super::super::{Situation, Wording};
use super::{Demand, Requirement, gradient_recovery, omp_recovery};

pub(crate) fn situation() -> Situation {
    Situation {
        n_records: 2000,
        n_features: 10_000,
        sparsity: 4,
        isometry_constant: 0.05,
        residual_std_dev: 0.001,
        model_norm: 4.0,
        smallest_coefficient: 1.0,
        largest_coefficient: 3.0,
        feature_bound: 1.0,
        response_bound: 1.0,
        per_vector: Mu::try_from(0.5).unwrap(),
        per_support: Mu::try_from(0.1).unwrap(),
        failure_probability: 1e-3,
    }
}

fn required(requirement: &Requirement) -> f64 {
    match requirement.demand {
        Demand::Records { required_records } => required_records,
        Demand::AtMost { .. } => panic!("{requirement:?} is not about records"),
    }
}

#[test]
fn the_first_pick_needs_what_the_formula_says() {
    let found = omp_recovery(&situation(), Wording::Stated);
    // 4·√ln 9996·100/(0.5·4)
    let expected = (200.0 * 9996f64.ln().sqrt()).ceil();
    assert!((required(&found.requirements[2]) - expected).abs() <= 1.0);
    assert!(found.requirements[2].holds);
}

#[test]
fn the_required_records_solve_their_own_condition() {
    for wording in [Wording::Stated, Wording::Derived] {
        for theorem in [omp_recovery, gradient_recovery] {
            let least = theorem(&situation(), wording).required_records();
            let with = |records: f64| Situation {
                n_records: super::as_count(records),
                ..situation()
            };
            let about_records = |n: f64| {
                let found = theorem(&with(n), wording);
                let holds =
                    |one: &Requirement| one.holds || matches!(one.demand, Demand::AtMost { .. });
                found.requirements.iter().all(holds)
            };
            assert!(about_records(least), "{wording:?}: {least}");
            assert!(!about_records(least - 2.0), "{wording:?}: {least}");
        }
    }
}

#[test]
fn the_p_vectors_need_what_the_formula_says() {
    let inverse: f64 = 1.0 / 0.95;
    let constant = 2.0 + (2.0 * 1000f64.ln() / 4.0).sqrt();
    let least = required(&omp_recovery(&situation(), Wording::Stated).requirements[0]);
    let spread = 1.0 + constant * 8.0 * inverse / (least * 0.1);
    let formula = 4.0 * 100.0 * 4.0 * spread * 1e7f64.ln().sqrt() / 0.5 * inverse.powf(1.5);
    assert!((least - formula).abs() <= 1.5, "{least} for {formula}");
}

#[test]
fn isometry_and_error_are_compared_with_what_is_allowed() {
    let found = omp_recovery(&situation(), Wording::Stated);
    let Demand::AtMost {
        allowed,
        found: zeta,
    } = found.requirements[3].demand
    else {
        panic!()
    };
    assert!((allowed - 1.0 / 12.0).abs() < 1e-12 && (zeta - 0.05).abs() < 1e-12);
    assert!(found.requirements[3].holds && found.requirements[4].holds);
    let noisy = Situation {
        residual_std_dev: 0.1,
        ..situation()
    };
    assert!(!omp_recovery(&noisy, Wording::Stated).requirements[4].holds);
}

#[test]
fn the_appendix_never_asks_for_less_than_the_statement() {
    let stated = omp_recovery(&situation(), Wording::Stated);
    let derived = omp_recovery(&situation(), Wording::Derived);
    assert!(derived.required_records() >= stated.required_records());
}

#[test]
fn the_theorem_needs_far_more_records_than_the_experiments() {
    // The paper's s = 10, p = 10,000, μ_p = 0.4, μ_s = 0.02 recovers most features at n = 8000.
    let paper = Situation {
        sparsity: 10,
        isometry_constant: 0.0,
        per_vector: Mu::try_from(0.4).unwrap(),
        per_support: Mu::try_from(0.02).unwrap(),
        ..situation()
    };
    assert!(omp_recovery(&paper, Wording::Stated).required_records() > 30_000.0);
    assert!(!omp_recovery(&paper, Wording::Stated).holds());
}

#[test]
fn a_large_failure_probability_promises_nothing() {
    let careless = Situation {
        failure_probability: 0.01,
        ..situation()
    };
    assert!(omp_recovery(&careless, Wording::Stated).probability.abs() < 1e-12);
    assert!((gradient_recovery(&careless, Wording::Stated).probability - 0.6).abs() < 1e-12);
}
