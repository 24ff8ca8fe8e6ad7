use super::*;

#[test]
fn the_two_tails_mirror_each_other() {
    for x in [0.0, 0.3, 1.0, 2.5, 7.0, 20.0] {
        assert!((cumulative(x) + cumulative(-x) - 1.0).abs() < 1e-15);
    }
}

#[test]
fn the_logarithm_is_that_of_the_probability_where_that_has_digits() {
    for tenth in -300..60 {
        let x = f64::from(tenth) / 10.0;
        let (found, expected) = (log_cumulative(x), cumulative(x).ln());
        assert!(
            (found - expected).abs() <= 1e-12 * expected.abs() + 1e-16,
            "{x}: {found} for {expected}"
        );
    }
}

#[test]
fn the_logarithm_has_no_step_where_its_series_begins() {
    let slope = (log_cumulative(-35.1) - log_cumulative(-35.0)) / 0.1;
    assert!((slope + 35.08).abs() < 0.01, "{slope}");
    let step = log_cumulative(-35.0 + 1e-9) - log_cumulative(-35.0 - 1e-9);
    assert!((step - 2e-9 * 35.03).abs() < 2e-10, "{step}");
}

#[test]
fn the_logarithm_above_zero_keeps_the_digits_of_a_tiny_tail() {
    assert!((log_cumulative(10.0) / -cumulative(-10.0) - 1.0).abs() < 1e-12);
}

#[test]
fn quantiles_invert_the_distribution() {
    for tail in [1e-200, 1e-30, 1e-12, 1e-3, 0.05, 0.0999, 0.1001, 0.3, 0.5] {
        let found = log_cumulative(-upper_quantile(tail));
        assert!(
            (found - tail.ln()).abs() < 1e-11 * tail.ln().abs(),
            "{tail}"
        );
        if tail > 1e-12 {
            assert!((quantile(1.0 - tail) - upper_quantile(tail)).abs() < 1e-3);
        }
        assert!((quantile(tail) + upper_quantile(tail)).abs() < 1e-12);
    }
    assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
}

#[test]
fn the_density_is_the_slope_of_the_distribution() {
    for x in [-3.0, -0.5, 0.0, 1.7] {
        let slope = (cumulative(x + 1e-5) - cumulative(x - 1e-5)) / 2e-5;
        assert!((slope - density(x)).abs() < 1e-9);
    }
}
