//! A client that has encapsulated to its larger neighbours and waits for the ciphertexts of the
//! smaller ones.

use std::sync::Arc;

use x25519_dalek::PublicKey;

use crate::client::Own;
use crate::client::joining::enough;
use crate::client::sharing::{Peer, Sharing};
use crate::identity::ClientId;
use crate::kem::{KEY_BYTES, KemKey};
use crate::message::{Ciphertext, Keys};
use crate::pair::{Agreed, ChannelSecret, Transcript};
use crate::rejected::Reason;
use crate::signed::{SignedMessage, is_signed_ciphertext};

/// A neighbour whose keys were checked.
#[derive(PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) id: ClientId,
    pub(super) slot: u8,
    pub(super) agreed: Agreed,
    /// With the neighbours to which this client encapsulated.
    pub(super) channel: Option<ChannelSecret>,
    pub(super) keys: Arc<SignedMessage>,
}

#[derive(PartialEq, Eq)]
pub(super) struct Agreeing {
    pub(super) candidates: Vec<Candidate>,
}

/// This client's half of agreements in which it is the larger one.
struct Opening {
    key: KemKey,
    kem: Box<[u8; KEY_BYTES]>,
    channel: [u8; 32],
}

impl Agreeing {
    /// Opens what smaller neighbours sent.
    pub(super) fn take_ciphertexts(
        &self,
        own: &Own,
        neighbours: &[(ClientId, Option<Arc<Ciphertext>>)],
    ) -> Result<Sharing, Reason> {
        let study = own.study.id();
        let key = own.secrets.kem_key(study);
        let opening = Opening {
            kem: key.public(),
            key,
            channel: PublicKey::from(&own.secrets.channel_key(study)).to_bytes(),
        };
        let mut peers: Vec<Peer> = Vec::with_capacity(neighbours.len());
        for (id, ciphertext) in neighbours {
            let candidate = self.candidates.iter().find(|known| known.id == *id);
            let candidate = candidate.ok_or(Reason::NotANeighbour)?;
            let is_next = peers
                .last()
                .is_none_or(|before| before.slot < candidate.slot);
            if !is_next || ciphertext.is_some() != (*id < own.me) {
                return Err(Reason::NotANeighbour);
            }
            let channel = match (&candidate.channel, ciphertext) {
                (Some(channel), _) => channel.clone(),
                (None, Some(ciphertext)) => opening.open(own, candidate, ciphertext)?,
                (None, None) => return Err(Reason::NotANeighbour),
            };
            let (slot, keys) = (candidate.slot, Arc::clone(&candidate.keys));
            peers.push(Peer::new(*id, slot, channel, keys));
        }
        enough(own, "the list of ciphertexts", peers.len())?;
        Ok(Sharing { peers })
    }
}

impl Opening {
    fn open(
        &self,
        own: &Own,
        from: &Candidate,
        ciphertext: &Ciphertext,
    ) -> Result<ChannelSecret, Reason> {
        let route = (from.id, own.me);
        if !is_signed_ciphertext(&own.study, route, ciphertext) {
            let (from, to) = route;
            return Err(Reason::UnsignedCiphertext { from, to });
        }
        let theirs = Keys::channel_in(&from.keys.body).ok_or(Reason::WeakKey)?;
        let transcript = Transcript {
            smaller: (from.id, theirs),
            larger: (own.me, &self.channel),
            kem: &self.kem,
            ciphertext: &ciphertext.bytes,
        };
        let secret = self.key.open(&ciphertext.bytes);
        let study = own.study.id();
        Ok(ChannelSecret::new(
            &from.agreed,
            &secret,
            study,
            &transcript,
        ))
    }
}
