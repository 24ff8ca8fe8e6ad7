use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;

fn exactly(scaled: u128) -> NarrowEnclosure {
    NarrowEnclosure {
        lower: scaled,
        upper: scaled,
    }
}

/// Far finer than the narrow scale.
const WIDE_BITS: u32 = 200;

/// Whether two enclosures of one number have a point in common.
fn meets(narrow: NarrowEnclosure, wide: &Enclosure) -> bool {
    let surplus = WIDE_BITS - NARROW_BITS;
    (BigUint::from(narrow.lower) << surplus) <= wide.upper
        && wide.lower <= (BigUint::from(narrow.upper) << surplus)
}

#[test]
fn the_exponential_of_zero_is_one() {
    let found = exactly(0).exp_negative();
    assert!(found.lower < UNIT && found.upper == UNIT);
}

#[test]
fn prefixes_surround_the_number_and_never_exceed_one() {
    assert_eq!(NarrowEnclosure::ONE.prefixes(63), (1 << 63, 1 << 63));
    let third = NarrowEnclosure {
        lower: UNIT / 3,
        upper: UNIT / 3 + 1,
    };
    assert_eq!(third.prefixes(2), (1, 2));
}

#[test]
fn a_number_of_128_or_more_is_not_narrow() {
    let wide = |value: u128| {
        let scaled = BigUint::from(value) << NARROW_BITS;
        Enclosure {
            lower: scaled.clone(),
            upper: scaled,
        }
    };
    assert_eq!(
        NarrowEnclosure::of(&wide(127)).map(|narrow| narrow.lower),
        Some(127 * UNIT)
    );
    assert_eq!(NarrowEnclosure::of(&wide(128)), None);
    assert_eq!(NarrowEnclosure::of(&wide(256)), None);
}

proptest! {
    #[test]
    fn a_product_is_that_of_big_integers(left in 0..1u128 << 124, right in 0..1u128 << 124) {
        let expected = (BigUint::from(left) * BigUint::from(right)) >> NARROW_BITS;
        prop_assert_eq!(BigUint::from(product(left, right)), expected);
    }

    #[test]
    fn a_product_is_that_of_big_integers_at_the_edge_of_words(
        left in 0u32..4, right in 0u32..4, left_step in 0u32..62, right_step in 0u32..62,
    ) {
        let [left, right] = [(left, left_step), (right, right_step)]
            .map(|(offset, step)| (1u128 << (62 + step)) - 2 + u128::from(offset));
        let expected = (BigUint::from(left) * BigUint::from(right)) >> NARROW_BITS;
        prop_assert_eq!(BigUint::from(product(left, right)), expected);
    }

    #[test]
    fn an_exponential_encloses_the_same_number_as_a_wide_one(mantissa: u128, shift in 1u32..128) {
        let argument = mantissa >> shift;
        let narrow = exactly(argument).exp_negative();
        let unit = BigUint::from(UNIT);
        prop_assert!(meets(narrow, &Enclosure::exp_negative(&argument.into(), &unit, WIDE_BITS)));
        prop_assert!(narrow.upper - narrow.lower < 1 << 20, "{}", narrow.upper - narrow.lower);
    }

    #[test]
    fn an_uncertain_argument_gives_an_enclosure_of_both_ends(
        lower in 0..1u128 << 125, width in 0..1u128 << 20,
    ) {
        let both = NarrowEnclosure { lower, upper: lower + width }.exp_negative();
        let unit = BigUint::from(UNIT);
        for end in [lower, lower + width] {
            let wide = Enclosure::exp_negative(&end.into(), &unit, WIDE_BITS);
            prop_assert!(meets(both, &wide));
        }
    }
}
