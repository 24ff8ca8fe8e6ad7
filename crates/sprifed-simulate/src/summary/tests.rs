//! Means, medians and errors by hand.

use sprifed_query::LinearModel;
use sprifed_recovery::{Fit, FitStatus};

use super::*;

fn outcome(recovered: usize, test_mse: f64) -> TrialOutcome {
    let fit = Fit {
        model: LinearModel::default(),
        noise_std_devs: Vec::new(),
        status: FitStatus::Complete,
        residual_scale: None,
        provenance: None,
    };
    TrialOutcome {
        fit,
        recovered,
        test_mse,
        null_mse: 4.0,
    }
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
}

#[test]
fn a_mean_has_a_standard_error_and_a_median() {
    let mean = Mean::of(&[1.0, 2.0, 6.0, 3.0]);
    assert_close(mean.mean, 3.0);
    assert_close(mean.median, 2.5);
    assert_close(mean.std_error, (14.0f64 / 3.0 / 4.0).sqrt());
    assert_close(Mean::of(&[7.0]).std_error, 0.0);
    assert_close(Mean::of(&[7.0]).median, 7.0);
    assert!(Mean::of(&[]).mean.is_nan() && Mean::of(&[]).median.is_nan());
}

#[test]
fn trials_are_summed_up_beside_the_null_model() {
    let summary = Summary::of(&[outcome(4, 1.0), outcome(2, 3.0)], 4);
    assert_close(summary.recovered.mean, 3.0);
    assert_close(summary.recovered_share.mean, 0.75);
    assert_close(
        summary.recovered_share.std_error,
        summary.recovered.std_error / 4.0,
    );
    assert_close(summary.test_mse.mean, 2.0);
    assert_close(summary.test_r2.mean, 0.5);
    assert_close(summary.null_mse, 4.0);
}
