//! A trustee's secrets of one study.
//!
//! A trustee draws 256 bits once, before the agreement: its study keys and its noise come from them.
//! When clients and trustees have enrolled, each pair has a chain, and the study keys are erased. When
//! a step is over, the links of all chains up to it are erased. Nothing that is left gives them back.

use core::fmt::Write as _;

use hkdf::Hkdf;
use sha2::{Digest as _, Sha256};
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_secure_sum::IdentityKey;
use sprifed_trustees::{AttemptId, Chain, PairingKeys, PairingSeed};
use zeroize::Zeroizing;

use crate::agreement::TrusteeEntry;
use crate::party_key::StoredKeyError;

#[cfg(test)]
mod tests;

/// The first line of a stored key.
const TITLE: &str = "sprifed trustee key 1";

/// What stands for a secret that was erased, or never was.
const NONE: &str = "none";

type Secret = Zeroizing<[u8; 32]>;

/// A trustee's secrets of one study. Never printed.
#[derive(Clone)]
pub struct TrusteeKey {
    provenance: Provenance,
    /// What its study keys come from, until all have enrolled.
    pairing: Option<Secret>,
    /// Its noise, which it shares with no other party.
    noise: Chain,
    /// With the previous trustee, and with the next one.
    links: Option<[Chain; 2]>,
    /// With each client of the roster that enrolled.
    clients: Vec<Option<Chain>>,
}

impl TrusteeKey {
    /// The key that comes from 256 bits.
    ///
    /// # Trust
    /// The caller vouches that they are fresh from the operating system's generator, and are used for one
    /// study only.
    #[must_use]
    pub fn assume_fresh_entropy(bits: &[u8; 32]) -> Self {
        Self::of(bits, Provenance::Cryptographic)
    }

    /// A key that can be repeated, for simulation. What it protects is nothing.
    #[must_use]
    pub fn simulated(seed: u64, trustee: u8) -> Self {
        let bits: [u8; 32] = Sha256::new_with_prefix(b"sprifed: simulated trustee")
            .chain_update(seed.to_le_bytes())
            .chain_update([trustee])
            .finalize()
            .into();
        Self::of(&bits, Provenance::Simulated)
    }

    fn of(bits: &[u8; 32], provenance: Provenance) -> Self {
        Self {
            provenance,
            pairing: Some(derive(bits, b"study keys")),
            noise: Chain::new(*derive(bits, b"noise")),
            links: None,
            clients: Vec::new(),
        }
    }

    /// Where its bits came from.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// The study keys of the trustee with this identity; `None` after all have enrolled.
    pub(crate) fn pairing(&self, identity: [u8; 32]) -> Option<PairingKeys> {
        let seed = PairingSeed::from_stored(**self.pairing.as_ref()?);
        Some(PairingKeys::new(seed, identity))
    }

    /// What the trustee publishes before the agreement; `None` after all have enrolled.
    #[must_use]
    pub fn entry(&self, name: &str, identity: &IdentityKey) -> Option<TrusteeEntry> {
        let keys = self.pairing(identity.public())?;
        Some(TrusteeEntry::new(name, identity, keys.public().clone()))
    }

    /// Whether all have enrolled.
    #[must_use]
    pub const fn is_enrolled(&self) -> bool {
        self.links.is_some()
    }

    /// Keeps the chains with the other trustees and the clients, and erases the study keys.
    pub(crate) fn enrol(&mut self, links: [Chain; 2], clients: Vec<Option<Chain>>) {
        self.links = Some(links);
        self.clients = clients;
        self.pairing = None;
    }

    pub(crate) const fn links(&self) -> Option<&[Chain; 2]> {
        self.links.as_ref()
    }

    pub(crate) fn clients(&self) -> &[Option<Chain>] {
        &self.clients
    }

    /// The first step whose keys were not erased.
    pub(crate) const fn step(&self) -> u32 {
        self.noise.step()
    }

    /// The noise of an attempt; `None` if its step is not the present one.
    pub(crate) fn noise(&self, attempt: &AttemptId) -> Option<NoiseGenerator> {
        let key = self.noise.key(attempt.step)?.noise(attempt);
        Some(NoiseGenerator::assume_derived(*key, self.provenance))
    }

    /// Erases the keys of all steps before `step`, permanently.
    pub(crate) fn erase_before(&mut self, step: u32) {
        self.noise.erase_before(step);
        let clients = self.clients.iter_mut().flatten();
        for chain in clients.chain(self.links.iter_mut().flatten()) {
            chain.erase_before(step);
        }
    }

