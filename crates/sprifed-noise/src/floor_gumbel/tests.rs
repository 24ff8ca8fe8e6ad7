use proptest::prelude::*;

use super::*;
use crate::inversion::{Cumulative, RefinableLaw};
use crate::scripted::{ONES, Scripted, ZEROS};

fn sampler(numerator: u128, denominator: u128) -> FloorGumbel {
    FloorGumbel::new(Ratio::new(numerator, denominator)).unwrap()
}

#[test]
fn bins_are_merged_until_their_rate_exceeds_a_128th() {
    for (numerator, denominator, expected) in [
        (16, 1, 0),
        (1, 64, 0),
        (1, 127, 0),
        (1, 128, 1),
        (1, 255, 1),
        (1, 1 << 20, 14),
    ] {
        assert_eq!(
            sampler(numerator, denominator).fine_bits,
            expected,
            "1/{denominator}"
        );
    }
}

#[test]
fn a_uniform_number_on_a_threshold_is_decided_by_the_bits_that_follow() {
    for (sampler, outcome) in [
        (sampler(1, 4), 3),
        (sampler(1, 4), -5),
        (sampler(1, 1_000), -170),
    ] {
        // 63 bits of P(K < outcome).
        let prefix = u64::try_from(sampler.thresholds.before(outcome, 127).lower >> 64).unwrap();
        let mut rng = Scripted::new([prefix << 1], ZEROS);
        assert_eq!(sampler.sample(&mut rng), outcome - 1);
        assert!(rng.n_drawn() > 1, "the refinement must have run");
        assert_eq!(
            sampler.sample(&mut Scripted::new([prefix << 1], ONES)),
            outcome
        );
    }
}

#[test]
fn both_tails_are_reached() {
    let sampler = sampler(1, 4);
    // P(K > k) ≈ exp(-(k+1)/4) = 2^-127 at k ≈ 351; P(K ≤ k) = 2^-127 at k + 1 ≈ -4 ln(127 ln 2).
    assert_eq!(sampler.sample(&mut Scripted::new([ONES, ONES], ZEROS)), 352);
    assert_eq!(sampler.sample(&mut Scripted::new([ZEROS, 1], ZEROS)), -18);
}

#[test]
fn a_clamp_replaces_only_what_exceeds_it() {
    let free = sampler(1, 4);
    let clamped = free.clone().clamped_at(2);
    for word in [1 << 20, 1 << 60, 1 << 63, 7 << 61, ONES - 5] {
        let [free, clamped] =
            [&free, &clamped].map(|sampler| sampler.sample(&mut Scripted::new([word], ZEROS)));
        assert_eq!(clamped, free.min(2));
    }
}

/// A misleading hint may cost comparisons but not change the outcome.
#[test]
fn the_hint_does_not_affect_the_outcome() {
    let sampler = sampler(1, 3_000);
    let prefix = (ONES / 5) >> 1;
    let bin = sampler.bins.invert(prefix, &mut Scripted::new([], ZEROS));
    let outcomes = [0, 1, 7, 16, 31, u64::MAX].map(|hint| {
        let uniform = LazyUniform::from_prefix(prefix, 63);
        sampler.search_bin(bin, hint, uniform, &mut Scripted::new([], ZEROS))
    });
    assert!(
        outcomes.iter().all(|outcome| *outcome == outcomes[0]),
        "{outcomes:?}"
    );
}

/// At these rates the table is made by recurrence in machine words.
#[test]
fn the_quick_table_surrounds_the_thresholds() {
    for (numerator, denominator) in [(1, 2), (1, 10), (1, 64), (3, 250)] {
        let thresholds = sampler(numerator, denominator).thresholds;
        let inner = thresholds.inner_exponentials().unwrap();
        let quick = inner.prefix_cumulative();
        assert_eq!(quick.floors[0], 0);
        for place in (0..quick.floors.len()).step_by(7) {
            let exact = thresholds.before(quick.first + i64::try_from(place).unwrap(), 127);
            assert!(BigUint::from(quick.floors[place]) << 64u8 <= exact.upper);
            assert!(exact.lower <= BigUint::from(quick.ceilings[place]) << 64u8);
            assert!(quick.ceilings[place] - quick.floors[place] <= 2);
        }
        let last = quick.floors.last().unwrap();
        assert!(
            (1 << 63) - last <= 2,
            "the unlisted tail is wider than two units"
        );
    }
}

#[test]
fn a_rate_above_one_half_has_no_quick_table() {
    assert!(sampler(1, 2).thresholds.inner_exponentials().is_some());
    assert!(sampler(51, 100).thresholds.inner_exponentials().is_none());
    assert!(sampler(16, 1).thresholds.inner_exponentials().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_search_finds_the_outcome_whose_thresholds_surround_the_uniform_number(word: u64) {
        let sampler = sampler(1, 3_000);
        let outcome = sampler.sample(&mut Scripted::new([word], ZEROS));
        let mut uniform = LazyUniform::from_prefix(word >> 1, 63);
        uniform.refine(&mut Scripted::new([], ZEROS));
        let [before, after] = [outcome, outcome + 1]
            .map(|outcome| uniform.is_below(&sampler.thresholds.before(outcome, uniform.bits())));
        prop_assert_eq!([before, after], [Some(false), Some(true)]);
    }

    #[test]
    fn thresholds_ascend(rate in 1u64..400) {
        let rate = Fraction { numerator: rate.into(), denominator: 100u8.into() };
        let Cumulative { thresholds, .. } = GumbelThresholds { rate }.cumulative(64);
        prop_assert!(thresholds.is_sorted_by_key(|threshold| &threshold.lower));
        prop_assert!(thresholds.is_sorted_by_key(|threshold| &threshold.upper));
    }
}
