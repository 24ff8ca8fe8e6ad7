//! How two parties of a study come to a secret that no other party has: X25519 and ML-KEM-768.
//!
//! One of the two encapsulates to the other; a client to each trustee, and of two trustees the one
//! that comes first in the agreement. Both public keys, both identities, the ciphertext and the
//! digest of the agreement are in the derivation, so a coordinator that changes any of them leaves the
//! two without a common secret. Their senders sign public keys and ciphertexts.
//!
//! The agreement holds the public keys of the trustees, so these keys are made before it and cannot
//! depend on it. Every secret that comes from them does.

use sha2::{Digest as _, Sha256};
use sprifed_crypto::agreement::{agree, joined};
use sprifed_crypto::derivation::derive;
use sprifed_crypto::kem::{self, CIPHERTEXT_BYTES, Coins, KEY_BYTES, KemKey, KemSeed};
use sprifed_crypto::secret;
use sprifed_crypto::small_order::has_small_order;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use crate::chain::Chain;

secret! {
    /// What a party's keys for one study are made from.
    pub struct PairingSeed([u8; 32])
}

impl PairingSeed {
    /// The seed of these bytes, which are random, secret, and used for one study.
    #[must_use]
    pub const fn from_stored(bytes: [u8; 32]) -> Self {
        Self::from_bytes(bytes)
    }
}

/// The public half of a party's keys for one study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingPublic {
    channel: [u8; 32],
    kem: Box<[u8; KEY_BYTES]>,
}

impl PairingPublic {
    /// Bytes of it.
    pub const BYTES: usize = 32 + KEY_BYTES;

    /// The bytes to publish.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.channel.as_slice(), self.kem.as_slice()].concat()
    }

    /// The keys with these bytes; `None` if they are none, or would give a known secret.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (channel, kem) = bytes.split_first_chunk::<32>()?;
        let kem: &[u8; KEY_BYTES] = kem.try_into().ok()?;
        let is_legal = !has_small_order(channel) && kem::is_key(kem);
        is_legal.then(|| Self {
            channel: *channel,
            kem: Box::new(*kem),
        })
    }
}

/// A party's keys for one study.
pub struct PairingKeys {
    seed: PairingSeed,
    channel: StaticSecret,
    kem: KemKey,
    public: PairingPublic,
    identity: [u8; 32],
}

impl PairingKeys {
    /// The keys of the party with this identity.
    #[must_use]
    pub fn new(seed: PairingSeed, identity: [u8; 32]) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        derive(
            seed.expose(),
            &identity,
            &[b"trustees: channel key"],
            &mut *bytes,
        );
        let channel = StaticSecret::from(*bytes);
        let kem_seed = KemSeed::filled(|bytes| {
            derive(seed.expose(), &identity, &[b"trustees: kem key"], bytes);
        });
        let kem = KemKey::new(&kem_seed);
        let public = PairingPublic {
            channel: PublicKey::from(&channel).to_bytes(),
            kem: kem.public(),
        };
        Self {
            seed,
            channel,
            kem,
            public,
            identity,
        }
    }

    /// What the party publishes.
    #[must_use]
    pub const fn public(&self) -> &PairingPublic {
        &self.public
    }

    /// Encapsulates to another party of the study with this agreement: the ciphertext for it, and the
    /// chain of both. The same study gives the same ciphertext.
    #[must_use]
    pub fn initiate(
        &self,
        study: &[u8; 32],
        to: &PairingPublic,
        identity: &[u8; 32],
    ) -> Option<([u8; CIPHERTEXT_BYTES], Chain)> {
        let key: [u8; 32] = Sha256::digest(to.kem.as_slice()).into();
        let info: [&[u8]; 3] = [b"trustees: kem coins", identity, &key];
        let coins = Coins::filled(|bytes| derive(self.seed.expose(), study, &info, bytes));
        let (ciphertext, encapsulated) = kem::encapsulate(&to.kem, &coins)?;
        let agreed = agree(&self.channel, &to.channel)?;
        let both = joined(encapsulated.expose(), agreed.expose());
        let sides = (self.side(), Side::of(to, identity));
        Some((ciphertext, chain(study, &both, sides, &ciphertext)))
    }

    /// The chain with a party that encapsulated to this one.
    #[must_use]
    pub fn respond(
        &self,
        study: &[u8; 32],
        from: &PairingPublic,
        identity: &[u8; 32],
        ciphertext: &[u8; CIPHERTEXT_BYTES],
    ) -> Option<Chain> {
        let agreed = agree(&self.channel, &from.channel)?;
        let both = joined(self.kem.open(ciphertext).expose(), agreed.expose());
        let sides = (Side::of(from, identity), self.side());
        Some(chain(study, &both, sides, ciphertext))
    }

    fn side(&self) -> Side {
        Side::of(&self.public, &self.identity)
    }
}

