//! What two clients agree on: a channel by X25519 and ML-KEM-768 together, and from it everything
//! that belongs to the pair. An attacker must break both to learn any of it.
//!
//! The seed of a pair's mask in a sum comes from X25519 of the two mask keys of the sum and from
//! the *pair secret* of the sum, which comes from the channel. A client that drops out must have its
//! pairwise masks taken off by a coordinator that rebuilds its mask secret: so it publishes each
//! pair secret hidden by a pad that the mask secret gives.

use sha2::{Digest as _, Sha256};
use sprifed_crypto::agreement::joined;
pub(crate) use sprifed_crypto::agreement::{Agreed, agree};
use sprifed_crypto::secret;
use x25519_dalek::StaticSecret;
use zeroize::Zeroizing;

use crate::identity::ClientId;
use crate::kem::{CIPHERTEXT_BYTES, Encapsulated, KEY_BYTES};
use crate::keys::{MaskSecret, derive};
use crate::mask::MaskSeed;
use crate::message::Wrap;
use crate::study::StudyId;

secret! {
    /// What two clients share for the whole study.
    pub(crate) struct ChannelSecret([u8; 32])
}

secret! {
    /// The key of one encrypted bundle.
    pub(crate) struct BundleKey([u8; 32])
}

secret! {
    /// What a pair has for one sum besides its mask keys.
    pub(crate) struct PairSecret([u8; 32])
}

/// The public half of an agreement, by the client with the smaller number: everything is bound.
pub(crate) struct Transcript<'a> {
    /// The client that encapsulated, and its channel key.
    pub(crate) smaller: (ClientId, &'a [u8; 32]),
    /// The client that it encapsulated to, and its channel key.
    pub(crate) larger: (ClientId, &'a [u8; 32]),
    /// The ML-KEM key of the larger one.
    pub(crate) kem: &'a [u8; KEY_BYTES],
    /// What the smaller one sent.
    pub(crate) ciphertext: &'a [u8; CIPHERTEXT_BYTES],
}

impl ChannelSecret {
    /// Derived from what was agreed on and what was encapsulated; either alone gives nothing.
    pub(crate) fn new(
        agreed: &Agreed,
        encapsulated: &Encapsulated,
        study: &StudyId,
        transcript: &Transcript<'_>,
    ) -> Self {
        let both = joined(encapsulated.expose(), agreed.expose());
        let (low, high) = (transcript.smaller, transcript.larger);
        let kem: [u8; 32] = Sha256::digest(transcript.kem).into();
        let ciphertext: [u8; 32] = Sha256::digest(transcript.ciphertext).into();
        let (low_id, high_id) = (low.0.0.to_le_bytes(), high.0.0.to_le_bytes());
        let info: [&[u8]; 7] = [
            b"channel",
            &low_id,
            &high_id,
            low.1,
            high.1,
            &kem,
            &ciphertext,
        ];
        Self::filled(|output| derive(&*both, study, &info, output))
    }

    /// The key of the one bundle that `from` sends to `to`: with what the sealing key of `from` and
    /// the channel key of `to` agree on, so that `from` cannot open it later.
    pub(crate) fn bundle_key(
        &self,
        sealed_by: &Agreed,
        study: &StudyId,
        (from, to): (ClientId, ClientId),
    ) -> BundleKey {
        let both = joined(self.expose(), sealed_by.expose());
        let info: [&[u8]; 3] = [b"bundle", &from.0.to_le_bytes(), &to.0.to_le_bytes()];
        BundleKey::filled(|output| derive(&*both, study, &info, output))
    }

    /// What the pair has for `sum`.
    pub(crate) fn pair_secret(&self, study: &StudyId, sum: u32) -> PairSecret {
        let info: [&[u8]; 2] = [b"pair secret", &sum.to_le_bytes()];
        PairSecret::filled(|output| derive(self.expose(), study, &info, output))
    }

    /// The tag by which `from` proves to `to` in which directory and context an upload was masked.
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

impl PairSecret {
    /// What `owner` publishes of it, for a coordinator that gets to know the owner's mask secret.
    pub(crate) fn wrapped(
        &self,
        owner: &MaskSecret,
        study: &StudyId,
        sum: u32,
        neighbour: ClientId,
    ) -> Wrap {
        let mut hidden = *self.expose();
        add_pad(&mut hidden, owner, study, neighbour);
        let commitment = self.commitment(study, sum);
        Wrap { hidden, commitment }
    }

    /// What `owner` hid.
    pub(crate) fn unwrapped(
        wrap: &Wrap,
        owner: &MaskSecret,
        study: &StudyId,
        neighbour: ClientId,
    ) -> Self {
        Self::filled(|bytes| {
            *bytes = wrap.hidden;
            add_pad(bytes, owner, study, neighbour);
        })
    }

    /// The commitment to the secret; it reveals nothing before the secret is known.
    pub(crate) fn commitment(&self, study: &StudyId, sum: u32) -> [u8; 8] {
        let info: [&[u8]; 2] = [b"pair commitment", &sum.to_le_bytes()];
        let (mut whole, mut commitment) = (Zeroizing::new([0; 32]), [0; 8]);
        derive(self.expose(), study, &info, &mut whole);
        commitment.copy_from_slice(whole.split_at(8).0);
        commitment
    }
}

/// Each pad hides one pair secret: a mask secret belongs to one sum.
fn add_pad(bytes: &mut [u8; 32], owner: &MaskSecret, study: &StudyId, neighbour: ClientId) {
    let info: [&[u8]; 2] = [b"wrap", &neighbour.0.to_le_bytes()];
    let mut pad = Zeroizing::new([0; 32]);
    derive(owner.expose(), study, &info, &mut pad);
    for (byte, pad) in bytes.iter_mut().zip(&*pad) {
        *byte ^= pad;
    }
}

/// The seed of the mask that `one` and `other` share in `sum` if both mask it in `context`; `None`
/// for a key of small order.
pub(crate) fn pair_seed(
    (secret, public): (&StaticSecret, &[u8; 32]),
    pair_secret: &PairSecret,
    study: &StudyId,
    (sum, context): (u32, &[u8; 32]),
    (one, other): (ClientId, ClientId),
) -> Option<MaskSeed> {
    let both = joined(agree(secret, public)?.expose(), pair_secret.expose());
    let (low, high) = (
        one.min(other).0.to_le_bytes(),
        one.max(other).0.to_le_bytes(),
    );
    let info: [&[u8]; 5] = [b"pair mask", &sum.to_le_bytes(), &low, &high, context];
    Some(MaskSeed::filled(|output| {
        derive(&*both, study, &info, output);
    }))
}

#[cfg(test)]
mod tests;
