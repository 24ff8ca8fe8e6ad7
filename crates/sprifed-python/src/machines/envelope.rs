//! What the engine carries: a batch of messages with the signature of its author.
//!
//! A batch names the study, the node of the engine and a number that only grows. An engine that
//! swaps, changes, repeats or invents one is found out; one that loses some looks like an absent party.

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::{IdentityKey, is_signed_statement};
use sprifed_study::Digest;

use super::failure::Failure;

/// The version of both kinds of batch.
pub(super) const VERSION: u8 = 1;

/// What a coordinator sends to one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) version: u8,
    pub(super) study: Digest,
    pub(super) node: u64,
    /// Larger than that of any earlier request to this party.
    pub(super) number: u64,
    /// For whom; none while it is not known which party is at this node.
    pub(super) party: Option<u32>,
    /// The study document, for a node that has not seen it.
    pub(super) invitation: Option<Vec<u8>>,
    /// Orders of the study's coordinator, in order.
    pub(super) orders: Vec<Vec<u8>>,
}

/// What a node sends back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) version: u8,
    pub(super) study: Digest,
    pub(super) node: u64,
    /// The number of the request that is answered.
    pub(super) number: u64,
    /// Whose signature is below.
    pub(super) identity: Digest,
    /// Reports to the study's coordinator, in order.
    pub(super) reports: Vec<Vec<u8>>,
    /// Why orders were refused; for the log.
    pub(super) refusals: Vec<String>,
}

/// What is signed for and by whom.
pub(super) trait Batch: Serialize + DeserializeOwned {
    /// What the signature is about.
    const KIND: &'static str;
    /// What it is called.
    const NAME: &'static str;
    fn version(&self) -> u8;
}

impl Batch for Request {
    const KIND: &'static str = "request";
    const NAME: &'static str = "the request";
    fn version(&self) -> u8 {
        self.version
    }
}

impl Batch for Answer {
    const KIND: &'static str = "answer";
    const NAME: &'static str = "the answer";
    fn version(&self) -> u8 {
        self.version
    }
}

/// The bytes of `batch`, signed.
pub(super) fn seal<B: Batch>(batch: &B, identity: &IdentityKey) -> Vec<u8> {
    // Numbers, text and lists: there is nothing that could not be written.
    let mut bytes = postcard::to_allocvec(batch).unwrap_or_default();
    let signature = identity.sign_statement(B::KIND, &Sha256::digest(&bytes).into());
    bytes.extend_from_slice(&signature);
    bytes
}

/// A batch whose signature was not looked at yet.
pub(super) struct Unchecked<'a, B> {
    claimed: B,
    body: &'a [u8],
    signature: &'a [u8; 64],
}

impl<'a, B: Batch> Unchecked<'a, B> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Failure> {
        let required = "bytes that this version of the program wrote";
        let (body, signature) = bytes
            .split_last_chunk()
            .ok_or_else(|| Failure::unusable(B::NAME, "no signature", required))?;
        let (claimed, rest): (B, &[u8]) = postcard::take_from_bytes(body)
            .map_err(|error| Failure::unusable(B::NAME, error, required))?;
        if !rest.is_empty() || claimed.version() != VERSION {
            let found = format!("version {}", claimed.version());
            return Err(Failure::unusable(B::NAME, found, required));
        }
        Ok(Self {
            claimed,
            body,
            signature,
        })
    }

    /// What the batch says, before its signature is checked.
    pub(super) const fn claimed(&self) -> &B {
        &self.claimed
    }

    /// The batch, if the holder of `public` signed it.
    pub(super) fn signed_by(self, public: &Digest) -> Result<B, Failure> {
        let digest = Sha256::digest(self.body).into();
        if is_signed_statement(&public.0, B::KIND, &digest, self.signature) {
            return Ok(self.claimed);
        }
        let name = B::NAME;
        Err(Failure::Refused(format!(
            "{name} is not signed with the key {public}"
        )))
    }
}
