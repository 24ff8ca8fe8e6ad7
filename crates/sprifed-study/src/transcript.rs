//! The sums that a study has released, as a hash chain.
//!
//! Everything that a study computes follows from the agreement and these integers, so one digest
//! represents how far a study is and what it asks next. Parties sign it with every set of
//! survivors, and their masks and noise depend on it. It is made of integers only: floating point
//! never enters it.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hexadecimal::{Digest, Signature};

#[cfg(test)]
mod tests;

/// One sum that was released, or one choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Released {
    /// Its number.
    pub sum: u32,
    /// Whose vectors are in it, by place in the roster, ascending.
    pub survivors: Vec<u32>,
    /// Parties whose numbers left the norm of the sum, and are not in it; in the same order.
    pub outside: Vec<u32>,
    /// The noisy sums; of a choice, its index alone.
    pub values: Vec<i64>,
    /// What three trustees signed, if they opened it.
    pub trustees: Option<Box<SignedOutcome>>,
}

/// The signatures of three trustees for what they opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedOutcome {
    /// The digest of the set of uploads that it was computed from.
    pub set: Digest,
    /// One signature of each, in the order of the agreement.
    pub signatures: [Signature; 3],
}

/// All sums that were released, in order, and their digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    head: Digest,
    released: Vec<Released>,
}

impl Transcript {
    /// Before the first sum of the study with this agreement.
    #[must_use]
    pub fn begin(agreement: &Digest) -> Self {
        let hash = Sha256::new_with_prefix(b"sprifed: transcript begins").chain_update(agreement.0);
        Self {
            head: Digest(hash.finalize().into()),
            released: Vec::new(),
        }
    }

    /// The digest of the agreement and all released sums.
    #[must_use]
    pub const fn head(&self) -> Digest {
        self.head
    }

    /// The released sums, in order.
    #[must_use]
    pub fn released(&self) -> &[Released] {
        &self.released
    }

    /// The digest that follows if `released` comes next.
    #[must_use]
    pub fn head_after(&self, released: &Released) -> Digest {
        let mut hash = Sha256::new_with_prefix(b"sprifed: transcript goes on");
        hash.update(self.head.0);
        hash.update(released.sum.to_le_bytes());
        hash.update((released.survivors.len() as u64).to_le_bytes());
        for survivor in &released.survivors {
            hash.update(survivor.to_le_bytes());
        }
        hash.update((released.values.len() as u64).to_le_bytes());
        for value in &released.values {
            hash.update(value.to_le_bytes());
        }
        // Only where there is one: then nothing depends on whether norms are verified.
        if !released.outside.is_empty() {
            hash.update((released.outside.len() as u64).to_le_bytes());
            for party in &released.outside {
                hash.update(party.to_le_bytes());
            }
        }
        Digest(hash.finalize().into())
    }

    /// Adds the next sum.
    pub(crate) fn push(&mut self, released: Released) {
        self.head = self.head_after(&released);
        self.released.push(released);
    }

    /// The transcript as a file.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        // Integers and lists, which JSON can always hold.
        serde_json::to_vec(&self.released).unwrap_or_default()
    }
}

impl Released {
    /// The bytes on the wire.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // Integers and lists, which can always be written.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// The sum with these bytes; `None` if there is none, or its encoding is not the canonical one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let released: Self = postcard::from_bytes(bytes).ok()?;
        // Numbers can be written longer than needed, but each sum must have one encoding.
        (released.encode() == bytes).then_some(released)
    }
}
