//! Where keys are drawn and derived: the only file of this crate that touches a random source.
//!
//! Everything that a client keeps secret is derived with HKDF-SHA-256 from seeds of 256 bits, under
//! a label that names the study, the purpose and the sum; outputs under different labels are
//! independent as long as HKDF is a pseudorandom function. So a restarted client has the keys it
//! had, and what is revealed of one sum says nothing about another.
//!
//! | seed | gives | needed until |
//! |---|---|---|
//! | root | the channel key and the ML-KEM key: what others encrypt to | the end of the study |
//! | set-up | the key with which bundles are sealed | the shares are published |
//! | of a group of sums | mask secret, own-mask seed and dealing of its sums | a sum of the group is open |
//!
//! What is no longer needed can be erased. The root does not open the bundles that its owner
//! sealed: a thief of root and messages has one share of each neighbour's secrets, and none of the
//! owner's.

use rand_core::CryptoRng;
use sha2::{Digest as _, Sha256};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use crate::identity::ClientId;
use crate::kem::{Coins, KEY_BYTES, KemKey, KemSeed};
use crate::mask::MaskSeed;
use crate::study::StudyId;
use sprifed_crypto::{derivation, secret};

secret! {
    /// What a client's secrets are derived from: all of one study, or a part of them.
    pub struct ClientSeed([u8; 32])
}

secret! {
    /// The secret of a client's pairwise masks in one sum, which it deals in shares: it determines
    /// the masks.
    pub(crate) struct MaskSecret([u8; 32])
}

secret! {
    /// The seed of a client's own mask in one sum.
    pub(crate) struct SelfSeed([u8; 32])
}

secret! {
    /// The seed of the polynomials by which a client shares its secrets of one sum.
    pub(crate) struct DealingSeed([u8; 32])
}

impl ClientSeed {
    /// Draws a seed; use it for one study only.
    #[expect(clippy::disallowed_methods, reason = "key material, not noise")]
    pub fn draw(rng: &mut impl CryptoRng) -> Self {
        Self::filled(|bytes| rng.fill_bytes(bytes))
    }

    /// The seed that was stored before a restart.
    #[must_use]
    pub const fn from_stored(bytes: [u8; 32]) -> Self {
        Self::from_bytes(bytes)
    }

    /// The bytes to store; they are as secret as the client's data.
    #[must_use]
    pub const fn to_stored(&self) -> [u8; 32] {
        *self.expose()
    }
}

/// A client's secrets of one study, as far as they were not erased.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecrets {
    root: ClientSeed,
    setup: Option<ClientSeed>,
    groups: Vec<Option<ClientSeed>>,
}

impl From<ClientSeed> for ClientSecrets {
    /// All secrets from one seed: nothing can be erased before the study is over.
    fn from(seed: ClientSeed) -> Self {
        Self::new(seed.clone(), Some(seed.clone()), vec![Some(seed)])
    }
}

impl core::fmt::Debug for ClientSecrets {
    /// Shows how much is left, not the secrets.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let left = self.groups.iter().flatten().count();
        write!(formatter, "ClientSecrets({left} of {})", self.groups.len())
    }
}

impl ClientSecrets {
    /// Secrets, some of which may have been erased.
    ///
    /// The sums of the study belong to the groups in turn: with g groups, sum k to group k mod g.
    #[must_use]
    pub const fn new(
        root: ClientSeed,
        setup: Option<ClientSeed>,
        groups: Vec<Option<ClientSeed>>,
    ) -> Self {
        Self {
            root,
            setup,
            groups,
        }
    }

    /// Erases what is needed until the shares are published.
    pub(crate) fn forget_setup(&mut self) {
        self.setup = None;
    }

    /// Erases what belongs to the group of `sum`.
    pub(crate) fn forget_group(&mut self, sum: u32) {
        let place = (sum as usize).checked_rem(self.groups.len());
        if let Some(group) = place.and_then(|place| self.groups.get_mut(place)) {
            *group = None;
        }
    }

    fn group(&self, sum: u32) -> Option<&ClientSeed> {
        let place = (sum as usize).checked_rem(self.groups.len())?;
        self.groups.get(place)?.as_ref()
    }

    /// The secret of the pairwise masks of `sum`; `None` if it was erased.
    pub(crate) fn mask_secret(&self, study: &StudyId, sum: u32) -> Option<MaskSecret> {
        let (seed, info): (_, [&[u8]; 2]) = (self.group(sum)?, [b"mask", &sum.to_le_bytes()]);
        let secret = |output: &mut [u8; 32]| derive(seed.expose(), study, &info, output);
        Some(MaskSecret::filled(secret))
    }

