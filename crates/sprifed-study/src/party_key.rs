//! One party's secret of one study, and everything that is derived from it.
//!
//! A party draws 256 bits once. Its masks and its noise for each sum are functions of them, so a
//! party that was restarted makes what it made before: nothing is drawn twice for one sum, and no
//! second vector is ever hidden by the same masks.

use hkdf::Hkdf;
use sha2::{Digest as _, Sha256};
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_secure_sum::{ClientSeed, IdentityKey};
use zeroize::Zeroizing;

use crate::hexadecimal::Digest;

/// A party's secret of one study. Never printed.
#[derive(Clone)]
pub struct PartyKey {
    bytes: Zeroizing<[u8; 32]>,
    provenance: Provenance,
}

impl PartyKey {
    /// A key of 256 bits.
    ///
    /// # Trust
    /// The caller vouches that they are fresh from the operating system's generator, were stored
    /// before anything was sent, and are used for one study only.
    #[must_use]
    pub fn assume_fresh_entropy(bytes: [u8; 32]) -> Self {
        Self {
            bytes: Zeroizing::new(bytes),
            provenance: Provenance::Cryptographic,
        }
    }

    /// A key that anybody can repeat, for simulation. What it protects is nothing.
    #[must_use]
    pub fn simulated(seed: u64, party: u32) -> Self {
        let hash = Sha256::new_with_prefix(b"sprifed: simulated party")
            .chain_update(seed.to_le_bytes())
            .chain_update(party.to_le_bytes());
        Self {
            bytes: Zeroizing::new(hash.finalize().into()),
            provenance: Provenance::Simulated,
        }
    }

    /// One of many keys of parties that live in one process and trust each other with their memory.
    #[must_use]
    pub fn of_member(&self, party: u32) -> Self {
        Self {
            bytes: self.derive(&[b"member", &party.to_le_bytes()]),
            provenance: self.provenance,
        }
    }

    /// Where its bits came from.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// The signing key of a party that has no longer-lived one.
    #[must_use]
    pub fn identity(&self) -> IdentityKey {
        IdentityKey::from_stored(&self.identity_bits())
    }

    /// The same as bits to be stored; they are as secret as the key.
    #[must_use]
    pub fn identity_bits(&self) -> [u8; 32] {
        *self.derive(&[b"identity"])
    }

    /// Public bits that no other key has.
    pub(crate) fn nonce(&self) -> Digest {
        Digest(*self.derive(&[b"nonce"]))
    }

    /// What masks are derived from.
    pub(crate) fn masks(&self, agreement: &Digest) -> ClientSeed {
        ClientSeed::from_stored(*self.derive(&[b"masks", &agreement.0]))
    }

    /// The noise of one sum in one context.
    pub(crate) fn noise(&self, agreement: &Digest, sum: u32, context: &Digest) -> NoiseGenerator {
        let key = self.derive(&[b"noise", &agreement.0, &sum.to_le_bytes(), &context.0]);
        NoiseGenerator::assume_derived(*key, self.provenance)
    }

    fn derive(&self, label: &[&[u8]]) -> Zeroizing<[u8; 32]> {
        let mut derived = Zeroizing::new([0; 32]);
        let hkdf = Hkdf::<Sha256>::new(Some(b"sprifed: party"), &*self.bytes);
        let expanded = hkdf.expand_multi_info(label, &mut *derived);
        debug_assert!(expanded.is_ok(), "32 bytes can always be expanded");
        derived
    }
}

impl core::fmt::Debug for PartyKey {
    /// The bits are secret: only where they came from is shown.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "PartyKey({:?})", self.provenance)
    }
}
