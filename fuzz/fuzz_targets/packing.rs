//! Packed vectors of every width against a reader of single bits.

use arbitrary::{Arbitrary, Unstructured};
use sprifed_secure_sum::{MaskSeed, Residues, Sign, SumShape};

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let Ok(input) = <(u8, u8, [u8; 4], &[u8])>::arbitrary_take_rest(Unstructured::new(bytes))
    else {
        return;
    };
    let (coordinates, bits, key, packed) = input;
    let Ok(shape) = SumShape::new(u32::from(coordinates), u32::from(bits)) else {
        assert!(coordinates == 0 || !(1..=62).contains(&bits));
        return;
    };
    let mut received = Residues::zero(shape);
    if !received.add_packed(packed) {
        assert!(
            received == Residues::zero(shape),
            "a refused vector changes nothing"
        );
        return;
    }
    assert_eq!(received.pack(), packed, "one encoding for each vector");
    let values = received.to_centred();
    for (place, value) in values.iter().enumerate() {
        let mut expected = 0i64;
        for bit in 0..usize::from(bits) {
            let at = place * usize::from(bits) + bit;
            expected |= i64::from(packed[at / 8] >> (at % 8) & 1) << bit;
        }
        if expected >> (bits - 1) == 1 {
            expected -= 1 << bits;
        }
        assert_eq!(*value, expected);
    }
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&key);
    let seed = MaskSeed::assume_secret(seed);
    let mut masked = Residues::zero(shape);
    masked.add_values(&values);
    assert_eq!(masked.pack(), packed);
    masked.add_mask(&seed, Sign::Plus);
    let mut unmasked = Residues::zero(shape);
    assert!(unmasked.add_packed(&masked.pack()));
    unmasked.add_mask(&seed, Sign::Minus);
    assert_eq!(unmasked.to_centred(), values, "what is put on comes off");
}