    /// The seed of the own mask of `sum`; `None` if it was erased.
    pub(crate) fn self_seed(&self, study: &StudyId, sum: u32) -> Option<SelfSeed> {
        let (seed, info): (_, [&[u8]; 2]) = (self.group(sum)?, [b"self mask", &sum.to_le_bytes()]);
        let secret = |output: &mut [u8; 32]| derive(seed.expose(), study, &info, output);
        Some(SelfSeed::filled(secret))
    }

    /// The seed by which the two are dealt; `None` if it was erased.
    ///
    /// With it and one share of a secret the secret is known, so it belongs to the sum.
    pub(crate) fn dealing_seed(&self, study: &StudyId, sum: u32) -> Option<DealingSeed> {
        let (seed, info): (_, [&[u8]; 2]) = (self.group(sum)?, [b"dealing", &sum.to_le_bytes()]);
        let secret = |output: &mut [u8; 32]| derive(seed.expose(), study, &info, output);
        Some(DealingSeed::filled(secret))
    }

    pub(crate) fn channel_key(&self, study: &StudyId) -> StaticSecret {
        static_secret(self.root.expose(), study, &[b"channel key"])
    }

    pub(crate) fn kem_key(&self, study: &StudyId) -> KemKey {
        let seed = |output: &mut [u8; 64]| {
            derivation::derive(self.root.expose(), study.as_bytes(), &[b"kem key"], output);
        };
        KemKey::new(&KemSeed::filled(seed))
    }

    /// The secret that is encapsulated to the holder of `public`, which claims to be `to`.
    pub(crate) fn coins(&self, study: &StudyId, to: ClientId, public: &[u8; KEY_BYTES]) -> Coins {
        let key: [u8; 32] = Sha256::digest(public).into();
        let info: [&[u8]; 3] = [b"kem coins", &to.0.to_le_bytes(), &key];
        Coins::filled(|output| derive(self.root.expose(), study, &info, output))
    }

    /// The key with which bundles are sealed; `None` if it was erased.
    pub(crate) fn sealing_key(&self, study: &StudyId) -> Option<StaticSecret> {
        let seed = self.setup.as_ref()?;
        Some(static_secret(seed.expose(), study, &[b"sealing key"]))
    }
}

impl MaskSecret {
    /// The X25519 key with which pairwise masks are agreed on.
    ///
    /// A quantum computer finds it from the public half, but not the secret it comes from.
    pub(crate) fn key(&self, study: &StudyId) -> StaticSecret {
        static_secret(self.expose(), study, &[b"mask key"])
    }

    /// The public half.
    pub(crate) fn public(&self, study: &StudyId) -> [u8; 32] {
        PublicKey::from(&self.key(study)).to_bytes()
    }
}

/// The seed of a client's own mask in `context`, as the stream cipher takes it.
pub(crate) fn self_mask_seed(
    seed: &SelfSeed,
    study: &StudyId,
    (sum, context): (u32, &[u8; 32]),
) -> MaskSeed {
    let info: [&[u8]; 3] = [b"own mask", &sum.to_le_bytes(), context];
    MaskSeed::filled(|output| derive(seed.expose(), study, &info, output))
}

/// A commitment to a self-mask seed: any client can check the seed once it is known, and learns
/// nothing before.
pub(crate) fn commitment(seed: &SelfSeed, study: &StudyId, sum: u32, owner: ClientId) -> [u8; 32] {
    let info: [&[u8]; 3] = [b"commitment", &sum.to_le_bytes(), &owner.0.to_le_bytes()];
    let mut commitment = [0; 32];
    derive(seed.expose(), study, &info, &mut commitment);
    commitment
}

fn static_secret(seed: &[u8; 32], study: &StudyId, info: &[&[u8]]) -> StaticSecret {
    let mut bytes = Zeroizing::new([0; 32]);
    derive(seed, study, info, &mut bytes);
    StaticSecret::from(*bytes)
}

/// Writes 32 bytes of HKDF-SHA-256 where they stay, under a label of this study.
pub(crate) fn derive(secret: &[u8], study: &StudyId, info: &[&[u8]], output: &mut [u8; 32]) {
    derivation::derive(secret, study.as_bytes(), info, output);
}

#[cfg(test)]
mod secrecy;
#[cfg(test)]
pub(crate) mod tests;
