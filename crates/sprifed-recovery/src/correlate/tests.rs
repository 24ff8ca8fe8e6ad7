//! The fast loop agrees with the plain one.

use proptest::prelude::*;

use super::{correlate, correlate_clipped_rows};

fn plain(features: &[f32], weights: &[f64], n_features: usize) -> Vec<f64> {
    let mut sums = vec![0.0; n_features];
    for (row, weight) in features.chunks_exact(n_features).zip(weights) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += weight * f64::from(*value);
        }
    }
    sums
}

proptest! {
    #[test]
    fn every_shape_is_summed_completely(
        rows in 0usize..600,
        n_features in 1usize..40,
        seed in 0u64..1000,
    ) {
        let value = |index: usize| ((index as u64).wrapping_mul(2_654_435_761 ^ seed) % 65536) as f32;
        let features: Vec<f32> = (0..rows * n_features).map(|i| value(i) / 65536.0 - 0.5).collect();
        let weights: Vec<f64> = (0..rows).map(|i| f64::from(value(i + 7)) / 65536.0 - 0.5).collect();
        let found = correlate(&features, &weights, n_features);
        let expected = plain(&features, &weights, n_features);
        prop_assert_eq!(found.len(), n_features);
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() <= 1e-12 * (1.0 + rows as f64));
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let features: Vec<f32> = (0..3000 * 5).map(|index| (index as f32).sin()).collect();
    let weights: Vec<f64> = (0..3000).map(|index| f64::from(index).cos()).collect();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| correlate(&features, &weights, 5))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn clipped_products_are_clipped_one_by_one() {
    let rows: [&[f32]; 2] = [&[2.0, 0.5], &[-4.0, 0.25]];
    assert_eq!(
        correlate_clipped_rows(&rows, &[1.0, 1.0], 2, 1.0),
        [0.0, 0.75]
    );
}
