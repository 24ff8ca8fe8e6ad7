//! What a client entrusts to a neighbour: shares of its secrets, encrypted.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use zeroize::Zeroizing;

use crate::client::Own;
use crate::client::sharing::Peer;
use crate::identity::ClientId;
use crate::message::{Bundle, Shares, Wrap};
use crate::pair::{BundleKey, agree};
use crate::rejected::Reason;
use crate::secret_sharing::deal;
use crate::study::StudyId;

/// Every sum's mask secret and own-mask seed, shared among all slots and encrypted to those that
/// are present; and for each of these what a dropout would need of it.
pub(super) fn share(own: &Own, peers: &[Peer]) -> Result<Shares, Reason> {
    let study = own.study.id();
    let n_sums = own.study.n_sums();
    let sealing = own.secrets.sealing_key(study).ok_or(Reason::Erased)?;
    let bytes = 64 * n_sums as usize;
    let mut plain: Vec<_> = peers
        .iter()
        .map(|_| Zeroizing::new(Vec::with_capacity(bytes)))
        .collect();
    let mut wraps: Vec<Vec<Wrap>> = vec![Vec::with_capacity(n_sums as usize); peers.len()];
    for sum in 0..n_sums {
        let dealt = dealt(own, sum).ok_or(Reason::Erased)?;
        let mask = own.secrets.mask_secret(study, sum).ok_or(Reason::Erased)?;
        for ((peer, plain), wraps) in peers.iter().zip(&mut plain).zip(&mut wraps) {
            let share = dealt.get(usize::from(peer.slot));
            plain.extend_from_slice(share.ok_or(Reason::NotANeighbour)?);
            let pair_secret = peer.channel.pair_secret(study, sum);
            wraps.push(pair_secret.wrapped(&mask, study, sum, peer.id));
        }
    }
    let mut bundles = Vec::with_capacity(peers.len());
    for ((peer, plain), wraps) in peers.iter().zip(&plain).zip(wraps) {
        let route = (own.me, peer.id);
        let channel = peer.channel_key().ok_or(Reason::WeakKey)?;
        let sealed_by = agree(&sealing, channel).ok_or(Reason::WeakKey)?;
        let key = peer.channel.bundle_key(&sealed_by, study, route);
        bundles.push(Bundle {
            slot: peer.slot,
            sealed: encrypt(&key, study, route, plain),
            wraps,
        });
    }
    Ok(Shares { bundles })
}

/// The shares of both secrets of one sum, by slot.
fn dealt(own: &Own, sum: u32) -> Option<Vec<Zeroizing<Vec<u8>>>> {
    let (study, parameters) = (own.study.id(), own.study.parameters());
    let mut secrets = Zeroizing::new(Vec::with_capacity(64));
    secrets.extend_from_slice(own.secrets.mask_secret(study, sum)?.expose());
    secrets.extend_from_slice(own.secrets.self_seed(study, sum)?.expose());
    Some(deal(
        &secrets,
        parameters.threshold(),
        parameters.neighbours(),
        &own.secrets.dealing_seed(study, sum)?,
    ))
}

/// Each key encrypts one text, which is a function of the client's secrets: the nonce can be fixed.
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
