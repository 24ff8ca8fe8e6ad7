//! Means, medians and errors by hand.

use sprifed_query::LinearModel;
use sprifed_recovery::{Fit, FitStatus, Inferred, NoInference};

use super::*;
use crate::kept::Kept;

fn outcome(recovered: usize, test_mse: f64) -> TrialOutcome {
    let fit = Fit {
        sites: Vec::new(),
        model: LinearModel::default(),
        inference: Inferred::NotAvailable {
            reason: NoInference::Procedure,
        },
        status: FitStatus::Complete,
        residual_scale: None,
        baseline: None,
        cuts: Vec::new(),
        provenance: None,
    };
    TrialOutcome {
        fit,
        kept: Kept {
            features: vec![0; recovered + 1],
            false_ones: 1,
            intervals: vec![interval(1.0, true); recovered],
        },
        recovered,
        test_mse,
        null_mse: 4.0,
        odds: None,
        times: None,
    }
}

const fn interval(width: f64, covers: bool) -> ReportedInterval {
    ReportedInterval { width, covers }
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

#[test]
fn what_was_kept_and_covered_is_summed_up() {
    let mut outcomes = [outcome(3, 1.0), outcome(1, 3.0)];
    outcomes[1].kept.intervals = vec![interval(4.0, false)];
    let summary = Summary::of(&outcomes, 4);
    assert_close(summary.kept.mean, 3.0);
    assert_close(summary.false_share.mean, (0.25 + 0.5) / 2.0);
    // Three of four intervals cover, in two trials: sums 3 and 0, numbers 3 and 1.
    let coverage = summary.coverage.unwrap();
    assert_close(coverage.mean, 0.75);
    // Residuals 3 - 0.75 * 3 and 0 - 0.75, two intervals a trial.
    assert_close(
        coverage.std_error,
        (0.75f64.powi(2) * 2.0 / 1.0 / 2.0).sqrt() / 2.0,
    );
    assert_close(summary.width.unwrap().mean, 7.0 / 4.0);
    outcomes
        .iter_mut()
        .for_each(|outcome| outcome.kept.intervals.clear());
    assert_eq!(Summary::of(&outcomes, 4).coverage, None);
}
