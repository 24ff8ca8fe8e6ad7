use proptest::prelude::*;
use x25519_dalek::{PublicKey, StaticSecret};

use super::*;

fn agrees(key: [u8; 32], secret: [u8; 32]) -> bool {
    StaticSecret::from(secret)
        .diffie_hellman(&PublicKey::from(key))
        .was_contributory()
}

#[test]
fn exactly_the_listed_keys_agree_on_nothing() {
    for listed in SMALL_ORDER {
        for top in [0, 0x80] {
            let mut key = listed;
            key[31] |= top;
            assert!(has_small_order(&key), "{key:?}");
            assert!(!agrees(key, [7; 32]), "{key:?}");
        }
        // Its neighbours are no such keys, so the list is not just a list of everything.
        for step in [2u8, 4, 16] {
            let mut key = listed;
            key[5] ^= step;
            assert!(!has_small_order(&key) && agrees(key, [7; 32]), "{key:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_is_listed_if_and_only_if_it_agrees_on_nothing(
        key in any::<[u8; 32]>(),
        low in 0..40u8,
        high in any::<bool>(),
        secret in any::<[u8; 32]>(),
    ) {
        // Small and large coordinates, where all but two of the listed ones are.
        let mut edge = [if high { 0xff } else { 0 }; 32];
        edge[0] = if high { 0xff - low } else { low };
        for key in [key, edge] {
            prop_assert_eq!(has_small_order(&key), !agrees(key, secret));
        }
    }
}
