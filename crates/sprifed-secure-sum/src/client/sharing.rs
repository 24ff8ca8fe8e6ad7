//! A client that has shared its secrets and waits for the shares of its neighbours.

use std::sync::Arc;

use crate::client::Own;
use crate::client::ready::{Ready, Trusted};
use crate::client_set::ClientSet;
use crate::identity::ClientId;
use crate::message::Keys;
use crate::pair::{ChannelSecret, agree};
use crate::rejected::Reason;
use crate::signed::SignedMessage;

/// A neighbour whose keys were checked.
///
/// Its signed keys and its bundle are kept unchanged: clients of one process share them with
/// the coordinator, and shares of secrets lie encrypted until they are revealed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) id: ClientId,
    pub(super) slot: u8,
    pub(super) channel: ChannelSecret,
    keys: Arc<SignedMessage>,
}

impl Peer {
    pub(super) const fn new(
        id: ClientId,
        slot: u8,
        channel: ChannelSecret,
        keys: Arc<SignedMessage>,
    ) -> Self {
        Self {
            id,
            slot,
            channel,
            keys,
        }
    }

    /// The key by which others encrypt to it.
    pub(super) fn channel_key(&self) -> Option<&[u8; 32]> {
        Keys::channel_in(&self.keys.body)
    }

    /// The key by which it agrees on the masks of `sum`.
    pub(super) fn mask_key(&self, sum: u32) -> Option<&[u8; 32]> {
        Keys::mask_in(&self.keys.body, sum)
    }
}

#[derive(PartialEq, Eq)]
pub(super) struct Sharing {
    pub(super) peers: Vec<Peer>,
}

impl Sharing {
    /// Checks the list of clients and keeps the bundles of neighbours.
    pub(super) fn take_bundles(
        &self,
        own: &Own,
        sharers: &ClientSet,
        bundles: &[(ClientId, Arc<Vec<u8>>)],
    ) -> Result<Ready, Reason> {
        let n_clients = own.study.roster().n_clients();
        if sharers.n_clients() != n_clients || !sharers.contains(own.me) {
            return Err(Reason::ContradictorySet);
        }
        if !own.study.suffices(sharers) {
            let quorum = own.study.participation().quorum();
            return Err(Reason::TooFewPresent {
                found: sharers.len(),
                quorum,
            });
        }
        let present = own.study.neighbours_in(own.me, sharers);
        if present.len() != bundles.len() {
            let (found, required) = (bundles.len(), present.len());
            return Err(Reason::WrongLength {
                what: "the list of bundles",
                found,
                required,
            });
        }
        let study = own.study.id();
        let own_channel = own.secrets.channel_key(study);
        let mut trusted = Vec::with_capacity(bundles.len());
        for (id, (sender, sealed)) in present.into_iter().zip(bundles) {
            let peer = self.peers.iter().find(|peer| peer.id == id);
            let peer = peer
                .filter(|peer| peer.id == *sender)
                .ok_or(Reason::NotANeighbour)?;
            let sealing = Keys::sealing_in(&peer.keys.body).ok_or(Reason::WeakKey)?;
            let sealed_by = agree(&own_channel, sealing).ok_or(Reason::WeakKey)?;
            let key = peer.channel.bundle_key(&sealed_by, study, (id, own.me));
            trusted.push(Trusted {
                peer: peer.clone(),
                key,
                sealed: Arc::clone(sealed),
            });
        }
        Ok(Ready::new(
            sharers.clone(),
            own.study.directory_digest(sharers),
            trusted,
        ))
    }
}
