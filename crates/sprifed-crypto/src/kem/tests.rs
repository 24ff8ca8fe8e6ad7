use super::*;

fn key(byte: u8) -> KemKey {
    KemKey::new(&KemSeed::from_bytes([byte; 64]))
}

#[test]
fn both_ends_know_the_same_and_no_other_key_opens_it() {
    let coins = Coins::from_bytes([3; 32]);
    let (ciphertext, secret) = encapsulate(&key(1).public(), &coins).expect("a key");
    assert!(key(1).open(&ciphertext) == secret);
    assert!(key(2).open(&ciphertext) != secret);
    let mut altered = ciphertext;
    altered[500] ^= 1;
    assert!(key(1).open(&altered) != secret);
}

#[test]
fn the_same_seed_and_coins_give_the_same_bytes() {
    let coins = Coins::from_bytes([3; 32]);
    let encapsulated = || encapsulate(&key(1).public(), &coins).expect("a key");
    assert_eq!(encapsulated().0, encapsulated().0);
    assert_eq!(key(1).public(), key(1).public());
    let others = Coins::from_bytes([4; 32]);
    let (ciphertext, secret) = encapsulate(&key(1).public(), &others).expect("a key");
    assert!(ciphertext != encapsulated().0 && secret != encapsulated().1);
}

#[test]
fn coefficients_above_the_modulus_are_no_key() {
    assert!(is_key(&key(1).public()));
    let mut high = key(1).public();
    // The first coefficient, twelve bits: the modulus itself.
    if let [first, second, ..] = high.as_mut_slice() {
        (*first, *second) = (0x01, (*second & 0xf0) | 0x0d);
    }
    assert!(!is_key(&high));
    assert!(encapsulate(&high, &Coins::from_bytes([3; 32])).is_none());
    assert!(!is_key(&[0xff; KEY_BYTES]));
}
