use proptest::prelude::*;

use super::*;

fn range(value: f64) -> RangeBound {
    RangeBound::try_from(value).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::try_from(value).unwrap()
}

#[test]
fn the_tight_value_has_its_series_near_zero_and_no_step_later() {
    let small = range(1e-4).tight_rho();
    let expected = 1e-8 / 8.0 - 1e-16 / 576.0;
    assert!((small / expected - 1.0).abs() < 1e-13);
    let (below, above) = (
        range(2.0 - 1e-12).tight_rho(),
        range(2.0 + 1e-12).tight_rho(),
    );
    assert!((below - above).abs() < 1e-11);
}

#[test]
fn the_gaussian_that_covers_pure_privacy_meets_it_at_zero() {
    for value in [1e-5, 1.9e-3, 2.1e-3, 0.3, 5.0, 30.0] {
        let mu = range(value).to_pure_mu().unwrap();
        let covered = mu.log_delta(epsilon(0.0)).exp();
        assert!(
            (covered / (value / 2.0).tanh() - 1.0).abs() < 1e-11,
            "{value}"
        );
    }
    assert!(range(800.0).to_pure_mu().is_err());
}

#[test]
fn nothing_is_left_beyond_the_range() {
    assert!(range(1.0).delta(epsilon(1.0)) <= 0.0);
    assert!(range(1.0).pure_delta(epsilon(1.5)) <= 0.0);
    assert!(range(900.0).delta(epsilon(1.0)) > 0.99);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bounded_range_is_never_worse_than_pure_privacy(
        value in 0.001..12.0_f64,
        at in 0.0..1.0_f64,
    ) {
        let (range, at) = (range(value), epsilon(at * value));
        prop_assert!(range.delta(at) <= range.pure_delta(at) * (1.0 + 1e-12));
        let hoeffding = range.to_rho().unwrap().get();
        prop_assert!(range.tight_rho() <= hoeffding);
        prop_assert!(hoeffding <= range.to_pure_rho().unwrap().get());
    }

    #[test]
    fn one_selection_has_an_exact_inverse(value in 0.001..12.0_f64, exponent in 1.0..12.0_f64) {
        let delta = Delta::try_from(10_f64.powf(-exponent)).unwrap();
        let found = range(value).single_epsilon(delta);
        let back = range(value).delta(epsilon(found));
        prop_assert!(back <= delta.get() * (1.0 + 1e-6));
        prop_assert!(found <= 0.0 || back >= delta.get() * (1.0 - 1e-6));
    }

    #[test]
    fn the_gaussian_covers_pure_privacy_everywhere(value in 0.01..8.0_f64, at in 0.0..1.0_f64) {
        let at = epsilon(at * value);
        let mu = range(value).to_pure_mu().unwrap();
        prop_assert!(range(value).pure_delta(at) <= mu.log_delta(at).exp() * (1.0 + 1e-10));
    }
}
