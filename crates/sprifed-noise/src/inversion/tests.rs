use num_bigint::BigUint;
use num_integer::Integer;
use proptest::prelude::*;

use super::*;
use crate::scripted::{ONES, Scripted, ZEROS};

/// Each of 10, 11 and 12 with probability one third, whose binary digits are 010101….
#[derive(Clone, Debug)]
struct Thirds;

impl RefinableLaw for Thirds {
    fn cumulative(&self, bits: u32) -> Cumulative {
        let thresholds = (0u8..4)
            .map(|i| {
                let scaled = BigUint::from(i) << bits;
                let three = BigUint::from(3u8);
                Enclosure {
                    lower: &scaled / &three,
                    upper: scaled.div_ceil(&three),
                }
            })
            .collect();
        Cumulative {
            first: 10,
            thresholds,
        }
    }
}

/// `P(x) = 2^-(x+1)`: a tail that a 63-bit table cannot list to its end.
#[derive(Clone, Debug)]
struct Halves;

impl RefinableLaw for Halves {
    fn cumulative(&self, bits: u32) -> Cumulative {
        let unit = BigUint::from(1u8) << bits;
        let thresholds = (0..=bits)
            .map(|x| {
                let exact = &unit - (&unit >> x);
                Enclosure {
                    lower: exact.clone(),
                    upper: exact,
                }
            })
            .collect();
        Cumulative {
            first: 0,
            thresholds,
        }
    }
}

/// 63 bits of 1/3.
const THIRD: u64 = (1 << 63) / 3;
/// The next 64 bits of 1/3; the 64th bit is a zero and opens them.
const THIRD_CONTINUED: u64 = 0x5555_5555_5555_5555;

#[test]
fn a_prefix_away_from_thresholds_needs_no_more_bits() {
    let table = InversionTable::new(Thirds);
    for (prefix, expected) in [
        (1, 10),
        (THIRD - 1, 10),
        (THIRD + 1, 11),
        (2 * THIRD - 1, 11),
        (LARGEST_PREFIX - 2, 12),
    ] {
        let mut rng = Scripted::new([], ZEROS);
        assert_eq!(table.invert(prefix, &mut rng), expected, "prefix {prefix}");
        assert_eq!(rng.n_drawn(), 0);
    }
}

#[test]
fn a_prefix_on_a_threshold_is_decided_by_the_bits_that_follow() {
    let table = InversionTable::new(Thirds);
    for (next, expected) in [
        (ZEROS, 10),
        (ONES, 11),
        (THIRD_CONTINUED * 2 - 1, 10),
        (THIRD_CONTINUED * 2 + 1, 11),
    ] {
        let mut rng = Scripted::new([next], ZEROS);
        assert_eq!(
            THIRD & 1,
            0,
            "the 63rd bit of 1/3 is a zero, so the 64th is a one"
        );
        assert_eq!(
            table.invert(THIRD, &mut rng),
            expected,
            "next word {next:x}"
        );
        assert_eq!(rng.n_drawn(), 1);
    }
}

#[test]
fn refinement_continues_while_the_bits_follow_the_threshold() {
    let table = InversionTable::new(Thirds);
    let follow = THIRD_CONTINUED * 2;
    for (last, expected) in [(ZEROS, 10), (ONES, 11)] {
        let mut rng = Scripted::new([follow; 8], last);
        assert_eq!(table.invert(THIRD, &mut rng), expected);
        assert!(rng.n_drawn() > 8);
    }
}

#[test]
fn the_tail_beyond_the_table_is_reached() {
    let table = InversionTable::new(Halves);
    // 63 ones, then 64 ones, then a zero: the first zero is bit 128, and P(x < 127) = 1 - 2^-127.
    let mut rng = Scripted::new([ONES, 0], ZEROS);
    assert_eq!(table.invert(LARGEST_PREFIX, &mut rng), 127);
    let mut rng = Scripted::new([ONES, ONES, ONES >> 1], ZEROS);
    assert_eq!(table.invert(LARGEST_PREFIX, &mut rng), 191);
    let mut rng = Scripted::new([ONES - 1], ZEROS);
    assert_eq!(table.invert(LARGEST_PREFIX, &mut rng), 126);
}

#[test]
fn keeping_the_uniform_number_gives_the_same_outcome() {
    let table = InversionTable::new(Thirds);
    let (outcome, uniform) = table.invert_keeping(THIRD, &mut Scripted::new([], ONES));
    assert_eq!(outcome, 11);
    assert_eq!(uniform.bits(), 127);
    assert_eq!(
        table
            .invert_keeping(5, &mut Scripted::new([], ONES))
            .1
            .bits(),
        PREFIX_BITS
    );
}

proptest! {
    #[test]
    fn the_table_agrees_with_a_search_at_high_precision(word: u64, next: u64) {
        let fast = InversionTable::new(Halves).invert(word >> 1, &mut Scripted::new([next], ZEROS));
        let mut uniform = LazyUniform::from_prefix(word >> 1, PREFIX_BITS);
        uniform.refine(&mut Scripted::new([next], ZEROS));
        prop_assert_eq!(Some(fast), Halves.cumulative(uniform.bits()).locate(&uniform));
    }

    #[test]
    fn every_guide_entry_is_at_or_before_the_position_it_guides_to(word: u64) {
        let table = InversionTable::new(Halves);
        let prefix = word >> 1;
        let position = table.floors.partition_point(|&floor| floor <= prefix);
        let bucket = usize::try_from(prefix >> table.guide_shift).unwrap();
        prop_assert!(table.guide[bucket] as usize <= position);
        prop_assert!(table.floors.is_sorted());
    }
}
