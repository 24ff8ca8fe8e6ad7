use proptest::prelude::*;

use super::*;

fn rho(value: f64) -> Rho {
    Rho::try_from(value).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::try_from(value).unwrap()
}

fn pair(epsilon: f64, at: f64) -> ApproxDp {
    ApproxDp::new(Epsilon::try_from(epsilon).unwrap(), delta(at))
}

fn epsilon_of(value: f64, at: f64) -> f64 {
    rho(value).to_approx_dp(delta(at)).epsilon().get()
}

/// The bound of one Rényi order, ρα + ln(1 − 1/α) − ln(δα)/(α − 1), as the literature writes it.
fn epsilon_of_order(value: f64, at: f64, order: f64) -> f64 {
    value * order + (1.0 - 1.0 / order).ln() - (at * order).ln() / (order - 1.0)
}

fn log_uniform(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

#[test]
fn a_published_value_is_met() {
    // ρ = 1/2 at δ = 1e-5, as OpenDP and autodp convert it.
    let epsilon = epsilon_of(0.5, 1e-5);
    let best = (1..200_000).map(|step| epsilon_of_order(0.5, 1e-5, 1.0 + f64::from(step) * 1e-4));
    let best = best.fold(f64::INFINITY, f64::min);
    assert!((epsilon - best).abs() < 1e-7, "{epsilon} against {best}");
}

#[test]
fn extreme_but_legal_quantities_convert_without_a_panic_or_nan() {
    for value in [f64::MIN_POSITIVE, 1e-300, 1e-12, 1e12, 1e300, f64::MAX] {
        for at in [5e-324, 1e-300, 1e-6, 0.5, 1.0 - 1e-16] {
            let epsilon = epsilon_of(value, at);
            assert!(
                epsilon.is_finite() && epsilon > 0.0,
                "{value} {at}: {epsilon}"
            );
        }
        for epsilon in [0.0, 1e-300, 1.0, 1e15, 1e300, f64::MAX] {
            let log_delta = rho(value).log_delta(Epsilon::try_from(epsilon).unwrap());
            assert!(log_delta <= 0.0, "{value} {epsilon}: {log_delta}");
        }
    }
}

#[test]
fn a_delta_near_one_does_not_make_a_large_rho_free() {
    for value in [1e4, 1e6, 1e300] {
        assert!(epsilon_of(value, 1.0 - 1e-12) > 1e-4 * value, "{value}");
    }
}

#[test]
fn every_tiny_target_is_met_or_refused() {
    for at in [5e-324, 1e-308, 1e-300] {
        if let Ok(granted) = Rho::largest_within(pair(0.0, at)) {
            assert!(epsilon(granted.get(), at.ln()) <= 0.0, "{at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_claimed_epsilon_is_at_most_that_of_any_single_order(
        value in log_uniform(1e-4, 30.0),
        at in log_uniform(1e-15, 0.3),
        excess in log_uniform(1e-2, 1e4),
    ) {
        let single = epsilon_of_order(value, at, 1.0 + excess).max(0.0);
        prop_assert!(epsilon_of(value, at) <= single + 1e-9 * (1.0 + single));
    }

    #[test]
    fn the_claimed_epsilon_is_never_below_the_best_order(
        value in log_uniform(1e-3, 30.0),
        at in log_uniform(1e-12, 0.3),
    ) {
        let orders = (0..4000).map(|step| 1.0 + (f64::from(step) * 0.004 - 7.0).exp());
        let best = orders.map(|order| epsilon_of_order(value, at, order));
        let best = best.fold(f64::INFINITY, f64::min);
        // The grid is 0.4 % wide, so its best is above the true one by a few parts in 1e6.
        prop_assert!(epsilon_of(value, at) >= best - 1e-4 * (1.0 + best.abs()));
    }

    #[test]
    fn epsilon_and_delta_are_inverse(
        value in log_uniform(1e-3, 30.0),
        at in log_uniform(1e-12, 0.3),
    ) {
        let claimed = epsilon_of(value, at);
        prop_assume!(claimed > 1e-6);
        let back = log_delta(value, claimed);
        prop_assert!(back <= at.ln() + 1e-13 * at.ln().abs(), "{back} against {}", at.ln());
        prop_assert!((back - at.ln()).abs() < 1e-8 * (1.0 + at.ln().abs()));
    }

    #[test]
    fn the_granted_rho_is_within_the_target_and_hardly_below(
        epsilon_target in 0.01f64..50.0,
        at in log_uniform(1e-12, 0.3),
    ) {
        let granted = Rho::largest_within(pair(epsilon_target, at)).unwrap().get();
        prop_assert!(epsilon(granted, at.ln()) <= epsilon_target);
        prop_assert!(epsilon(granted * (1.0 + 1e-9), at.ln()) > epsilon_target);
    }

    #[test]
    fn a_larger_rho_or_smaller_delta_never_costs_less(
        value in log_uniform(1e-4, 30.0),
        at in log_uniform(1e-15, 0.3),
        more in 1.0f64..3.0,
        epsilon in 0.0f64..30.0,
    ) {
        let margin = 1e-12 * (1.0 + epsilon_of(value, at));
        prop_assert!(epsilon_of(value * more, at) >= epsilon_of(value, at) - margin);
        prop_assert!(epsilon_of(value, at / more) >= epsilon_of(value, at) - margin);
        let slack = 1e-12 * (1.0 + log_delta(value, epsilon).abs());
        prop_assert!(log_delta(value * more, epsilon) >= log_delta(value, epsilon) - slack);
        prop_assert!(log_delta(value, epsilon * more) <= log_delta(value, epsilon) + slack);
    }

    #[test]
    fn adding_is_commutative_associative_and_never_free(
        parts in prop::array::uniform3(log_uniform(1e-6, 30.0)),
    ) {
        let [a, b, c] = parts.map(rho);
        prop_assert_eq!(a + b, b + a);
        prop_assert!(a + b >= a && a + b >= b);
        let (left, right) = (((a + b) + c).get(), (a + (b + c)).get());
        prop_assert!((left / right - 1.0).abs() < 1e-15 * 4.0);
    }
}
