//! One party's secret of one study, and everything that is derived from it.
//!
//! A party draws 256 bits once. Its masks and its noise for each sum are functions of them, so a
//! party that was restarted makes what it made before: nothing is drawn twice for one sum, and no
//! second vector is ever hidden by the same masks.
//!
//! A party of a study over a network keeps a *split* key: a root, a secret of the exchange of keys
//! and one secret for each step of the plan, with the 256 bits themselves forgotten. What is not
//! needed any more is erased, and nothing that is left gives it back.

use hkdf::Hkdf;
use sha2::{Digest as _, Sha256};
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::Trustee;
use sprifed_secure_sum::{ClientSecrets, ClientSeed, IdentityKey};
use sprifed_trustees::{AttemptId, Chain, PairingKeys, PairingSeed, StepKey};
use zeroize::Zeroizing;

use crate::agreement::Agreed;
use crate::hexadecimal::Digest;

mod stored;
#[cfg(test)]
mod tests;

pub use stored::StoredKeyError;

type Secret = Zeroizing<[u8; 32]>;

/// A party's secret of one study. Never printed.
#[derive(Clone)]
pub struct PartyKey {
    secrets: Secrets,
    /// Its chains with the three trustees, once it has enrolled with them.
    trustees: Option<Box<[Chain; 3]>>,
    provenance: Provenance,
}

#[derive(Clone)]
enum Secrets {
    /// Everything comes from these bits, and nothing can be erased.
    Whole(Secret),
    /// See the module.
    Split {
        root: Secret,
        setup: Option<Secret>,
        steps: Vec<Option<Secret>>,
    },
}

impl PartyKey {
    /// A key of 256 bits.
    ///
    /// # Trust
    /// The caller vouches that they are fresh from the operating system's generator, were stored
    /// before anything was sent (as [`PartyKey::to_stored`] has them), and are used for one study
    /// only.
    #[must_use]
    pub fn assume_fresh_entropy(bytes: [u8; 32]) -> Self {
        Self {
            secrets: Secrets::Whole(Zeroizing::new(bytes)),
            trustees: None,
            provenance: Provenance::Cryptographic,
        }
    }

    /// A key that can be repeated, for simulation. What it protects is nothing.
    #[must_use]
    pub fn simulated(seed: u64, party: u32) -> Self {
        let hash = Sha256::new_with_prefix(b"sprifed: simulated party")
            .chain_update(seed.to_le_bytes())
            .chain_update(party.to_le_bytes());
        Self {
            secrets: Secrets::Whole(Zeroizing::new(hash.finalize().into())),
            trustees: None,
            provenance: Provenance::Simulated,
        }
    }

    /// One of many keys of parties that live in one process and trust each other with their memory.
    #[must_use]
    pub fn of_party(&self, party: u32) -> Self {
        let bits = derive(&self.root(), &[b"member", &party.to_le_bytes()]);
        Self {
            secrets: Secrets::Whole(bits),
            trustees: None,
            provenance: self.provenance,
        }
    }

    /// The same key as a root and one secret for each step of a plan of `n_steps`; the bits that
    /// they come from are forgotten. A key that is split already stays as it is.
    #[must_use]
    pub fn split(self, n_steps: usize) -> Self {
        if matches!(self.secrets, Secrets::Split { .. }) {
            return self;
        }
        let steps = (0..n_steps).map(|step| self.step(step));
        Self {
            secrets: Secrets::Split {
                root: self.root(),
                setup: self.setup(),
                steps: steps.collect(),
            },
            trustees: self.trustees.clone(),
            provenance: self.provenance,
        }
    }

    /// Erases the secret of a step, of which a sum was released: its masks and its noise are gone.
    /// A key that is not split is left as it is.
    pub fn forget_step(&mut self, step: usize) {
        if let Secrets::Split { steps, .. } = &mut self.secrets
            && let Some(secret) = steps.get_mut(step)
        {
            *secret = None;
        }
        let after = u32::try_from(step).unwrap_or(u32::MAX).saturating_add(1);
        for chain in self
            .trustees
            .iter_mut()
            .flat_map(|chains| chains.iter_mut())
        {
            chain.erase_before(after);
        }
    }

    /// Erases what is needed until this party's shares are published. Without it, bundles that this
    /// party sealed cannot be opened by it. A key that is not split is left as it is.
    pub fn forget_setup(&mut self) {
        if let Secrets::Split { setup, .. } = &mut self.secrets {
            *setup = None;
        }
    }

    /// Where its bits came from.
    #[must_use]
    pub const fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// The signing key of a party that has no longer-lived one.
    #[must_use]
    pub fn identity(&self) -> IdentityKey {
        IdentityKey::from_stored(&self.identity_bits())
    }

    /// The same as bits to be stored; they are as secret as the key.
    #[must_use]
    pub fn identity_bits(&self) -> [u8; 32] {
        *derive(&self.root(), &[b"identity"])
    }

    /// Public bits that no other key has.
    pub(crate) fn nonce(&self) -> Digest {
        Digest(*derive(&self.root(), &[b"nonce"]))
    }

