use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::*;

#[test]
fn a_buffered_view_hands_out_the_same_words_in_the_same_order() {
    let mut plain = ChaCha20Rng::seed_from_u64(1);
    let mut other = ChaCha20Rng::seed_from_u64(1);
    let mut buffered = RandomBits::new(&mut other);
    for _ in 0..2_000 {
        assert_eq!(buffered.next_u64(), plain.next_u64());
    }
}

#[test]
fn a_word_that_does_not_fit_the_rest_of_the_buffer_is_drawn_whole() {
    let mut generator = ChaCha20Rng::seed_from_u64(2);
    let mut buffered = RandomBits::new(&mut generator);
    let mut bytes = vec![0; BUFFER_BYTES - 3];
    buffered.fill_bytes(&mut bytes);
    buffered.next_u64();
    assert_eq!(buffered.position, 8);
}

#[test]
fn nothing_is_drawn_before_the_first_request() {
    let mut generator = ChaCha20Rng::seed_from_u64(3);
    let _ = RandomBits::new(&mut generator);
    assert_eq!(
        generator.next_u64(),
        ChaCha20Rng::seed_from_u64(3).next_u64()
    );
}

#[test]
fn uniform_integers_stay_below_their_bound_and_reach_all_of_it() {
    let mut generator = ChaCha20Rng::seed_from_u64(4);
    for bound in [1u64, 2, 5, 64, 65] {
        let mut seen = vec![0u32; usize::try_from(bound).unwrap()];
        for _ in 0..200 * bound {
            let drawn = uniform_below(&BigUint::from(bound), &mut generator);
            seen[usize::try_from(drawn).unwrap()] += 1;
        }
        // A count has mean 200 and a deviation of at most 14.2; five of them are 71.
        assert!(
            seen.iter().all(|&count| count.abs_diff(200) <= 71),
            "{seen:?}"
        );
    }
}

#[test]
fn uniform_integers_wider_than_a_word_use_all_their_bits() {
    let mut generator = ChaCha20Rng::seed_from_u64(5);
    let bound = BigUint::from(1u8) << 130;
    let mut union = BigUint::ZERO;
    for _ in 0..100 {
        union |= uniform_below(&bound, &mut generator);
    }
    assert_eq!(union, bound - 1u8);
}
