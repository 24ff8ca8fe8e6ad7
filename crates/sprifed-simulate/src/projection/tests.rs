//! Projections by hand.

use sprifed_query::LinearModel;

use super::projection;
use crate::world::Correlation;

fn truth(terms: &[(u32, f64)]) -> LinearModel {
    LinearModel {
        intercept: 0.0,
        terms: terms.to_vec(),
    }
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }
}

#[test]
fn independent_features_have_their_own_coefficients_and_false_ones_zero() {
    let truth = truth(&[(3, 2.0), (7, -1.0)]);
    let found = projection(&truth, &[7, 1, 3], Correlation::None).unwrap();
    assert_close(&found, &[-1.0, 0.0, 2.0]);
}

#[test]
fn a_feature_that_stands_for_a_neighbour_has_the_covariance_with_it() {
    let truth = truth(&[(4, 3.0)]);
    let by_neighbour = projection(&truth, &[5], Correlation::Autoregressive(0.5)).unwrap();
    assert_close(&by_neighbour, &[1.5]);
    // Beside the true feature the neighbour has nothing to say.
    let by_both = projection(&truth, &[5, 4], Correlation::Autoregressive(0.5)).unwrap();
    assert_close(&by_both, &[0.0, 3.0]);
    // Two false features, each correlated 0.5 with the true one and with each other: 3 * 0.5 / 1.5 each.
    let by_two = projection(&truth, &[1, 2], Correlation::Equal(0.5)).unwrap();
    assert_close(&by_two, &[1.0, 1.0]);
}

#[test]
fn the_same_feature_twice_has_no_projection_and_no_feature_has_an_empty_one() {
    assert!(projection(&truth(&[]), &[1, 1], Correlation::None).is_none());
    assert!(
        projection(&truth(&[]), &[], Correlation::None)
            .unwrap()
            .is_empty()
    );
}
