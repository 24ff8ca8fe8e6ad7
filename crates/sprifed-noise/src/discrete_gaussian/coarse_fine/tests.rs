use proptest::prelude::*;

use super::*;
use crate::scripted::{ONES, Scripted, ZEROS};

const FINE_BITS: u32 = 10;

fn sampler() -> CoarseFine {
    // A proper fraction near 10^10, so that the denominator takes part.
    let variance_parameter = Fraction {
        numerator: 30_000_000_001u64.into(),
        denominator: 3u8.into(),
    };
    CoarseFine::new(variance_parameter, FINE_BITS)
}

fn cost(coarse: u64, fine: u64) -> u128 {
    u128::from(fine) * (u128::from(fine) + (u128::from(coarse) << (FINE_BITS + 1)))
}

/// The first `64 - FINE_BITS` bits of `exp(-cost/(2σ²))`.
fn threshold_prefix(sampler: &CoarseFine, cost: u128) -> u64 {
    let Fraction {
        numerator,
        denominator,
    } = &sampler.variance_parameter;
    let exact = Enclosure::exp_negative(&(denominator * cost), &(numerator << 1), 128);
    u64::try_from(exact.lower >> (64 + FINE_BITS)).unwrap()
}

#[test]
fn a_coin_on_the_threshold_is_decided_by_the_bits_that_follow() {
    let sampler = sampler();
    for (coarse, fine) in [(3, 17), (100, 1023), (400, 512), (600, 1)] {
        let coin = (threshold_prefix(&sampler, cost(coarse, fine)) << FINE_BITS) | fine;
        let mut rng = Scripted::new([], ZEROS);
        assert!(
            sampler.keeps(coarse, fine, coin, &mut rng),
            "zeros put V below the threshold"
        );
        assert!(rng.n_drawn() > 0, "the refinement must have run");
        let mut rng = Scripted::new([], ONES);
        assert!(
            !sampler.keeps(coarse, fine, coin, &mut rng),
            "ones put V above the threshold"
        );
    }
}

#[test]
fn the_start_of_a_bin_is_always_kept() {
    for coin_bits in [0, u64::MAX] {
        let coin = coin_bits >> FINE_BITS << FINE_BITS;
        assert!(sampler().keeps(7, 0, coin, &mut Scripted::new([], ONES)));
    }
}

#[test]
fn a_negative_zero_is_drawn_again() {
    // Bin zero, negative sign; fine bits zero; then bin zero, positive sign; fine bits five.
    let mut rng = Scripted::new([3, 0, 2, 5], ZEROS);
    assert_eq!(sampler().sample(&mut rng), 5);
    assert_eq!(rng.n_drawn(), 4);
}

proptest! {
    #[test]
    fn the_fast_coin_agrees_with_the_exact_one(
        coarse in 0u64..900, fine in 0u64..1 << FINE_BITS, offset in -1_000i64..1_000, far: u64,
    ) {
        let sampler = sampler();
        let near = threshold_prefix(&sampler, cost(coarse, fine)).saturating_add_signed(offset << 30);
        for prefix in [near.min((1 << (64 - FINE_BITS)) - 1), far >> FINE_BITS] {
            let coin = (prefix << FINE_BITS) | fine;
            prop_assert_eq!(
                sampler.keeps(coarse, fine, coin, &mut Scripted::new([], ONES)),
                sampler.keeps_exactly(cost(coarse, fine), coin, &mut Scripted::new([], ONES))
            );
        }
    }
}
