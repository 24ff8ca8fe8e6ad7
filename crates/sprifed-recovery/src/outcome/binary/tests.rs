//! The start, against models whose log odds are known.

use super::*;

fn opening(mean: f64) -> Opening {
    Opening {
        scale: 1.0,
        intercept: mean,
        mean_noise: Some(0.001),
        feature_scale: 1.0,
    }
}

#[test]
fn the_mean_says_what_the_scale_is() {
    for (mean, expected) in [(0.5, 0.5), (0.1, 0.1), (-0.3, 0.01), (1.2, 0.99)] {
        let opened = opening_of_mean(opening(mean));
        assert!((opened.intercept - expected).abs() < 1e-12);
        assert!((opened.scale - (expected * (1.0 - expected)).sqrt()).abs() < 1e-12);
    }
}

#[test]
fn a_residual_keeps_what_is_not_explained_and_three_tenths_at_least() {
    assert!((residual_scale(0.5, 0.0) - 0.5).abs() < 1e-12);
    assert!((residual_scale(0.5, 0.1) - (0.25f64 - 0.1).sqrt()).abs() < 1e-12);
    assert!((residual_scale(0.5, 9.0) - 0.5 * 0.3f64.sqrt()).abs() < 1e-12);
}

#[test]
fn the_start_is_exact_for_two_normal_groups() {
    // Groups N(±d/2, 1) with means d apart: the log odds of a one are d·x plus the log odds of the share.
    let (share, distance) = (0.3, 0.8);
    let variance = share * (1.0 - share);
    // The variance of both together, and the best linear prediction of the group.
    let covariance = SquareMatrix::diagonal(&[1.0 + variance * distance * distance]);
    let slope = variance * distance / covariance[(0, 0)];
    let mean = (share - 0.5) * distance;
    let found = start(share, &[slope], &[mean], &covariance);
    assert!(
        (found.coefficients[0] - distance).abs() < 1e-12,
        "{found:?}"
    );
    let explained = variance * distance * distance / covariance[(0, 0)];
    assert!((found.explained - explained).abs() < 1e-12);
    // The intercept is an approximation.
    assert!((found.intercept - log_odds(share)).abs() < 0.1, "{found:?}");
}

#[test]
fn the_intercept_keeps_the_share_for_a_normal_feature() {
    let covariance = SquareMatrix::diagonal(&[1.0]);
    for (share, length) in [(0.5, 2.0), (0.1, 1.5), (0.02, 1.0), (0.7, 0.5)] {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let found = start(share, &[middle], &[0.4], &covariance).coefficients[0];
            if found < length {
                low = middle
            } else {
                high = middle
            }
        }
        let found = start(share, &[low], &[0.4], &covariance);
        let expected = (-4000..=4000).map(|step| {
            let z = f64::from(step) / 500.0;
            let predictor = found.intercept + found.coefficients[0] * (z + 0.4);
            (-z * z / 2.0).exp() / (2.0 * PI).sqrt() / 500.0 / (1.0 + (-predictor).exp())
        });
        let expected: f64 = expected.sum();
        assert!(
            (expected / share - 1.0).abs() < 0.25,
            "{expected} for {share}"
        );
    }
}

#[test]
fn what_noise_makes_impossible_is_limited() {
    let found = start(0.5, &[3.0], &[0.0], &SquareMatrix::diagonal(&[1.0]));
    assert!(found.explained > 30.0);
    assert!((found.coefficients[0] - 3.0 / (0.25 * (1.0 - MOST_EXPLAINED))).abs() < 1e-9);
    let negative = start(0.5, &[0.1], &[0.0], &SquareMatrix::diagonal(&[-1.0]));
    assert!((negative.coefficients[0] - 0.4).abs() < 1e-12 && negative.intercept.is_finite());
}