fn chain(
    study: &[u8; 32],
    both: &[u8; 64],
    (from, to): (Side, Side),
    ciphertext: &[u8; CIPHERTEXT_BYTES],
) -> Chain {
    let ciphertext: [u8; 32] = Sha256::digest(ciphertext).into();
    let info: [&[u8]; 4] = [b"sprifed: trustees", &from.0, &to.0, &ciphertext];
    let mut first = Zeroizing::new([0; 32]);
    derive(both, study, &info, &mut *first);
    Chain::new(*first)
}

impl core::fmt::Debug for PairingKeys {
    /// Only the public half.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "PairingKeys({:?})", self.public.channel)
    }
}

/// Identity and public keys of one of the two, as a digest.
struct Side([u8; 32]);

impl Side {
    fn of(public: &PairingPublic, identity: &[u8; 32]) -> Self {
        let hash = Sha256::new_with_prefix(b"sprifed trustees: side")
            .chain_update(identity)
            .chain_update(public.channel)
            .chain_update(public.kem.as_slice());
        Self(hash.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(byte: u8) -> PairingKeys {
        PairingKeys::new(PairingSeed::from_bytes([byte; 32]), [byte; 32])
    }

    const STUDY: [u8; 32] = [9; 32];

    #[test]
    fn the_two_ends_agree_and_a_change_of_anything_separates_them() {
        let (one, other) = (keys(1), keys(2));
        let (ciphertext, chain) = one
            .initiate(&STUDY, other.public(), &[2; 32])
            .expect("keys");
        let answered = |from: &PairingKeys, identity: u8, ciphertext: &[u8; CIPHERTEXT_BYTES]| {
            other
                .respond(&STUDY, from.public(), &[identity; 32], ciphertext)
                .expect("keys")
        };
        assert!(answered(&one, 1, &ciphertext) == chain);
        assert!(answered(&one, 3, &ciphertext) != chain, "another identity");
        assert!(answered(&keys(3), 1, &ciphertext) != chain, "another key");
        let mut changed = ciphertext;
        changed[17] ^= 1;
        assert!(answered(&one, 1, &changed) != chain, "another ciphertext");
        let elsewhere = other.respond(&[8; 32], one.public(), &[1; 32], &ciphertext);
        assert!(elsewhere != Some(chain), "another study");
    }

    #[test]
    fn bytes_that_are_no_keys_are_refused() {
        let bytes = keys(1).public().to_bytes();
        assert_eq!(bytes.len(), PairingPublic::BYTES);
        assert_eq!(
            PairingPublic::from_bytes(&bytes).as_ref(),
            Some(keys(1).public())
        );
        assert_eq!(PairingPublic::from_bytes(&bytes[1..]), None);
        let mut small = bytes.clone();
        small[..32].fill(0);
        assert_eq!(PairingPublic::from_bytes(&small), None);
        let mut high = bytes;
        high[32..].fill(0xff);
        assert_eq!(PairingPublic::from_bytes(&high), None);
    }
}
