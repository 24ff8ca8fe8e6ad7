//! Where keys are drawn and derived: the only file of this crate that touches a random source.
//!
//! A client draws 256 bits once for a study. Everything else it keeps secret is derived from them
//! with HKDF-SHA-256 under a label that names the study, the purpose and the sum; outputs under
//! different labels are independent as long as HKDF is a pseudorandom function. So a restarted
//! client has the keys it had, and what is revealed of one sum says nothing of another.

use ed25519_dalek::{Signer, SigningKey};
use hkdf::Hkdf;
use rand_core::CryptoRng;
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use crate::identity::ClientId;
use crate::mask::MaskSeed;
use crate::secret::secret;
use crate::study::StudyId;

secret! {
    /// What all of a client's secrets of one study are derived from.
    pub struct ClientSeed([u8; 32])
}

secret! {
    /// The seed of a client's own mask in one sum.
    pub(crate) struct SelfSeed([u8; 32])
}

secret! {
    /// The seed of the polynomials by which a client shares its secrets.
    pub(crate) struct DealingSeed([u8; 32])
}

secret! {
    /// What two clients share for the whole study.
    pub(crate) struct ChannelSecret([u8; 32])
}

secret! {
    /// The key of one encrypted bundle.
    pub(crate) struct BundleKey([u8; 32])
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

    pub(crate) fn mask_key(&self, study: &StudyId, sum: u32) -> StaticSecret {
        static_secret(self, study, &[b"mask key", &sum.to_le_bytes()])
    }

    pub(crate) fn self_seed(&self, study: &StudyId, sum: u32) -> SelfSeed {
        let info: [&[u8]; 2] = [b"self mask", &sum.to_le_bytes()];
        SelfSeed::filled(|output| derive(self.expose(), study, &info, output))
    }

    pub(crate) fn channel_key(&self, study: &StudyId) -> StaticSecret {
        static_secret(self, study, &[b"channel key"])
    }

    pub(crate) fn dealing_seed(&self, study: &StudyId) -> DealingSeed {
        DealingSeed::filled(|output| derive(self.expose(), study, &[b"dealing"], output))
    }
}

/// A client's long-lived signing key. Never printed.
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

    /// What goes into the roster.
    #[must_use]
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub(crate) fn sign(&self, digest: &[u8; 32]) -> [u8; 64] {
        self.0.sign(digest).to_bytes()
    }
}

impl core::fmt::Debug for IdentityKey {
    /// Only the public half.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "IdentityKey({:?})", self.0.verifying_key())
    }
}

/// The seed of the mask that `one` and `other` share in `sum` if both mask it in `context`; `None`
/// for a key of small order.
pub(crate) fn pair_seed(
    secret: &StaticSecret,
    public: &[u8; 32],
    study: &StudyId,
    (sum, context): (u32, &[u8; 32]),
    (one, other): (ClientId, ClientId),
) -> Option<MaskSeed> {
    let agreed = secret.diffie_hellman(&PublicKey::from(*public));
    let (low, high) = (
        one.min(other).0.to_le_bytes(),
        one.max(other).0.to_le_bytes(),
    );
    let info: [&[u8]; 5] = [b"pair mask", &sum.to_le_bytes(), &low, &high, context];
    let seed = || MaskSeed::filled(|output| derive(agreed.as_bytes(), study, &info, output));
    agreed.was_contributory().then(seed)
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

/// What lets everybody check a self-mask seed once it is known, and tells nothing before.
pub(crate) fn commitment(seed: &SelfSeed, study: &StudyId, sum: u32, owner: ClientId) -> [u8; 32] {
    let info: [&[u8]; 3] = [b"commitment", &sum.to_le_bytes(), &owner.0.to_le_bytes()];
    let mut commitment = [0; 32];
    derive(seed.expose(), study, &info, &mut commitment);
    commitment
}

/// What two clients agree on by their channel keys; `None` for a key of small order.
pub(crate) fn channel_secret(
    secret: &StaticSecret,
    public: &[u8; 32],
    study: &StudyId,
    (one, other): (ClientId, ClientId),
) -> Option<ChannelSecret> {
    let agreed = secret.diffie_hellman(&PublicKey::from(*public));
    let (low, high) = (
        one.min(other).0.to_le_bytes(),
        one.max(other).0.to_le_bytes(),
    );
    let info: [&[u8]; 3] = [b"channel", &low, &high];
    let channel =
        || ChannelSecret::filled(|output| derive(agreed.as_bytes(), study, &info, output));
    agreed.was_contributory().then(channel)
}

impl ChannelSecret {
    /// The key of the one bundle that `from` sends to `to`.
    pub(crate) fn bundle_key(&self, study: &StudyId, from: ClientId, to: ClientId) -> BundleKey {
        let info: [&[u8]; 3] = [b"bundle", &from.0.to_le_bytes(), &to.0.to_le_bytes()];
        BundleKey::filled(|output| derive(self.expose(), study, &info, output))
    }

    /// What `from` tells `to` so that it believes in which directory and context an upload was
    /// masked.
    pub(crate) fn tag(
        &self,
        study: &StudyId,
        (from, to): (ClientId, ClientId),
        (sum, context): (u32, &[u8; 32]),
        directory: &[u8; 32],
    ) -> [u8; 16] {
        let (from, to) = (from.0.to_le_bytes(), to.0.to_le_bytes());
        let sum = sum.to_le_bytes();
        let info: [&[u8]; 6] = [b"tag", &from, &to, &sum, context, directory];
        let (mut whole, mut tag) = (Zeroizing::new([0; 32]), [0; 16]);
        derive(self.expose(), study, &info, &mut whole);
        tag.copy_from_slice(whole.split_at(16).0);
        tag
    }
}

fn static_secret(seed: &ClientSeed, study: &StudyId, info: &[&[u8]]) -> StaticSecret {
    let mut bytes = Zeroizing::new([0; 32]);
    derive(seed.expose(), study, info, &mut bytes);
    StaticSecret::from(*bytes)
}

/// Writes 32 bytes of HKDF-SHA-256 where they stay; the state of the hash is zeroed on drop.
fn derive(secret: &[u8; 32], study: &StudyId, info: &[&[u8]], output: &mut [u8; 32]) {
    let expanded =
        Hkdf::<Sha256>::new(Some(study.as_bytes()), secret).expand_multi_info(info, output);
    debug_assert!(expanded.is_ok(), "32 bytes are not too many for HKDF");
}

#[cfg(test)]
mod tests;
