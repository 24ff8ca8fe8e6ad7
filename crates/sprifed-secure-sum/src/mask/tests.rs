use proptest::prelude::*;

use super::*;

fn shape(coordinates: u32, bits: u32) -> SumShape {
    SumShape::new(coordinates, bits).expect("legal")
}

#[test]
fn a_mask_is_the_published_key_stream() {
    // AES-256 of the zero block under the zero key: FIPS 197's cipher, as in NIST's CAVP vectors.
    let mut residues = Residues::zero(shape(8, 16));
    residues.add_mask(&MaskSeed::from_bytes([0; 32]), Sign::Plus);
    let expected = [
        0xdc, 0x95, 0xc0, 0x78, 0xa2, 0x40, 0x89, 0x89, 0xad, 0x48, 0xa2, 0x14, 0x92, 0x84, 0x20,
        0x87,
    ];
    assert_eq!(residues.pack(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_put_on_comes_off(bits in 1..=62u32, values in prop::collection::vec(any::<i64>(), 1..9000), key in any::<u8>()) {
        let shape = shape(u32::try_from(values.len()).expect("short"), bits);
        let seed = MaskSeed::from_bytes([key; 32]);
        let mut residues = Residues::zero(shape);
        residues.add_values(&values);
        let plain = residues.to_centred();
        for (value, centred) in values.iter().zip(&plain) {
            let modulus = 1i128 << bits;
            prop_assert_eq!((i128::from(*value) - i128::from(*centred)).rem_euclid(modulus), 0);
            prop_assert!((-modulus / 2..modulus / 2).contains(&i128::from(*centred)));
        }
        residues.add_mask(&seed, Sign::Plus);
        let mut received = Residues::zero(shape);
        prop_assert!(received.add_packed(&residues.pack()));
        received.add_mask(&seed, Sign::Minus);
        prop_assert_eq!(received.to_centred(), plain);
    }
}

#[test]
fn numbers_below_a_bound_are_below_it() {
    let mut stream = Stream::new(&[1; 32]);
    let mut counts = [0; 5];
    for _ in 0..5000 {
        let number = usize::try_from(stream.below(5)).expect("small");
        *counts.get_mut(number).expect("below five") += 1;
    }
    assert!(
        counts.iter().all(|count| (850..1150).contains(count)),
        "{counts:?}"
    );
}
