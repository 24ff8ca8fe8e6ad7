//! The scale of normal residuals is found within a tenth, whatever it is.

use sprifed_query::{Limit, Question, Record, ReleasedModel};

use super::*;

/// The histogram of normal residuals of this standard deviation, on a lattice of quantiles.
fn histogram(scale: f64, count: u32, largest: f64) -> Vec<f64> {
    let question = Question::ResidualScale {
        model: ReleasedModel::default(),
        largest: Limit::nearest(largest),
    };
    let mut counts = vec![0f32; SCALE_BUCKETS];
    for index in 0..count {
        let radius = (-2.0 * ((f64::from(index) + 0.5) / f64::from(count)).ln()).sqrt();
        let turn = (f64::from(index) * 0.618_033_988_749_895).fract();
        let normal = radius * (2.0 * core::f64::consts::PI * turn).cos();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "records are of single precision"
        )]
        let response = (normal * scale) as f32;
        question.add_contribution(
            Record {
                features: &[],
                response,
                is_present: true,
            },
            &mut counts,
        );
    }
    counts.into_iter().map(f64::from).collect()
}

#[test]
fn normal_residuals_of_any_scale_are_measured_within_a_tenth() {
    for scale in [0.005, 0.02, 0.1, 0.37, 1.0, 2.6, 5.0, 12.0] {
        let counts = histogram(scale, 2000, 16.0);
        let found = estimate_scale(&counts, 2000.0, 16.0);
        assert!((found / scale - 1.0).abs() < 0.1, "{found} for {scale}");
    }
}

#[test]
fn moderate_noise_on_the_histogram_changes_little() {
    // Every other bucket 40 too high or too low, of 2,000.
    for scale in [0.1, 1.0, 5.0] {
        let mut counts = histogram(scale, 2000, 16.0);
        for (bucket, count) in counts.iter_mut().enumerate() {
            *count += if bucket % 2 == 0 { 40.0 } else { -40.0 };
        }
        let found = estimate_scale(&counts, 2000.0, 16.0);
        assert!((found / scale - 1.0).abs() < 0.15, "{found} for {scale}");
    }
}

#[test]
fn residuals_of_zero_beside_normal_ones_do_not_count() {
    for (zeros, scale) in [(1280.0, 0.7), (400.0, 3.0), (1500.0, 0.05)] {
        let mut counts: Vec<f64> = histogram(scale, 2000, 16.0)
            .into_iter()
            .map(|count| count * (1.0 - zeros / 2000.0))
            .collect();
        counts[SCALE_BUCKETS - 1] += zeros;
        let found = estimate_scale(&counts, 2000.0, 16.0);
        assert!((found / scale - 1.0).abs() < 0.1, "{found} for {scale}");
    }
}

#[test]
fn a_residual_that_is_smaller_than_every_bucket_is_no_zero_beside_others() {
    let mut counts = vec![0.0; SCALE_BUCKETS];
    counts[SCALE_BUCKETS - 1] = 2000.0;
    let found = estimate_scale(&counts, 2000.0, 16.0);
    assert!(found < 0.002, "{found}");
}

#[test]
fn any_histogram_gives_a_positive_scale_within_the_bound() {
    let hostile = [
        vec![0.0; SCALE_BUCKETS],
        vec![-1e9; SCALE_BUCKETS],
        vec![1e9; SCALE_BUCKETS],
        vec![f64::NAN; SCALE_BUCKETS],
        Vec::new(),
    ];
    for counts in hostile {
        let found = estimate_scale(&counts, 100.0, 16.0);
        assert!(found > 0.0 && found <= 16.0, "{found} for {counts:?}");
        let found = estimate_row_scale(&counts, 16.0);
        assert!(found > 0.0 && found <= 16.0, "{found} for {counts:?}");
    }
}

#[test]
fn the_row_scale_is_found_within_a_fifth() {
    for size in [0.05f32, 0.3, 1.0, 3.3] {
        let question = Question::RowScale {
            features: 4,
            largest: Limit::nearest(8.0),
        };
        let mut counts = vec![0f32; question.coordinates()];
        for record in 0..100u16 {
            let features = [size * (0.95 + 0.001 * f32::from(record)); 4];
            question.add_contribution(
                Record {
                    features: &features,
                    response: 0.0,
                    is_present: true,
                },
                &mut counts,
            );
        }
        let counts: Vec<f64> = counts.into_iter().map(f64::from).collect();
        let found = estimate_row_scale(&counts, 8.0);
        assert!(
            (found / f64::from(size) - 1.0).abs() < 0.2,
            "{found} for {size}"
        );
    }
}

#[test]
fn the_buckets_of_a_scale_hold_all_records() {
    for scale in [1e-4, 0.1, 1.0, 100.0] {
        let probabilities = bucket_probabilities(scale);
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(
            probabilities
                .iter()
                .all(|probability| (0.0..=1.0).contains(probability))
        );
    }
}
