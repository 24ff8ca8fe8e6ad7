use proptest::prelude::*;

use super::*;
use crate::quantity::{ApproxDp, Delta};

fn law(variance: f64) -> Skellam {
    Skellam::try_from(variance).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::try_from(value).unwrap()
}

#[test]
fn masses_are_those_of_a_difference_of_poisson_variables() {
    let variance = 3.0_f64;
    let poisson = |count: i64| {
        let factorial: f64 = (1..=count).map(|k| k as f64).product();
        (-variance / 2.0).exp() * (variance / 2.0).powf(count as f64) / factorial
    };
    for x in [-4_i64, 0, 1, 7] {
        let expected: f64 = (0..60)
            .filter(|k| k + x >= 0)
            .map(|k| poisson(k) * poisson(k + x))
            .sum();
        assert!((law(variance).mass(x) / expected - 1.0).abs() < 1e-12);
    }
}

#[test]
fn masses_and_tails_are_a_law() {
    for variance in [1e-3, 0.5, 20.0, 4e4] {
        let law = law(variance);
        let total = law.tail(0) * 2.0 + law.mass(0);
        assert!((total - 1.0).abs() < 1e-12, "{variance}: {total}");
        assert!((law.tail(-3) - (1.0 - law.tail(2))).abs() < 1e-15);
        assert!((law.log_masses(-2..=2)[0] - law.log_mass(2)).abs() < 1e-15);
    }
}

#[test]
fn a_small_divergence_keeps_its_digits() {
    // 1/v times Fisher's information of nearly 1: D₂ ≈ Δ²/v for a wide law.
    let found = law(1e6).renyi_of_shift(1, 2.0);
    assert!((found / 1e-6 - 1.0).abs() < 1e-5, "{found:e}");
}

#[test]
fn the_least_variance_is_enough_and_hardly_more() {
    let target = ApproxDp::new(epsilon(1.0), Delta::try_from(1e-6).unwrap());
    let moved = BoxMove {
        dimension: 100,
        bound: 2,
    };
    let least = Skellam::least_within(moved, target).unwrap();
    assert!(least.to_approx_dp(moved, target.delta()).epsilon().get() <= 1.0);
    let smaller = law(least.get() * 0.999);
    assert!(smaller.to_approx_dp(moved, target.delta()).epsilon().get() > 1.0);
}

#[test]
fn no_variance_is_enough_for_an_epsilon_of_zero() {
    let target = ApproxDp::new(epsilon(0.0), Delta::try_from(1e-300).unwrap());
    assert!(
        Skellam::least_within(
            BoxMove {
                dimension: 1,
                bound: 1
            },
            target
        )
        .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_published_bound_covers_the_exact_divergence(
        variance in 2.0..400.0_f64,
        shift in 1..6_u32,
        order in 2..20_u32,
    ) {
        let exact = law(variance).renyi_of_shift(shift, f64::from(order));
        let bound = law(variance).renyi_bound(BoxMove { dimension: 1, bound: shift }, order);
        prop_assert!(exact <= bound);
        prop_assert!(exact > 0.0);
    }

    #[test]
    fn the_converted_bound_covers_the_exact_delta(
        variance in 2.0..400.0_f64,
        shift in 1..6_u32,
        exponent in 1.0..9.0_f64,
    ) {
        let delta = Delta::try_from(10_f64.powf(-exponent)).unwrap();
        let moved = BoxMove { dimension: 1, bound: shift };
        let claimed = law(variance).to_approx_dp(moved, delta).epsilon();
        prop_assert!(law(variance).delta_of_shift(shift, claimed) <= delta.get());
    }

    #[test]
    fn more_noise_never_costs_more(
        variance in 2.0..400.0_f64,
        factor in 1.01..3.0_f64,
        at in 0.0..2.0_f64,
    ) {
        let (less, more) = (law(variance), law(variance * factor));
        let moved = BoxMove { dimension: 10, bound: 2 };
        let delta = Delta::try_from(1e-5).unwrap();
        let cost = |law: Skellam| law.to_approx_dp(moved, delta).epsilon().get();
        prop_assert!(cost(more) <= cost(less));
        prop_assert!(
            less.delta_of_shift(3, epsilon(at)) >= less.delta_of_shift(3, epsilon(at + 0.1))
        );
    }
}