    /// The text to store; it is as secret as the key. `None` for a key that can be repeated.
    #[must_use]
    pub fn to_stored(&self) -> Option<Zeroizing<String>> {
        if self.provenance != Provenance::Cryptographic {
            return None;
        }
        // As long as it gets, so that no part of it is left behind where it was moved from.
        let bytes = TITLE.len() + 128 * (self.clients.len() + 6);
        let mut text = Zeroizing::new(String::with_capacity(bytes));
        let _infallible = writeln!(text, "{TITLE}");
        let pairing = self.pairing.as_ref().map(|secret| (0, secret.clone()));
        add_line(&mut text, "study", pairing);
        add_line(&mut text, "noise", Some(stored(&self.noise)));
        let [previous, next] = match &self.links {
            Some([previous, next]) => [Some(stored(previous)), Some(stored(next))],
            None => [None, None],
        };
        add_line(&mut text, "previous", previous);
        add_line(&mut text, "next", next);
        let _infallible = writeln!(text, "clients {}", self.clients.len());
        for chain in &self.clients {
            add_line(&mut text, "client", chain.as_ref().map(stored));
        }
        Some(text)
    }

    /// The key that was stored.
    ///
    /// # Errors
    /// When the text is none.
    pub fn from_stored(text: &str) -> Result<Self, StoredKeyError> {
        let mut lines = text.lines();
        if lines.next() != Some(TITLE) {
            return Err(StoredKeyError::Title);
        }
        let mut number = 1;
        let wrong = |line: usize, required: &str| StoredKeyError::Line {
            line,
            required: required.to_owned(),
        };
        let mut next = |required: &str| {
            number += 1;
            let line = lines.next().and_then(|line| line.strip_prefix(required));
            line.map(|rest| (number, rest))
                .ok_or_else(|| wrong(number, required))
        };
        let secret = |(number, rest): (usize, &str), required: &str| {
            read_secret(rest).ok_or_else(|| wrong(number, required))
        };
        let pairing = secret(next("study ")?, "study")?;
        let noise = secret(next("noise ")?, "noise")?.ok_or_else(|| wrong(3, "noise"))?;
        let previous = secret(next("previous ")?, "previous")?;
        let following = secret(next("next ")?, "next")?;
        let (_, count) = next("clients ")?;
        let count: usize = count.parse().map_err(|_| wrong(6, "clients"))?;
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(secret(next("client ")?, "client")?.map(chain));
        }
        Ok(Self {
            provenance: Provenance::Cryptographic,
            pairing: pairing.map(|(_, secret)| secret),
            noise: chain(noise),
            links: previous
                .zip(following)
                .map(|(previous, next)| [chain(previous), chain(next)]),
            clients,
        })
    }
}

impl core::fmt::Debug for TrusteeKey {
    /// Only where its bits came from.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "TrusteeKey({:?})", self.provenance)
    }
}

fn stored(chain: &Chain) -> (u32, Secret) {
    let (step, link) = chain.to_stored();
    (step, Zeroizing::new(link))
}

fn chain((step, link): (u32, Secret)) -> Chain {
    Chain::from_stored(step, *link)
}

fn add_line(text: &mut String, name: &str, secret: Option<(u32, Secret)>) {
    let Some((step, secret)) = secret else {
        let _infallible = writeln!(text, "{name} {NONE}");
        return;
    };
    let mut digits = Zeroizing::new([0; 64]);
    let _infallible = hex::encode_to_slice(secret.as_slice(), digits.as_mut_slice());
    let _infallible = write!(text, "{name} {step} ");
    text.extend(digits.iter().copied().map(char::from));
    text.push('\n');
}

/// The step and the secret of a line, or that there is none; `None` if it is neither.
fn read_secret(text: &str) -> Option<Option<(u32, Secret)>> {
    if text == NONE {
        return Some(None);
    }
    let (step, digits) = text.split_once(' ')?;
    let mut secret = Zeroizing::new([0; 32]);
    hex::decode_to_slice(digits, secret.as_mut_slice()).ok()?;
    Some(Some((step.parse().ok()?, secret)))
}

fn derive(bits: &[u8; 32], label: &[u8]) -> Secret {
    let mut derived = Zeroizing::new([0; 32]);
    let hkdf = Hkdf::<Sha256>::new(Some(b"sprifed: trustee"), bits);
    let expanded = hkdf.expand(label, &mut *derived);
    debug_assert!(expanded.is_ok(), "32 bytes can always be expanded");
    derived
}
