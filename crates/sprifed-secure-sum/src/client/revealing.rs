//! The last step of a sum: with enough signatures for the survivor set, shares are revealed.

use subtle::ConstantTimeEq;

use crate::client::Own;
use crate::client::bundle::decrypt;
use crate::client::ready::{Ready, Trusted};
use crate::identity::ClientId;
use crate::message::{Body, Confirmation, RevealedShare, ShareKind, Unmask};
use crate::notice::Certificate;
use crate::rejected::Reason;
use crate::signed::{Phase, are_signed, is_signed};

/// A certificate that a client of this process has checked.
///
/// It cannot be read from bytes. Clients that share a process trust it with all their secrets
/// anyway, so one of them may check the signatures for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedCertificate {
    /// Names study, sum, context, directory and survivors.
    digest: [u8; 32],
}

impl Ready {
    pub(super) fn check_certificate(
        &self,
        own: &Own,
        sum: u32,
        certificate: &Certificate,
    ) -> Result<CheckedCertificate, Reason> {
        let confirmed = self
            .confirmed
            .get(&sum)
            .ok_or(Reason::WrongSum { found: sum })?;
        check(own, sum, &confirmed.digest, certificate)?;
        Ok(CheckedCertificate {
            digest: confirmed.digest,
        })
    }

    /// Reveals, for every neighbour, the share of one of its two secrets.
    ///
    /// # Trust
    /// None: a survivor set with `confirmations` signatures is the only one that any honest
    /// client accepts, as honest clients sign one set for each sum [BIKMMPRSS17, Sec. 6.2].
    pub(super) fn take_certificate(
        &mut self,
        own: &Own,
        sum: u32,
        checked: &CheckedCertificate,
        tags: &[(ClientId, [u8; 16])],
    ) -> Result<Unmask, Reason> {
        let confirmed = self
            .confirmed
            .get(&sum)
            .ok_or(Reason::WrongSum { found: sum })?;
        if confirmed.revealed {
            return Err(Reason::Repeated);
        }
        if checked.digest != confirmed.digest {
            return Err(Reason::OtherDigest);
        }
        let place = (sum, &confirmed.context);
        let mut shares = Vec::with_capacity(self.trusted.len());
        for trusted in &self.trusted {
            let survived = confirmed.survivors.contains(trusted.peer.id);
            if survived && !self.is_tagged(own, place, trusted, tags) {
                // The neighbour masked in another directory or context, or claims so: its upload
                // may be less well hidden than it seems. Its own mask stays on, because this share
                // is missing.
                continue;
            }
            let kind = if survived {
                ShareKind::SelfSeed
            } else {
                ShareKind::MaskKey
            };
            shares.extend(revealed(own, trusted, sum, kind));
        }
        if let Some(confirmed) = self.confirmed.get_mut(&sum) {
            confirmed.revealed = true;
        }
        Ok(Unmask { shares })
    }

    fn is_tagged(
        &self,
        own: &Own,
        place: (u32, &[u8; 32]),
        trusted: &Trusted,
        tags: &[(ClientId, [u8; 16])],
    ) -> bool {
        let peer = &trusted.peer;
        let expected = peer
            .channel
            .tag(own.study.id(), (peer.id, own.me), place, &self.directory);
        let shown = tags.iter().find(|(client, _)| *client == peer.id);
        shown.is_some_and(|(_, tag)| bool::from(tag.ct_eq(&expected)))
    }
}

/// Whether enough clients, each once, signed exactly this digest.
fn check(own: &Own, sum: u32, digest: &[u8; 32], certificate: &Certificate) -> Result<(), Reason> {
    let required = own.study.parameters().confirmations();
    let body = Body::Confirmation(Confirmation { digest: *digest }).encode();
    let mut last = None;
    let ascending = certificate
        .signatures
        .iter()
        .take_while(|(signer, _)| last.replace(*signer).is_none_or(|before| before < *signer));
    let shown: Vec<_> = ascending.take(required as usize).copied().collect();
    if shown.len() == required as usize
        && are_signed(&own.study, Phase::Confirm, sum, &body, &shown)
    {
        return Ok(());
    }
    let good = shown.iter().filter(|(signer, signature)| {
        is_signed(&own.study, Phase::Confirm, sum, *signer, &body, signature)
    });
    let found = good.count();
    Err(Reason::TooFewConfirmations { found, required })
}

/// The share of one of the neighbour's secrets that the neighbour gave to this client.
///
/// A bundle that does not open is its sender's fault and costs only the sender a share.
fn revealed(own: &Own, trusted: &Trusted, sum: u32, kind: ShareKind) -> Option<RevealedShare> {
    let (study, peer) = (own.study.id(), &trusted.peer);
    let opened = decrypt(&trusted.key, study, (peer.id, own.me), &trusted.sealed)?;
    let start = 64 * sum as usize + if kind == ShareKind::MaskKey { 0 } else { 32 };
    let share = opened.get(start..start + 32)?.try_into().ok()?;
    Some(RevealedShare {
        slot: peer.slot,
        kind,
        share,
    })
}
