//! From what the noise and the rounding of a step come: a key of this run, or the keys and the transcript of a study.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::Trustee;
use sprifed_secure_sum::ClientId;
use sprifed_trustees::{Counted, Output, TrusteeId};

use super::TrusteesError;
use crate::agreement::Agreed;
use crate::hexadecimal::Digest;
use crate::party_key::PartyKey;
use crate::transcript::{Released, Transcript};
use crate::trustee_attempt::OpenedStep;
use crate::trustee_key::TrusteeKey;

/// See the module.
pub(super) enum Course {
    /// One key for all, and the digest of this run.
    Own { key: PartyKey, study: Digest },
    /// As in the study between machines with this agreement.
    Agreed(Box<AgreedCourse>),
}

/// What decides the noise of a study between machines.
pub(super) struct AgreedCourse {
    agreed: Arc<Agreed>,
    trustees: [TrusteeKey; 3],
    /// How each step is opened; steps beyond the end are opened in the first attempt, with all clients inside.
    steps: Vec<OpenedStep>,
    transcript: Transcript,
}

impl AgreedCourse {
    /// The course of the study `agreed` from its beginning.
    ///
    /// # Errors
    /// When the agreement does not name trustees with these keys.
    pub(super) fn new(
        agreed: Arc<Agreed>,
        trustees: [TrusteeKey; 3],
        steps: Vec<OpenedStep>,
    ) -> Result<Self, TrusteesError> {
        let named = agreed.trustees().ok_or(TrusteesError::NoTrustees)?;
        let own = TrusteeId::ALL.iter().zip(&trustees).zip(named.identities());
        for ((trustee, key), identity) in own {
            let keys = key.pairing(identity);
            let is_own = keys.is_some_and(|keys| keys.public() == named.key(*trustee));
            if !is_own || key.provenance() != agreed.agreement().noise {
                let trustee = *trustee;
                return Err(TrusteesError::OtherKey { trustee });
            }
        }
        Ok(Self {
            transcript: Transcript::begin(agreed.digest()),
            agreed,
            trustees,
            steps,
        })
    }

    /// The number of the attempt in which a step is opened; `None` if it was not agreed on.
    fn sum(&self, step: usize) -> Option<u32> {
        let attempt = self.steps.get(step).map_or(0, |opened| opened.attempt);
        self.agreed.sum_number(step, attempt)
    }

    fn noise(&self, trustee: Trustee, step: usize) -> Option<NoiseGenerator> {
        let [first, second, third] = &self.trustees;
        let mut key = match trustee {
            Trustee::First => first.clone(),
            Trustee::Second => second.clone(),
            Trustee::Third => third.clone(),
        };
        key.erase_before(u32::try_from(step).ok()?);
        let attempt = self.sum(step)?;
        key.noise(&self.agreed.attempt_id(attempt, self.transcript.head())?)
    }
}

impl Course {
    pub(super) fn provenance(&self) -> Provenance {
        match self {
            Self::Own { key, .. } => key.provenance(),
            Self::Agreed(course) => course.agreed.agreement().noise,
        }
    }

    /// The noise of a trustee in a step; `None` if the step was not agreed on.
    pub(super) fn noise(&self, trustee: Trustee, step: usize) -> Option<NoiseGenerator> {
        match self {
            Self::Own { key, study } => Some(key.trustee_noise(study, trustee, step)),
            Self::Agreed(course) => course.noise(trustee, step),
        }
    }

    /// The seed of the public rounding of a step.
    pub(super) fn dither_seed(&self, step: usize) -> u64 {
        match self {
            Self::Own { study, .. } => own_dither_seed(study, step),
            Self::Agreed(course) => {
                let sum = course.sum(step);
                sum.map_or(0, |sum| course.agreed.dither_seed(sum))
            }
        }
    }

    /// Goes on after a step was opened with these clients.
    pub(super) fn go_on(&mut self, step: usize, clients: &[ClientId], output: &Output) {
        if let Self::Agreed(course) = self
            && let Some(sum) = course.sum(step)
        {
            let outside = course.steps.get(step).map(|opened| opened.outside.clone());
            let clients = Counted {
                inside: clients.to_vec(),
                outside: outside.unwrap_or_default(),
            };
            let released = Released::opened(sum, &clients, output, None);
            course.transcript.push(released);
        }
    }
}

fn own_dither_seed(study: &Digest, step: usize) -> u64 {
    let hash: [u8; 32] = Sha256::new_with_prefix(b"sprifed: rounding")
        .chain_update(study.0)
        .chain_update((step as u64).to_le_bytes())
        .finalize()
        .into();
    let bytes = hash.first_chunk();
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
