//! X25519: the half of every agreement of two parties that today's computers cannot open.

use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use crate::secret;

secret! {
    /// What two X25519 keys agree on.
    pub struct Agreed([u8; 32]), bytes pub
}

/// What two X25519 keys agree on; `None` for a key of small order.
#[must_use]
pub fn agree(secret: &StaticSecret, public: &[u8; 32]) -> Option<Agreed> {
    let agreed = secret.diffie_hellman(&PublicKey::from(*public));
    let copied = || Agreed::filled(|bytes| bytes.copy_from_slice(agreed.as_bytes()));
    agreed.was_contributory().then(copied)
}

/// Two secrets as one key; both have a fixed length.
#[must_use]
pub fn joined(one: &[u8; 32], other: &[u8; 32]) -> Zeroizing<[u8; 64]> {
    let mut both = Zeroizing::new([0; 64]);
    let (left, right) = both.split_at_mut(32);
    left.copy_from_slice(one);
    right.copy_from_slice(other);
    both
}
