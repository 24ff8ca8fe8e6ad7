//! A client that has shared its secrets and waits for the shares of its neighbours.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::client::Own;
use crate::client::joining::decrypt;
use crate::client::ready::{Ready, Trusted};
use crate::client_set::ClientSet;
use crate::identity::ClientId;
use crate::keys::ChannelSecret;
use crate::rejected::Reason;

/// A neighbour whose keys were checked.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) id: ClientId,
    pub(super) slot: u8,
    pub(super) channel: ChannelSecret,
    pub(super) masks: Vec<[u8; 32]>,
}

#[derive(PartialEq, Eq)]
pub(super) struct Sharing {
    pub(super) peers: Vec<Peer>,
}

impl Sharing {
    /// Checks who takes part and opens the bundles of neighbours.
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
        let mut trusted = Vec::with_capacity(bundles.len());
        for (id, (sender, sealed)) in present.into_iter().zip(bundles) {
            let peer = self.peers.iter().find(|peer| peer.id == id);
            let peer = peer
                .filter(|peer| peer.id == *sender)
                .ok_or(Reason::NotANeighbour)?;
            trusted.push(Trusted {
                shares: open(own, peer, sealed),
                peer: peer.clone(),
            });
        }
        Ok(Ready::new(
            sharers.clone(),
            own.study.directory_digest(sharers),
            trusted,
        ))
    }
}

/// A bundle that does not open is its sender's fault and costs the sender a share, nobody else.
fn open(own: &Own, peer: &Peer, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let study = own.study.id();
    let key = peer.channel.bundle_key(study, peer.id, own.me);
    let opened = decrypt(&key, study, (peer.id, own.me), sealed)?;
    (opened.len() == 64 * own.study.n_sums() as usize).then_some(opened)
}
