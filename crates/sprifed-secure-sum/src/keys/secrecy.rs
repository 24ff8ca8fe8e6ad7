//! Invariant 10 for every secret of this crate.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::keys::{ClientSeed, DealingSeed, MaskSecret, SelfSeed};
use crate::mask::MaskSeed;
use crate::pair::{BundleKey, ChannelSecret, PairSecret};
use crate::secret_sharing::Share;

const fn is_zeroed_on_drop<T: ZeroizeOnDrop>() {}

/// This compiles only with the `zeroize` features of the ciphers and hashes.
#[test]
fn every_holder_of_a_secret_is_zeroed_on_drop() {
    is_zeroed_on_drop::<ClientSeed>();
    is_zeroed_on_drop::<SelfSeed>();
    is_zeroed_on_drop::<DealingSeed>();
    is_zeroed_on_drop::<ChannelSecret>();
    is_zeroed_on_drop::<BundleKey>();
    is_zeroed_on_drop::<MaskSecret>();
    is_zeroed_on_drop::<PairSecret>();
    is_zeroed_on_drop::<MaskSeed>();
    is_zeroed_on_drop::<Share>();
    is_zeroed_on_drop::<chacha20poly1305::ChaCha20Poly1305>();
    is_zeroed_on_drop::<sha2::Sha256>();
    is_zeroed_on_drop::<x25519_dalek::StaticSecret>();
    is_zeroed_on_drop::<ed25519_dalek::SigningKey>();
}

#[test]
fn secrets_compare_by_all_bytes_print_none_and_become_zero() {
    let secret = Share::from_bytes([7; 32]);
    for place in 0..32 {
        let other = Share::filled(|bytes| {
            bytes.fill(7);
            if let Some(byte) = bytes.get_mut(place) {
                *byte = 8;
            }
        });
        assert_ne!(secret, other, "byte {place}");
    }
    let mut copy = secret.clone();
    assert_eq!(secret, copy);
    assert_eq!(format!("{copy:?}"), "Share(..)");
    copy.zeroize();
    assert_eq!(copy.expose(), &[0; 32]);
}
