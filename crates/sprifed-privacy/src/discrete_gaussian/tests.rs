use proptest::prelude::*;

use super::sum_law::SumLaw;
use super::*;

fn law(parameter: f64) -> DiscreteGaussian {
    DiscreteGaussian::with_parameter(parameter)
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::try_from(value).unwrap()
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let gap = (found - expected).abs();
    assert!(
        gap <= tolerance * expected.abs(),
        "found {found:e}, expected {expected:e}"
    );
}

/// The law of the sum of `count` copies by adding one at a time.
fn convolved(law: DiscreteGaussian, count: u32, reach: i64) -> Vec<f64> {
    let single = |x: i64| law.mass(x);
    let mut masses: Vec<f64> = (-reach..=reach).map(single).collect();
    for _ in 1..count {
        let at = |masses: &[f64], w: i64| {
            (-reach.min(reach - w)..=reach.min(reach + w))
                .map(|x| masses[usize::try_from(w - x + reach).unwrap()] * single(x))
                .sum()
        };
        masses = (-reach..=reach).map(|w| at(&masses, w)).collect();
    }
    masses
}

#[test]
fn masses_add_to_one_on_both_sides_of_the_change_of_formula() {
    for parameter in [0.01, 0.1, 0.249, 0.251, 1.0, 30.0, 2500.0] {
        let law = law(parameter);
        let reach = law.reach(0);
        let total: f64 = (-reach..=reach).map(|x| law.mass(x)).sum();
        assert_close(total, 1.0, 1e-13);
        let square: f64 = (-reach..=reach).map(|x| (x * x) as f64 * law.mass(x)).sum();
        assert_close(law.variance(), square, 1e-12);
        assert_close(law.tail(-1), 1.0 - law.tail(0), 1e-14);
        assert_close(2.0 * law.tail(0) + law.mass(0), 1.0, 1e-13);
    }
}

#[test]
fn the_law_of_a_sum_does_not_depend_on_how_it_is_described() {
    // The smallest parameters need the table, the middle ones the periodic factor.
    for (parameter, count) in [(0.05, 3), (0.25, 5), (0.3, 9), (0.5, 2), (0.7, 8), (3.0, 4)] {
        let reach = 60;
        let plain = convolved(law(parameter), count, reach);
        let sum = SumLaw::new(law(parameter), count);
        for w in [0, 1, 2, 5, 8] {
            let expected = plain[usize::try_from(w + reach).unwrap()];
            assert_close(sum.mass(w), expected, 1e-11);
            assert_close(sum.mass(-w), expected, 1e-11);
        }
    }
}

#[test]
fn a_whole_order_has_the_divergence_of_the_gaussian() {
    let exact = law(25.0).renyi_of_shift(10, 32.0);
    assert_close(exact, 64.0, 1e-14);
}

#[test]
fn divergences_agree_with_their_definition() {
    for (parameter, shift, order) in [(0.1, 1, 1.5), (0.6, 2, 2.25), (0.3, 1, 1.01), (4.0, 3, 3.7)]
    {
        let law = law(parameter);
        let exponent =
            |x: i64| order * law.log_mass(x) - (order - 1.0) * law.log_mass(x + i64::from(shift));
        let sum: f64 = (-200..=200).map(|x| exponent(x).exp()).sum();
        assert_close(
            law.renyi_of_shift(shift, order),
            sum.ln() / (order - 1.0),
            1e-11,
        );
    }
}

#[test]
fn no_move_reveals_nothing() {
    assert!(law(4.0).delta_of_box_shift(3, 0, epsilon(0.0)) <= 0.0);
    assert!(law(4.0).delta_of_box_shift(0, 3, epsilon(0.0)) <= 0.0);
}

#[test]
fn a_small_delta_keeps_its_digits() {
    // One coordinate at ε = 30: a single term dominates, so it can be written down.
    let law = law(1.0);
    let start = 30;
    let first = law.mass(start) * -(30.0_f64 - 30.5).exp_m1();
    let second = law.mass(start + 1) * -(30.0_f64 - 31.5).exp_m1();
    assert_close(law.delta_of_shift(1, epsilon(30.0)), first + second, 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn delta_falls_with_epsilon_and_grows_with_the_move(
        parameter in 0.05..200.0_f64,
        at in 0.0..4.0_f64,
        more in 0.01..1.0_f64,
        shift in 1..12_u32,
    ) {
        let law = law(parameter);
        let here = law.delta_of_shift(shift, epsilon(at));
        prop_assert!(law.delta_of_shift(shift, epsilon(at + more)) <= here);
        prop_assert!(law.delta_of_shift(shift + 1, epsilon(at)) >= here * (1.0 - 1e-12));
        prop_assert!((0.0..=1.0 + 1e-12).contains(&here));
    }

    #[test]
    fn delta_is_the_positive_part_of_the_difference(
        parameter in 0.05..50.0_f64,
        at in 0.0..3.0_f64,
        shift in 1..6_u32,
    ) {
        let law = law(parameter);
        let gap = |x: i64| (law.mass(x) - at.exp() * law.mass(x + i64::from(shift))).max(0.0);
        let plain: f64 = (-400..=400).map(gap).sum();
        let found = law.delta_of_shift(shift, epsilon(at));
        prop_assert!((found - plain).abs() <= 1e-11 * plain + 1e-15);
    }

    #[test]
    fn a_box_in_one_dimension_is_a_shift_of_a_sum_of_one(
        parameter in 0.05..50.0_f64,
        at in 0.0..3.0_f64,
        shift in 1..6_u32,
    ) {
        let found = SumLaw::new(law(parameter), 1).delta_of_shift(shift, at);
        let expected = law(parameter).delta_of_shift(shift, epsilon(at));
        prop_assert!((found - expected).abs() <= 1e-12 * expected);
    }

    #[test]
    fn more_coordinates_reveal_more(
        parameter in 0.1..30.0_f64,
        at in 0.0..3.0_f64,
        dimension in 1..30_u32,
    ) {
        let here = law(parameter).delta_of_box_shift(dimension, 1, epsilon(at));
        let more = law(parameter).delta_of_box_shift(dimension + 1, 1, epsilon(at));
        prop_assert!(more >= here * (1.0 - 1e-10));
    }
}
