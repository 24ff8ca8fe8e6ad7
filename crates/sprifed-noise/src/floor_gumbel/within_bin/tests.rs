use num_bigint::BigUint;
use num_rational::Ratio;
use proptest::prelude::*;

use super::*;
use crate::floor_gumbel::FloorGumbel;
use crate::scripted::{ONES, Scripted, ZEROS};

fn sampler(numerator: u128, denominator: u128) -> FloorGumbel {
    FloorGumbel::new(Ratio::new(numerator, denominator)).unwrap()
}

/// Rates with one and with several fine bits, with one and with two tables of places.
fn rates() -> impl Strategy<Value = (u128, u128)> {
    prop_oneof![
        Just((1, 128)),
        Just((3, 1_000)),
        Just((1, 10_000)),
        Just((7, 1_000_003)),
        Just((1, 1 << 19)),
        Just((1, 1 << 20)),
        Just((1, 5_000_000)),
        Just((1, 1 << 32)),
    ]
}

/// The first 63 bits of `P(K < outcome)`.
fn prefix_before(sampler: &FloorGumbel, outcome: i64) -> u64 {
    u64::try_from(sampler.thresholds.before(outcome, 127).lower >> 64u8).unwrap()
}

/// An outcome next to a bin's beginning, amid it, and next to its end.
fn outcomes_of_a_bin(sampler: &FloorGumbel, bin: i64) -> [i64; 3] {
    let [from, to] = [bin, bin + 1].map(|bin| bin << sampler.fine_bits);
    [from + 1, i64::midpoint(from, to), to - 1]
}

#[test]
fn a_prefix_near_a_threshold_is_left_to_the_bits_that_follow() {
    for (numerator, denominator) in [(1, 200), (1, 10_000), (1, 1 << 25)] {
        let sampler = sampler(numerator, denominator);
        let doubt = sampler.within.as_ref().unwrap().doubt;
        for bin in [-60, -1, 0, 90, 300] {
            for outcome in outcomes_of_a_bin(&sampler, bin) {
                let prefix = prefix_before(&sampler, outcome);
                assert_eq!(sampler.settle(prefix), None, "{outcome}");
                let mut rng = Scripted::new([prefix << 1], ZEROS);
                assert_eq!(sampler.sample(&mut rng), outcome - 1);
                assert!(rng.n_drawn() > 1, "one word cannot settle it");
                let mut rng = Scripted::new([prefix << 1], ONES);
                assert_eq!(sampler.sample(&mut rng), outcome);
                for prefix in prefix - 2 * doubt..prefix + 2 * doubt {
                    let slow = sampler.invert_by_enclosures(prefix, &mut Scripted::new([], ZEROS));
                    assert!(sampler.settle(prefix).is_none_or(|quick| quick == slow));
                }
            }
        }
    }
}

#[test]
fn a_prefix_away_from_thresholds_is_settled_by_one_word() {
    let sampler = sampler(1, 10_000);
    let doubt = sampler.within.as_ref().unwrap().doubt;
    for outcome in outcomes_of_a_bin(&sampler, 20) {
        let prefix = prefix_before(&sampler, outcome);
        assert_eq!(sampler.settle(prefix - doubt - 1), Some(outcome - 1));
        assert_eq!(sampler.settle(prefix + doubt + 1), Some(outcome));
        let mut rng = Scripted::new([(prefix + doubt + 1) << 1], ZEROS);
        assert_eq!(sampler.sample(&mut rng), outcome);
        assert_eq!(rng.n_drawn(), 1);
    }
}

/// exp(-33) is about 2^-47.6.
#[test]
fn the_far_lower_tail_is_left_to_the_enclosures() {
    let sampler = sampler(1, 10_000);
    let prefix = 1 << 15;
    assert_eq!(sampler.settle(prefix), None);
    let outcome = sampler.sample(&mut Scripted::new([prefix << 1], ZEROS));
    // -ln(48 ln 2) / rate = -35,046.9
    assert_eq!(outcome, -35_047);
}

#[test]
fn a_search_ends_at_the_first_comparison_that_is_not_decided() {
    let mut n_asked = 0;
    let place = search(100, 40, |_| {
        n_asked += 1;
        (n_asked < 3).then_some(false)
    });
    assert_eq!((place, n_asked), (None, 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_threshold_is_at_most_the_doubt_above_its_lower_bound(
        (numerator, denominator) in rates(), bin: prop::sample::Index, place: prop::sample::Index,
    ) {
        let sampler = sampler(numerator, denominator);
        let within = sampler.within.as_ref().unwrap();
        let bin = bin.index(within.inner.len() - 1);
        let inner = within.inner[bin];
        let bin = within.first + i64::try_from(bin).unwrap();
        let place = i64::try_from(place.index(1 << within.fine_bits)).unwrap();
        let floor = prefix_before(&sampler, bin << within.fine_bits);

        let least = BigUint::from(within.least_threshold(floor, inner, place)) << 64u8;
        let threshold = sampler.thresholds.before((bin << within.fine_bits) + place, 127);
        prop_assert!(least <= threshold.upper);
        prop_assert!(threshold.lower <= least + (BigUint::from(within.doubt) << 64u8));
    }

    #[test]
    fn machine_words_and_enclosures_find_the_same_outcome(
        (numerator, denominator) in rates(), word: u64,
    ) {
        let sampler = sampler(numerator, denominator);
        let slow = sampler.invert_by_enclosures(word >> 1, &mut Scripted::new([], ZEROS));
        let quick = sampler.settle(word >> 1);
        prop_assert!(quick.is_none_or(|quick| quick == slow), "{:?} and {}", quick, slow);
        // At a rate of 2^-32 the doubt covers one prefix in 2^20, and more of those in the tails.
        prop_assert!(quick.is_some() || denominator > 1 << 23);
    }

    #[test]
    fn the_hint_is_off_by_one_place_at_rates_in_use(word: u64) {
        let sampler = sampler(1, 10_000);
        let within = sampler.within.as_ref().unwrap();
        let bin = sampler.bins.settle(word >> 1).unwrap();
        let inner = within.inner[usize::try_from(bin.outcome - within.first).unwrap()];
        let hint = within.hint(word >> 1, &bin, inner) + (bin.outcome << within.fine_bits);
        prop_assert!(within.settle(word >> 1, &bin).unwrap().abs_diff(hint) <= 1);
    }

    #[test]
    fn a_search_finds_the_place_whatever_the_hint(
        count in 1i64..1 << 26, hint: i64, place: prop::sample::Index,
    ) {
        let count = count + 1;
        let place = i64::try_from(place.index(usize::try_from(count).unwrap())).unwrap();
        prop_assert_eq!(search(count, hint, |probe| Some(place < probe)), Some(place));
    }
}
