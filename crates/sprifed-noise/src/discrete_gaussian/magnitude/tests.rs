use num_traits::ToPrimitive;
use proptest::prelude::*;

use super::*;

fn law(numerator: u64, denominator: u64, zero: ZeroWeight) -> GaussianMagnitude {
    let fraction = Fraction {
        numerator: numerator.into(),
        denominator: denominator.into(),
    };
    GaussianMagnitude::new(fraction, zero)
}

/// `P(|X| > x) / 2` for `x = 0, 1, …`, from `vectors/discrete_gaussian.json`, group `pmf`.
#[test]
fn thresholds_match_the_published_tails() {
    for (numerator, denominator, outcome, tail) in [
        (1, 4, 0, 0.106_714_646_479_026_05),
        (1, 4, 2, 1.197_946_589_729_496e-8),
        (1, 2, 1, 0.010_402_106_641_830_83),
        (1, 1, 3, 0.000_135_323_029_578_187_03),
        (25, 3, 5, 0.027_755_974_492_555_54),
        (100, 1, 40, 0.000_025_424_866_709_451_917),
        (2500, 1, 300, 9.270_437_258_439_402e-10),
    ] {
        let bits = 128;
        let cumulative = law(numerator, denominator, ZeroWeight::Half).cumulative(bits);
        let complement = (BigUint::one() << bits) - &cumulative.thresholds[outcome + 1].lower;
        let computed = complement.to_f64().unwrap() / 2f64.powi(129);
        assert!(
            (computed / tail - 1.0).abs() < 1e-12,
            "{numerator}/{denominator}: {computed}"
        );
    }
}

#[test]
fn counting_zero_fully_raises_its_share_as_it_should() {
    let bits = 128;
    let [half, full] = [ZeroWeight::Half, ZeroWeight::Full].map(|zero| {
        law(1, 1, zero).cumulative(bits).thresholds[1]
            .lower
            .to_f64()
            .unwrap()
            / 2f64.powi(128)
    });
    // With q = P(|X| = 0): full = 2q/(1 + q).
    assert!((full - 2.0 * half / (1.0 + half)).abs() < 1e-15);
}

proptest! {
    #[test]
    fn thresholds_ascend_from_zero_to_one_and_are_narrow(
        numerator in 1u64..20_000, denominator in 1u64..50, bits in 64u32..140,
    ) {
        let cumulative = law(numerator, denominator, ZeroWeight::Half).cumulative(bits);
        let thresholds = &cumulative.thresholds;
        prop_assert_eq!(&thresholds[0].upper, &BigUint::ZERO);
        prop_assert!(thresholds.is_sorted_by_key(|threshold| &threshold.lower));
        prop_assert!(thresholds.is_sorted_by_key(|threshold| &threshold.upper));
        // What is not listed: a weight of one unit, times at most σ/13 for the rest of its tail.
        let doubt = BigUint::from(16u8);
        prop_assert!(thresholds.iter().all(|threshold| &threshold.upper - &threshold.lower <= doubt));
        prop_assert!(&thresholds[thresholds.len() - 1].lower + doubt >= BigUint::one() << bits);
    }
}
