#![expect(clippy::float_cmp, reason = "these doubles are exact")]

use num_rational::BigRational;
use num_traits::One;
use proptest::prelude::*;

use super::*;

fn exact(number: f64) -> BigRational {
    BigRational::from_float(number).expect("a finite number")
}

/// Doubles of all sizes, zero included.
fn any_cost() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(f64::MIN_POSITIVE / 4.0),
        0.0..1.0,
        0.0..1e3,
        (-300i32..150)
            .prop_flat_map(|exponent| (1.0..10.0)
                .prop_map(move |mantissa: f64| mantissa * 10f64.powi(exponent))),
    ]
}

#[test]
fn what_is_exact_is_not_moved() {
    assert_eq!(sum_up(1.5, 1.5).to_bits(), 3f64.to_bits());
    assert_eq!(sum_up(0.0, 1e-6).to_bits(), 1e-6f64.to_bits());
    assert_eq!(product_up(2.0, 0.1).to_bits(), 0.2f64.to_bits());
    assert_eq!(product_up(0.0, 0.1).to_bits(), 0f64.to_bits());
    assert_eq!(exp_up(0.0).to_bits(), 1f64.to_bits());
    assert_eq!(sum_up(f64::MAX, f64::MAX), f64::INFINITY);
    assert_eq!(product_up(f64::MAX, 2.0), f64::INFINITY);
    assert_eq!(exp_up(1e4), f64::INFINITY);
}

#[test]
fn a_number_too_small_for_a_double_becomes_the_smallest_one() {
    assert!(product_up(1e-300, 1e-300) > 0.0);
}

proptest! {
    #[test]
    fn a_sum_is_rounded_to_the_next_double_above(a in any_cost(), b in any_cost()) {
        let (sum, required) = (sum_up(a, b), exact(a) + exact(b));
        prop_assert!(exact(sum) >= required);
        prop_assert!(sum <= 0.0 || exact(sum.next_down()) < required);
    }

    #[test]
    fn a_product_is_rounded_to_a_double_above(a in any_cost(), b in any_cost()) {
        let (product, required) = (product_up(a, b), exact(a) * exact(b));
        prop_assert!(exact(product) >= required);
        let is_tight = product < 1e-269 || exact(product.next_down()) < required;
        prop_assert!(is_tight);
    }

    /// Against the Taylor series in exact fractions, which is below e^x by less than its next term.
    #[test]
    fn a_power_of_e_is_rounded_to_a_double_above(power in 0.0..20.0) {
        let (found, power) = (exact(exp_up(power)), exact(power));
        let (mut series, mut term) = (BigRational::one(), BigRational::one());
        for n in 1..120u32 {
            term = term * &power / BigRational::from_integer(n.into());
            series += &term;
        }
        prop_assert!(found >= series);
        prop_assert!(found <= series * exact(1.0 + 1e-14));
    }
}
