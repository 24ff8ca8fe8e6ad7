//! Digests as words that two people can compare on a telephone.

use sprifed_study::Digest;

/// How many words; each carries 11 bits.
///
/// A coordinator that lies writes both documents, so it needs two digests that agree in all 132 bits, not one that
/// agrees with a given one: that takes 2^66 trials.
const WORDS: usize = 12;

/// The first 132 bits of `digest` as twelve words of the English list of BIP-39.
#[must_use]
pub fn spoken_digest(digest: &Digest) -> String {
    let list = bip39::Language::English.word_list();
    let bit = |place: usize| {
        let byte = digest.0.get(place / 8).copied().unwrap_or(0);
        usize::from(byte >> (7 - place % 8) & 1)
    };
    let word = |number: usize| {
        let bits = 11 * number..11 * (number + 1);
        list[bits.fold(0, |index, place| index << 1 | bit(place))]
    };
    let words: Vec<&str> = (0..WORDS).map(word).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Digest, spoken_digest};

    #[test]
    fn the_words_are_the_bits_of_the_digest_in_order() {
        let zeros = spoken_digest(&Digest([0; 32]));
        assert_eq!(zeros, ["abandon"; 12].join(" "));
        let ones = spoken_digest(&Digest([0xFF; 32]));
        assert_eq!(ones, ["zoo"; 12].join(" "));
        // The test vector of BIP-39 with entropy 7f7f…: all words but the last, which has a checksum there.
        let words = spoken_digest(&Digest([0x7F; 32]));
        assert!(
            words.starts_with(
                "legal winner thank year wave sausage worth useful legal winner thank "
            )
        );
        for place in 0..132 {
            let mut bytes = [0; 32];
            bytes[place / 8] = 0x80 >> (place % 8);
            assert_ne!(spoken_digest(&Digest(bytes)), zeros, "bit {place}");
        }
    }
}
