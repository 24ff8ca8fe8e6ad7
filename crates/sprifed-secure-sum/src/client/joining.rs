//! A client that has published its keys and waits for those of its neighbours.

use std::sync::Arc;

use x25519_dalek::PublicKey;

use crate::client::Own;
use crate::client::agreeing::{Agreeing, Candidate};
use crate::identity::ClientId;
use crate::kem;
use crate::keys::commitment;
use crate::message::{Body, Ciphertext, Ciphertexts, Keys, SumKeys};
use crate::pair::{ChannelSecret, Transcript, agree};
use crate::rejected::Reason;
use crate::signed::{Phase, SignedMessage, sign_ciphertext};

#[derive(PartialEq, Eq)]
pub(super) struct Joining;

impl Joining {
    /// The keys to publish; `None` if secrets that they come from were erased.
    pub(super) fn keys(own: &Own) -> Option<Keys> {
        let (study, secrets) = (own.study.id(), &own.secrets);
        let sums = (0..own.study.n_sums()).map(|sum| {
            let own_seed = secrets.self_seed(study, sum)?;
            Some(SumKeys {
                mask: secrets.mask_secret(study, sum)?.public(study),
                commitment: commitment(&own_seed, study, sum, own.me),
            })
        });
        Some(Keys {
            channel: PublicKey::from(&secrets.channel_key(study)).to_bytes(),
            sealing: PublicKey::from(&secrets.sealing_key(study)?).to_bytes(),
            kem: secrets.kem_key(study).public(),
            sums: sums.collect::<Option<_>>()?,
        })
    }

    /// Checks the neighbours' keys and encapsulates to those with larger numbers.
    #[expect(clippy::unused_self, reason = "the phase is what allows it")]
    pub(super) fn take_directory(
        &self,
        own: &Own,
        directory: &[Arc<SignedMessage>],
    ) -> Result<(Agreeing, Ciphertexts), Reason> {
        let mut candidates: Vec<Candidate> = Vec::with_capacity(directory.len());
        let mut ciphertexts = Vec::new();
        for message in directory {
            let id = message.sender;
            let slot = own
                .study
                .graph()
                .slot(own.me, id)
                .ok_or(Reason::NotANeighbour)?;
            if candidates.last().is_some_and(|before| before.slot >= slot) {
                return Err(Reason::NotANeighbour);
            }
            let keys = check(own, message)?;
            let own_channel = own.secrets.channel_key(own.study.id());
            let agreed = agree(&own_channel, &keys.channel).ok_or(Reason::WeakKey)?;
            let mut candidate = Candidate {
                id,
                slot,
                agreed,
                channel: None,
                keys: Arc::clone(message),
            };
            if own.me < id {
                let (channel, ciphertext) = encapsulate(own, &candidate, &keys)?;
                candidate.channel = Some(channel);
                ciphertexts.push((slot, Arc::new(ciphertext)));
            }
            candidates.push(candidate);
        }
        enough(own, "the directory", candidates.len())?;
        Ok((Agreeing { candidates }, Ciphertexts { ciphertexts }))
    }
}

/// Whether so many neighbours can rebuild a secret.
pub(super) fn enough(own: &Own, what: &'static str, found: usize) -> Result<(), Reason> {
    let required = own.study.parameters().threshold() as usize;
    if found < required {
        return Err(Reason::WrongLength {
            what,
            found,
            required,
        });
    }
    Ok(())
}

fn check(own: &Own, message: &Arc<SignedMessage>) -> Result<Keys, Reason> {
    let id: ClientId = message.sender;
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
    keys.flaw().map_or(Ok(keys), Err)
}

fn encapsulate(
    own: &Own,
    to: &Candidate,
    keys: &Keys,
) -> Result<(ChannelSecret, Ciphertext), Reason> {
    let study = own.study.id();
    let coins = own.secrets.coins(study, to.id, &keys.kem);
    let (bytes, secret) = kem::encapsulate(&keys.kem, &coins).ok_or(Reason::NotAKemKey)?;
    let own_channel = PublicKey::from(&own.secrets.channel_key(study)).to_bytes();
    let transcript = Transcript {
        smaller: (own.me, &own_channel),
        larger: (to.id, &keys.channel),
        kem: &keys.kem,
        ciphertext: &bytes,
    };
    let channel = ChannelSecret::new(&to.agreed, &secret, study, &transcript);
    let signature = sign_ciphertext(&own.identity, study, (own.me, to.id), &bytes);
    Ok((channel, Ciphertext { bytes, signature }))
}
