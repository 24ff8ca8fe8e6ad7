use proptest::prelude::*;

use super::*;

#[test]
fn the_field_is_a_field() {
    for left in 0..=255 {
        for right in 0..=255 {
            let mut scaled = [left];
            scale(&mut scaled, right);
            assert_eq!(scaled, [product(left, right)], "{left} times {right}");
        }
    }
    assert!((1..=255).all(|byte| product(byte, inverse(byte)) == 1));
    // The example of FIPS 197, section 4.2.
    assert_eq!(product(0x57, 0x83), 0xc1);
}

fn shares(secret: [u8; 32], threshold: u32, n_shares: u32) -> Vec<(u8, Share)> {
    let dealt = deal(
        &secret,
        threshold,
        n_shares,
        &DealingSeed::from_bytes([7; 32]),
    );
    (1..=255)
        .zip(dealt)
        .map(|(point, share)| (point, of_bytes(&share)))
        .collect()
}

fn of_bytes(bytes: &[u8]) -> Share {
    Share::from_bytes(bytes.try_into().expect("32 bytes"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_threshold_of_shares_gives_the_secret_and_one_less_does_not(
        (n_shares, threshold) in (1..60u32).prop_flat_map(|n| (Just(n), 1..=n)),
        secret in any::<[u8; 32]>(),
        start in any::<usize>(),
    ) {
        let mut shares = shares(secret, threshold, n_shares);
        let len = shares.len();
        shares.rotate_left(start % len);
        shares.truncate(threshold as usize);
        prop_assert_eq!(Polynomial::through(&shares).at(0), of_bytes(&secret));
        shares.pop();
        prop_assert_ne!(Polynomial::through(&shares).at(0), of_bytes(&secret));
    }
}

#[test]
fn all_255_points_can_be_used() {
    let shares = shares([9; 32], 130, 255);
    assert_eq!(shares.len(), 255);
    assert_eq!(
        Polynomial::through(shares.split_at(125).1).at(0),
        of_bytes(&[9; 32])
    );
}