    /// What masks are derived from, as far as it was not erased: all sums of a step are one group.
    pub(crate) fn masks(&self, agreed: &Agreed) -> ClientSecrets {
        let seed = |secret: Secret| {
            let label: [&[u8]; 2] = [b"masks", &agreed.digest().0];
            ClientSeed::from_stored(*derive(&secret, &label))
        };
        let steps = (0..agreed.n_steps()).map(|step| self.step(step).map(seed));
        ClientSecrets::new(seed(self.root()), self.setup().map(seed), steps.collect())
    }

    /// The noise of one sum in one context; `None` if there is no such sum or the secret of its step
    /// was erased.
    pub(crate) fn noise(
        &self,
        agreed: &Agreed,
        sum: u32,
        context: &Digest,
    ) -> Option<NoiseGenerator> {
        let key = self.noise_key(agreed, sum, context)?;
        Some(NoiseGenerator::assume_derived(*key, self.provenance))
    }

    /// The noise of one trustee in one step, where all trustees live in one process.
    pub(crate) fn trustee_noise(
        &self,
        study: &Digest,
        trustee: Trustee,
        step: usize,
    ) -> NoiseGenerator {
        let place: &[u8] = match trustee {
            Trustee::First => &[0],
            Trustee::Second => &[1],
            Trustee::Third => &[2],
        };
        let step = (step as u64).to_le_bytes();
        let label: [&[u8]; 4] = [b"trustee's noise", &study.0, place, &step];
        NoiseGenerator::assume_derived(*derive(&self.root(), &label), self.provenance)
    }

    /// What all other keys of clients and trustees of one process are made from.
    pub(crate) fn trustees_seed(&self, study: &Digest) -> [u8; 32] {
        *derive(&self.root(), &[b"trustees", &study.0])
    }

    /// The keys by which a client agrees on secrets with trustees; `None` once they were erased.
    pub(crate) fn pairing(&self, agreed: &Agreed, identity: [u8; 32]) -> Option<PairingKeys> {
        let label: [&[u8]; 2] = [b"pairing", &agreed.digest().0];
        let setup = self.setup()?;
        let seed = PairingSeed::from_stored(*derive(&setup, &label));
        Some(PairingKeys::new(seed, identity))
    }

    /// Keeps the chains with the three trustees, and erases what they were made from.
    pub(crate) fn enrol(&mut self, chains: [Chain; 3]) {
        self.trustees = Some(Box::new(chains));
        self.forget_setup();
    }

    /// Whether it has chains with trustees.
    pub(crate) const fn is_enrolled(&self) -> bool {
        self.trustees.is_some()
    }

    /// The keys of an upload: one of the client alone, and one with each trustee. `None` if they were
    /// erased, or never were.
    pub(crate) fn upload_keys(&self, attempt: &AttemptId) -> Option<(StepKey, [StepKey; 3])> {
        let own = self.step(attempt.step as usize)?;
        let own = derive(&own, &[b"upload", &attempt.study]);
        let own = Chain::from_stored(attempt.step, *own).key(attempt.step)?;
        let [first, second, third] = self.trustees.as_deref()?;
        let key = |chain: &Chain| chain.key(attempt.step);
        Some((own, [key(first)?, key(second)?, key(third)?]))
    }

    fn noise_key(&self, agreed: &Agreed, sum: u32, context: &Digest) -> Option<Secret> {
        let (step, _) = agreed.step_of(sum)?;
        let (agreement, number) = (&agreed.digest().0, sum.to_le_bytes());
        let label: [&[u8]; 4] = [b"noise", agreement, &number, &context.0];
        let secret = self.step(step)?;
        Some(derive(&secret, &label))
    }

    fn root(&self) -> Secret {
        match &self.secrets {
            Secrets::Whole(bits) => derive(bits, &[b"root"]),
            Secrets::Split { root, .. } => root.clone(),
        }
    }

    fn setup(&self) -> Option<Secret> {
        match &self.secrets {
            Secrets::Whole(bits) => Some(derive(bits, &[b"set-up"])),
            Secrets::Split { setup, .. } => setup.clone(),
        }
    }

    fn step(&self, step: usize) -> Option<Secret> {
        match &self.secrets {
            Secrets::Whole(bits) => {
                let number = u64::try_from(step).ok()?.to_le_bytes();
                Some(derive(bits, &[b"step", &number]))
            }
            Secrets::Split { steps, .. } => steps.get(step)?.clone(),
        }
    }
}

fn derive(secret: &[u8; 32], label: &[&[u8]]) -> Secret {
    let mut derived = Zeroizing::new([0; 32]);
    let hkdf = Hkdf::<Sha256>::new(Some(b"sprifed: party"), secret);
    let expanded = hkdf.expand_multi_info(label, &mut *derived);
    debug_assert!(expanded.is_ok(), "32 bytes can always be expanded");
    derived
}

impl core::fmt::Debug for PartyKey {
    /// The bits are secret: only where they came from is shown.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "PartyKey({:?})", self.provenance)
    }
}
