//! The signing key of a party, which all its messages and documents carry.

use ed25519_dalek::{Signer, SigningKey};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// A party's long-lived signing key. Never printed.
#[derive(Clone)]
pub struct IdentityKey(SigningKey);

impl IdentityKey {
    /// Draws a key.
    #[expect(clippy::disallowed_methods, reason = "key material, not noise")]
    pub fn draw(rng: &mut impl CryptoRng) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *bytes);
        Self(SigningKey::from_bytes(&bytes))
    }

    /// The key that was stored.
    #[must_use]
    pub fn from_stored(bytes: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(bytes))
    }

    /// The public key for the roster.
    #[must_use]
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// Signs a digest.
    ///
    /// # Caller must
    /// Give the digest a prefix that is used for nothing else.
    #[must_use]
    pub fn sign(&self, digest: &[u8; 32]) -> [u8; 64] {
        self.0.sign(digest).to_bytes()
    }
}

impl core::fmt::Debug for IdentityKey {
    /// Only the public half.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "IdentityKey({:?})", self.0.verifying_key())
    }
}
