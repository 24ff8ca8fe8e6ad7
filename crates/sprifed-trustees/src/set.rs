//! Whose uploads are in a step: the intersection of three signed lists, signed by all three trustees.
//!
//! A trustee lists what it holds and found good. Every trustee computes the set itself. What it signs
//! has all three lists, the circuit and the attempt in it, and each list has fresh random bytes of its
//! trustee. Streams and frame keys are bound to this digest, so a trustee that was restored from an
//! older copy cannot make the other two use a stream again.

use std::collections::BTreeMap;

use sha2::Digest as _;
use sprifed_crypto::codec::{DecodeError, Reader, Writer};
use sprifed_crypto::identity::ClientId;
use sprifed_crypto::identity_key::IdentityKey;
use sprifed_crypto::statement::is_signed_statement;

use crate::attempt_id::AttemptId;
use crate::step::Output;
use crate::trustee_id::TrusteeId;

/// The uploads that a trustee holds: clients in ascending order, each with the digest of its upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UploadList {
    pub(crate) fresh: [u8; 32],
    pub(crate) uploads: BTreeMap<ClientId, [u8; 32]>,
}

impl UploadList {
    pub(crate) fn digest(&self, attempt: &AttemptId, trustee: TrusteeId) -> [u8; 32] {
        let mut hash = attempt.hash(b"list");
        hash.update([trustee.share()]);
        hash.update(self.fresh);
        hash.update((self.uploads.len() as u64).to_le_bytes());
        for (client, digest) in &self.uploads {
            hash.update(client.0.to_le_bytes());
            hash.update(digest);
        }
        hash.finalize().into()
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.put(&self.fresh).len(self.uploads.len());
        for (client, digest) in &self.uploads {
            writer.number(client.0).put(digest);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let fresh = reader.array()?;
        let entries = reader.list(36, |reader| {
            Ok((ClientId(reader.number()?), reader.array()?))
        })?;
        let ascends = entries
            .iter()
            .zip(entries.iter().skip(1))
            .all(|(one, next): (&(ClientId, [u8; 32]), _)| one.0 < next.0);
        if !ascends {
            return Err(DecodeError::Unknown {
                what: "a list out of order",
            });
        }
        let uploads = entries.into_iter().collect();
        Ok(Self { fresh, uploads })
    }
}

/// The clients whose uploads all three trustees listed, the same upload in each list.
pub(crate) fn intersection(lists: &[UploadList; 3]) -> BTreeMap<ClientId, [u8; 32]> {
    let [first, others @ ..] = lists;
    let in_all = |(client, digest): &(&ClientId, &[u8; 32])| {
        let listed = |list: &UploadList| list.uploads.get(client) == Some(digest);
        others.iter().all(listed)
    };
    let common = first.uploads.iter().filter(in_all);
    common.map(|(client, digest)| (*client, *digest)).collect()
}

/// The digest of everything that the three trustees must agree on before a frame leaves.
pub(crate) fn set_digest(
    attempt: &AttemptId,
    lists: &[UploadList; 3],
    circuit: &[u8; 32],
    batch_words: Option<usize>,
) -> [u8; 32] {
    let mut hash = attempt.hash(b"set");
    for (trustee, list) in TrusteeId::ALL.iter().zip(lists) {
        hash.update(list.digest(attempt, *trustee));
    }
    let set = intersection(lists);
    hash.update((set.len() as u64).to_le_bytes());
    for (client, digest) in set {
        hash.update(client.0.to_le_bytes());
        hash.update(digest);
    }
    hash.update(circuit);
    // Zero: gates are not proved.
    hash.update((batch_words.unwrap_or(0) as u64).to_le_bytes());
    hash.finalize().into()
}

/// Whose numbers a step counted, and whose it left out; both in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Whose numbers are in what was opened.
    pub inside: Vec<ClientId>,
    /// Clients that left their balls, in a sum whose norms are verified.
    pub outside: Vec<ClientId>,
}

