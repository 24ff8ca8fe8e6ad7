//! A client that has published its keys and waits for those of its neighbours.

use std::sync::Arc;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use x25519_dalek::PublicKey;
use zeroize::Zeroizing;

use crate::client::Own;
use crate::client::sharing::{Peer, Sharing};
use crate::identity::ClientId;
use crate::keys::{BundleKey, channel_secret, commitment};
use crate::message::{Body, Keys, Shares, SumKeys};
use crate::rejected::Reason;
use crate::secret_sharing::deal;
use crate::signed::{Phase, SignedMessage};
use crate::study::StudyId;

#[derive(PartialEq, Eq)]
pub(super) struct Joining;

impl Joining {
    pub(super) fn open(own: &Own) -> (Self, Keys) {
        let study = own.study.id();
        let sums = (0..own.study.n_sums()).map(|sum| SumKeys {
            mask: PublicKey::from(&own.seed.mask_key(study, sum)).to_bytes(),
            commitment: commitment(&own.seed.self_seed(study, sum), study, sum, own.me),
        });
        let channel = PublicKey::from(&own.seed.channel_key(study)).to_bytes();
        (
            Self,
            Keys {
                channel,
                sums: sums.collect(),
            },
        )
    }

    /// Checks the neighbours' keys and shares this client's secrets among them.
    #[expect(clippy::unused_self, reason = "the phase is what allows it")]
    pub(super) fn take_directory(
        &self,
        own: &Own,
        directory: &[Arc<SignedMessage>],
    ) -> Result<(Sharing, Shares), Reason> {
        let mut peers: Vec<Peer> = Vec::with_capacity(directory.len());
        for message in directory {
            let id = message.sender;
            let slot = own
                .study
                .graph()
                .slot(own.me, id)
                .ok_or(Reason::NotANeighbour)?;
            if peers.last().is_some_and(|before| before.slot >= slot) {
                return Err(Reason::NotANeighbour);
            }
            peers.push(check(own, message, slot)?);
        }
        let (found, required) = (peers.len(), own.study.parameters().threshold());
        if found < required as usize {
            let required = required as usize;
            return Err(Reason::WrongLength {
                what: "the directory",
                found,
                required,
            });
        }
        let shares = share(own, &peers)?;
        Ok((Sharing { peers }, shares))
    }
}

fn check(own: &Own, message: &Arc<SignedMessage>, slot: u8) -> Result<Peer, Reason> {
    let id = message.sender;
    message
        .verify(&own.study, id)
        .map_err(|rejected| rejected.reason)?;
    if message.phase != Phase::Keys || message.sum != 0 {
        return Err(Reason::WrongPhase {
            found: message.phase,
        });
    }
    let Body::Keys(keys) = Body::decode(Phase::Keys, &message.body)? else {
        return Err(Reason::WrongPhase {
            found: message.phase,
        });
    };
    let (found, required) = (keys.sums.len(), own.study.n_sums() as usize);
    if found != required {
        return Err(Reason::WrongLength {
            what: "a list of keys",
            found,
            required,
        });
    }
    // An honest coordinator has refused such keys, so it is the one to blame.
    if keys.are_weak() {
        return Err(Reason::WeakKey);
    }
    let study = own.study.id();
    let channel = channel_secret(
        &own.seed.channel_key(study),
        &keys.channel,
        study,
        (own.me, id),
    );
    let channel = channel.ok_or(Reason::WeakKey)?;
    Ok(Peer::new(id, slot, channel, Arc::clone(message)))
}

/// Every sum's mask key and self-mask seed in one string, shared among all slots and encrypted to
/// those that are present.
fn share(own: &Own, peers: &[Peer]) -> Result<Shares, Reason> {
    let (study, parameters) = (own.study.id(), own.study.parameters());
    let mut secrets = Zeroizing::new(Vec::with_capacity(64 * own.study.n_sums() as usize));
    for sum in 0..own.study.n_sums() {
        secrets.extend_from_slice(own.seed.mask_key(study, sum).as_bytes());
        secrets.extend_from_slice(own.seed.self_seed(study, sum).expose());
    }
    let dealt = deal(
        &secrets,
        parameters.threshold(),
        parameters.neighbours(),
        &own.seed.dealing_seed(study),
    );
    let mut bundles = Vec::with_capacity(peers.len());
    for peer in peers {
        let plain = dealt
            .get(usize::from(peer.slot))
            .ok_or(Reason::NotANeighbour)?;
        let key = peer.channel.bundle_key(study, own.me, peer.id);
        bundles.push((peer.slot, encrypt(&key, study, (own.me, peer.id), plain)));
    }
    Ok(Shares { bundles })
}

/// Each key encrypts one text, which is a function of the client's seed: the nonce can be fixed.
pub(super) fn encrypt(
    key: &BundleKey,
    study: &StudyId,
    route: (ClientId, ClientId),
    plain: &[u8],
) -> Vec<u8> {
    let cipher = ChaCha20Poly1305::new(<&Key>::from(key.expose()));
    let aad = associated(study, route);
    let sealed = cipher.encrypt(
        &Nonce::default(),
        Payload {
            msg: plain,
            aad: &aad,
        },
    );
    debug_assert!(sealed.is_ok(), "a bundle is not too long for the cipher");
    sealed.unwrap_or_default()
}

pub(super) fn decrypt(
    key: &BundleKey,
    study: &StudyId,
    route: (ClientId, ClientId),
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let cipher = ChaCha20Poly1305::new(<&Key>::from(key.expose()));
    let aad = associated(study, route);
    let opened = cipher.decrypt(
        &Nonce::default(),
        Payload {
            msg: sealed,
            aad: &aad,
        },
    );
    opened.ok().map(Zeroizing::new)
}

fn associated(study: &StudyId, (from, to): (ClientId, ClientId)) -> Vec<u8> {
    [
        study.as_bytes().as_slice(),
        &from.0.to_le_bytes(),
        &to.0.to_le_bytes(),
    ]
    .concat()
}
