use super::*;
use crate::inversion::RefinableLaw;
use crate::scripted::{ONES, Scripted, ZEROS};

fn fine_bits_of(numerator: u128, denominator: u128) -> u32 {
    fine_bits(Ratio::new(numerator, denominator))
}

#[test]
fn the_coarse_deviation_lies_between_64_and_128() {
    assert_eq!(fine_bits_of((1 << 14) - 1, 1), 0);
    assert_eq!(fine_bits_of(1 << 14, 1), 1);
    assert_eq!(fine_bits_of(1 << 77, 1), 32);
    for log in 14..=77 {
        for variance in [1u128 << log, (1 << log) + 1, (2 << log) - 1] {
            let coarse = Ratio::new(variance, 1 << (2 * fine_bits_of(variance, 1)));
            assert!(
                coarse >= Ratio::from_integer(1 << 12) && coarse < Ratio::from_integer(1 << 14)
            );
        }
    }
}

#[test]
fn a_sign_bit_negates_and_zero_has_no_sign() {
    assert_eq!(
        [with_sign(5, 0), with_sign(5, 1), with_sign(0, 1)],
        [5, -5, 0]
    );
}

#[test]
fn a_word_on_a_threshold_is_decided_by_the_words_that_follow() {
    let sampler = DiscreteGaussian::new(Ratio::new(125, 4)).unwrap();
    let law = GaussianMagnitude::new(
        Fraction {
            numerator: 125u8.into(),
            denominator: 4u8.into(),
        },
        ZeroWeight::Half,
    );
    let cumulative = law.cumulative(127);
    for outcome in [0, 1, 5, 20, 40] {
        // `thresholds[outcome + 1]` separates `outcome` from the next one.
        let threshold = &cumulative.thresholds[outcome + 1].lower;
        let prefix = u64::try_from(threshold >> 64).unwrap();
        for (next, shift) in [(ZEROS, 0), (ONES, 1)] {
            let expected = i64::try_from(outcome + shift).unwrap();
            for (sign, signed) in [(0, expected), (1, -expected)] {
                let mut rng = Scripted::new([prefix << 1 | sign], next);
                assert_eq!(sampler.sample(&mut rng), signed);
                assert!(rng.n_drawn() > 1, "the refinement must have run");
            }
        }
    }
}

/// `U = 1 - 2^-(63 + 64n)` lies in the tail that no 63-bit table lists.
#[test]
fn the_tail_is_not_cut() {
    for variance_parameter in [1u128, 100] {
        let sampler = DiscreteGaussian::new(Ratio::from_integer(variance_parameter)).unwrap();
        let mut largest = 0;
        for n_words in 1..6u32 {
            let words = [ONES - 1].into_iter().chain((0..n_words).map(|_| ONES));
            let outcome = sampler.sample(&mut Scripted::new(words, ZEROS));
            // P(|X| ≥ x) ≈ exp(-x²/(2σ²)) up to a factor below 2^8 either way.
            let bits = f64::from(63 + 64 * n_words);
            let spent =
                outcome.pow(2) as f64 / (2.0 * variance_parameter as f64 * std::f64::consts::LN_2);
            assert!(outcome > largest);
            assert!(
                (spent - bits).abs() < 8.0 + bits.sqrt() * 2.0,
                "{outcome}: {spent} of {bits}"
            );
            largest = outcome;
        }
    }
}

#[test]
fn filling_draws_the_same_values_as_sampling_one_by_one() {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;
    for variance_parameter in [2u128, 10_000, 10_000_000_000] {
        let sampler = DiscreteGaussian::new(Ratio::from_integer(variance_parameter)).unwrap();
        let mut filled = [0; 3_000];
        sampler.fill(&mut filled, &mut ChaCha20Rng::seed_from_u64(6));
        let mut rng = ChaCha20Rng::seed_from_u64(6);
        assert!(
            filled
                .iter()
                .all(|&value| value == sampler.sample(&mut rng))
        );
    }
}