/// The digest of the set without the clients that left their balls: what the first digest became.
pub(crate) fn second_set_digest(
    attempt: &AttemptId,
    first: &[u8; 32],
    clients: &[ClientId],
    circuit: &[u8; 32],
) -> [u8; 32] {
    let mut hash = attempt.hash(b"second set");
    hash.update(first);
    hash.update((clients.len() as u64).to_le_bytes());
    for client in clients {
        hash.update(client.0.to_le_bytes());
    }
    hash.update(circuit);
    hash.finalize().into()
}

/// The digest of the statement that a trustee accepted the proofs of both others for this set.
#[must_use]
pub fn checked_digest(attempt: &AttemptId, set: &[u8; 32]) -> [u8; 32] {
    attempt.hash(b"checked").chain_update(set).finalize().into()
}

/// The digest of what a step opened, of whose numbers are in it, and of whose numbers left their balls.
///
/// The set's digest has the clients in it too, but only a trustee can compute it: it has fresh bytes of
/// all three lists.
#[must_use]
pub fn outcome_digest(
    attempt: &AttemptId,
    set: &[u8; 32],
    clients: &Counted,
    output: &Output,
) -> [u8; 32] {
    let mut hash = attempt.hash(b"outcome");
    hash.update(set);
    for list in [&clients.inside, &clients.outside] {
        hash.update((list.len() as u64).to_le_bytes());
        for client in list {
            hash.update(client.0.to_le_bytes());
        }
    }
    match output {
        Output::Index(index) => {
            hash.update([1]);
            hash.update(index.to_le_bytes());
        }
        Output::Sums(sums) => {
            hash.update([2]);
            hash.update((sums.len() as u64).to_le_bytes());
            for sum in sums {
                hash.update(sum.to_le_bytes());
            }
        }
    }
    hash.finalize().into()
}

/// The digest of the statement that a trustee sent no opening share in an attempt and never will.
#[must_use]
pub fn unopened_digest(attempt: &AttemptId) -> [u8; 32] {
    attempt.hash(b"unopened").finalize().into()
}

/// What a trustee signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statement {
    /// Which uploads it holds.
    List,
    /// What is computed from which uploads.
    Set,
    /// The set without clients that left their balls, and what is computed from it.
    SecondSet,
    /// That it accepted the proofs of both others.
    Checked,
    /// What came out.
    Outcome,
    /// That a proof or an opening did not fit: the study ends.
    Refusal,
    /// That it sent no opening share, and never will.
    Unopened,
}

impl Statement {
    const fn kind(self) -> &'static str {
        match self {
            Self::List => "trustees: list",
            Self::Set => "trustees: set",
            Self::SecondSet => "trustees: second set",
            Self::Checked => "trustees: checked",
            Self::Outcome => "trustees: outcome",
            Self::Refusal => "trustees: refusal",
            Self::Unopened => "trustees: unopened",
        }
    }

    pub(crate) fn sign(self, identity: &IdentityKey, digest: &[u8; 32]) -> [u8; 64] {
        identity.sign_statement(self.kind(), digest)
    }

    /// Whether the trustee with this identity signed the digest.
    #[must_use]
    pub fn is_signed(self, identity: &[u8; 32], digest: &[u8; 32], signature: &[u8; 64]) -> bool {
        is_signed_statement(identity, self.kind(), digest, signature)
    }
}

/// The signatures of all three trustees for one digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreeSignatures(pub Box<[[u8; 64]; 3]>);

impl ThreeSignatures {
    /// Whether all three signed.
    #[must_use]
    pub fn hold(
        &self,
        statement: Statement,
        identities: &[[u8; 32]; 3],
        digest: &[u8; 32],
    ) -> bool {
        let signed = identities.iter().zip(&*self.0);
        signed
            .into_iter()
            .all(|(identity, signature)| statement.is_signed(identity, digest, signature))
    }
}

#[cfg(test)]
mod tests;
