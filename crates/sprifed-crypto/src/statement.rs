//! Documents signed with identity keys: agreements and receipts, never messages of a sum.

use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::identity_key::IdentityKey;

impl IdentityKey {
    /// Signs the digest of a document of this kind.
    #[must_use]
    pub fn sign_statement(&self, kind: &str, digest: &[u8; 32]) -> [u8; 64] {
        self.sign(&statement(kind, digest))
    }
}

/// Whether the holder of the key `public` signed the digest of a document of this kind.
#[must_use]
pub fn is_signed_statement(
    public: &[u8; 32],
    kind: &str,
    digest: &[u8; 32],
    signature: &[u8; 64],
) -> bool {
    VerifyingKey::from_bytes(public).is_ok_and(|key| {
        let signature = Signature::from_bytes(signature);
        !key.is_weak()
            && key
                .verify_strict(&statement(kind, digest), &signature)
                .is_ok()
    })
}

/// Apart from what is signed in a sum, and each kind apart from the others.
fn statement(kind: &str, digest: &[u8; 32]) -> [u8; 32] {
    let hash = Sha256::new_with_prefix(b"sprifed: statement")
        .chain_update((kind.len() as u64).to_le_bytes())
        .chain_update(kind)
        .chain_update(digest);
    hash.finalize().into()
}
