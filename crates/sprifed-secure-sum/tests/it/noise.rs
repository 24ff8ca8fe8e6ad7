//! The noise of a released sum has the planned distribution, whoever dropped out.

use crate::world::{World, participation};

/// Every vector of the tests is (3, 0, 0, …) with a share of variance 9 on each coordinate.
const SHARE_VARIANCE: f64 = 9.0;

#[test]
fn the_noise_of_any_survivors_is_the_sum_of_their_shares() {
    let coordinates = 20_000;
    for n_dropouts in [0u32, 1, 3] {
        let mut world = World::new(participation(10, 7, 1), coordinates, 16, 1);
        world.exchange_keys(&[], &[]);
        let gone: Vec<u32> = (0..n_dropouts).collect();
        let expected = world.sum(0, &gone, &[], &[]);
        let values = world.last_values();
        assert_eq!(values, expected);
        let variance = f64::from(10 - n_dropouts) * SHARE_VARIANCE;
        let (statistic, cells) = chi_square(&values[1..], variance);
        // χ² at 4.75 standard deviations, a false alarm of 1e-6, by Wilson and Hilferty.
        let spread = 2.0 / (9.0 * cells);
        let limit = cells * (1.0 - spread + 4.75 * spread.sqrt()).powi(3);
        assert!(
            statistic < limit,
            "{n_dropouts} dropouts: {statistic} of {limit}"
        );
        // A fifth of the variance more or less would be noticed.
        for wrong in [0.8, 1.2] {
            assert!(chi_square(&values[1..], wrong * variance).0 > limit);
        }
    }
}

/// Against the discrete Gaussian of `variance`, from which a sum of shares of variance 9 differs by
/// less than 1e-30; and the degrees of freedom.
fn chi_square(values: &[i64], variance: f64) -> (f64, f64) {
    let reach: i64 = 25;
    let weight = |value: i64| (-((value * value) as f64) / (2.0 * variance)).exp();
    let total: f64 = (-400..=400).map(weight).sum();
    let mut statistic = 0.0;
    let mut inside = (0.0, 0.0);
    let n_values = values.len() as f64;
    for cell in -reach..=reach {
        let found = values.iter().filter(|value| **value == cell).count() as f64;
        let expected = n_values * weight(cell) / total;
        statistic += (found - expected).powi(2) / expected;
        inside = (inside.0 + found, inside.1 + expected);
    }
    let outside = (n_values - inside.0, n_values - inside.1);
    statistic += (outside.0 - outside.1).powi(2) / outside.1;
    (statistic, (2 * reach + 1) as f64)
}
