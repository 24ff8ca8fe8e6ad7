//! The search is the same each time, and what is charged is charged for every candidate.

use super::*;
use crate::baseline::{Baseline, DpGcdParameters, DpSgdParameters};
use crate::method::AnyMethod;
use sprifed_simulate::test_support::{budget, request};

fn dp_sgd() -> Baseline {
    Baseline::DpSgd(DpSgdParameters::certified())
}

fn dp_gcd() -> Baseline {
    Baseline::DpGcd(DpGcdParameters::certified(3))
}

#[test]
fn the_radical_inverse_mirrors_digits() {
    for (index, base, expected) in [(0, 2, 0.0), (1, 2, 0.5), (6, 2, 0.375), (5, 3, 7.0 / 9.0)] {
        let found = radical_inverse(index, base);
        assert!(
            (found - expected).abs() < 1e-12,
            "{index} in {base}: {found}"
        );
    }
}

#[test]
fn candidates_are_legal_different_and_start_with_the_default() {
    for usual in [dp_sgd(), dp_gcd()] {
        let tried = candidates(usual, 3, 40);
        assert_eq!((tried.len(), tried[0]), (40, usual));
        for (index, candidate) in tried.iter().enumerate() {
            assert_eq!(candidate.check(), Ok(()), "{candidate}");
            assert!(!tried[..index].contains(candidate), "{candidate} twice");
        }
        assert!(candidates(usual, 3, 0).is_empty());
    }
}

#[test]
fn a_search_for_free_is_at_least_as_good_as_each_of_its_candidates() {
    let world = World::generate(request(), 5);
    for usual in [dp_sgd(), dp_gcd()] {
        let tried = candidates(usual, 3, 5);
        let method =
            |baseline| AnyMethod::baseline(baseline, &request(), budget(3.0), Relation::ZeroOut);
        let best = tune_for_free(&tried, method, &world, 9).unwrap();
        for (index, baseline) in (0u64..).zip(&tried) {
            let outcome = method(*baseline)
                .unwrap()
                .run_on(&world, 9 ^ (index << 32))
                .unwrap();
            assert!(best.outcome.test_mse <= outcome.test_mse, "{baseline}");
        }
        assert!(tried.contains(&best.baseline));
    }
}

#[test]
fn both_rows_find_the_model_when_the_budget_is_generous_and_are_repeatable() {
    let world = World::generate(request(), 5);
    for usual in [dp_sgd(), dp_gcd()] {
        let rows = || tune(usual, &world, budget(200.0), Relation::ZeroOut, 3, 4).unwrap();
        let found = rows();
        assert_eq!(found, rows());
        for row in [&found.free, &found.charged] {
            assert_eq!(row.outcome.recovered, 3, "{usual}: {row:?}");
            assert!(row.outcome.test_mse < 0.1 * row.outcome.null_mse);
        }
    }
}

#[test]
fn a_search_without_candidates_is_refused() {
    let world = World::generate(request(), 5);
    let refused = tune(dp_sgd(), &world, budget(5.0), Relation::ZeroOut, 0, 4).unwrap_err();
    assert!(refused.to_string().contains("a search among no candidates"));
}
