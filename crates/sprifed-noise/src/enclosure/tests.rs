use num_traits::Pow;
use proptest::prelude::*;

use super::*;

/// `digits` is the value without its leading `0.`.
fn encloses(enclosure: &Enclosure, digits: &str, bits: u32) -> bool {
    let scale = BigUint::from(10u8).pow(digits.len());
    let value: BigUint = digits.parse().unwrap();
    let below = (&value << bits) / &scale;
    let above = ((value + 1u8) << bits).div_ceil(&scale);
    enclosure.lower <= above && below <= enclosure.upper
}

fn exp_negative(numerator: u64, denominator: u64, bits: u32) -> Enclosure {
    Enclosure::exp_negative(&numerator.into(), &denominator.into(), bits)
}

/// The digits are those of `vectors/samplers.json`, group `bernoulli_exp`.
#[test]
fn exponentials_enclose_the_published_digits() {
    for (numerator, denominator, digits) in [
        (1, 1, "367879441171442321595523770161"),
        (3, 2, "223130160148429828933280470764"),
        (7, 3, "0969719678644050628099066592984"),
        (10, 1, "0000453999297624848515355915155606"),
        (1, 1_000_000, "999999000000499999833333375000"),
    ] {
        for bits in [20, 63, 90] {
            let enclosure = exp_negative(numerator, denominator, bits);
            assert!(
                encloses(&enclosure, digits, bits),
                "exp(-{numerator}/{denominator}) at {bits}"
            );
        }
    }
}

#[test]
fn exp_of_zero_is_one_and_of_a_huge_argument_below_one_unit() {
    let unit = BigUint::one() << 64u32;
    let one = exp_negative(0, 1, 64);
    assert!(one.upper == unit && one.lower >= &unit - 2u8);
    let tiny = exp_negative(u64::MAX, 1, 64);
    assert_eq!((tiny.lower, tiny.upper), (BigUint::ZERO, BigUint::one()));
}

proptest! {
    #[test]
    fn an_exponential_is_at_most_three_units_wide_and_finer_ones_lie_within(
        numerator in 0..1u64 << 40, denominator in 1..1u64 << 40, bits in 2u32..300,
    ) {
        let coarse = exp_negative(numerator, denominator, bits);
        prop_assert!(&coarse.upper - &coarse.lower <= BigUint::from(3u8));
        let fine = exp_negative(numerator, denominator, 2 * bits);
        prop_assert!(coarse.lower <= (&fine.upper >> bits) + 1u8);
        prop_assert!(&fine.lower >> bits <= coarse.upper);
    }

    #[test]
    fn exponentials_multiply_when_arguments_add(
        left in 0..1u64 << 20, right in 0..1u64 << 20, denominator in 1..1u64 << 20,
    ) {
        let bits = 150;
        let product =
            exp_negative(left, denominator, bits).times(&exp_negative(right, denominator, bits), bits);
        let direct = exp_negative(left + right, denominator, bits);
        prop_assert!(product.lower <= direct.upper && direct.lower <= product.upper);
    }

    #[test]
    fn an_uncertain_argument_gives_an_enclosure_of_both_ends(
        lower in 0..1u64 << 40, width in 0..1u64 << 10,
    ) {
        let bits = 40;
        let unit = 1u64 << bits;
        let argument = Enclosure { lower: lower.into(), upper: (lower + width).into() };
        let both = Enclosure::exp_negative_of(&argument, bits);
        prop_assert!(both.upper >= exp_negative(lower, unit, bits).upper);
        prop_assert!(both.lower <= exp_negative(lower + width, unit, bits).upper);
    }
}
