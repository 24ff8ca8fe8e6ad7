//! The envelope of every message that a client sends: phase, sum, sender, body, signature.

use ed25519_dalek::Signature;
use sha2::{Digest, Sha256};

use crate::codec::{DecodeError, Reader, Writer};
use crate::identity::ClientId;
use crate::kem::CIPHERTEXT_BYTES;
use crate::message::Ciphertext;
use crate::rejected::{Reason, Rejected, Sender};
use crate::study::{Study, StudyId, VERSION};
use sprifed_crypto::identity_key::IdentityKey;

/// What a client's message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// Public keys for the whole study.
    Keys = 1,
    /// Ciphertexts by which pairs agree, for the whole study.
    Agree = 2,
    /// Encrypted shares for the whole study.
    Shares = 3,
    /// A masked vector.
    Upload = 4,
    /// A signature for the survivor set.
    Confirm = 5,
    /// The shares that open the sum.
    Unmask = 6,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Self; 6] = [
        Self::Keys,
        Self::Agree,
        Self::Shares,
        Self::Upload,
        Self::Confirm,
        Self::Unmask,
    ];

    const fn as_byte(self) -> u8 {
        self as u8
    }

    fn from_byte(byte: u8) -> Result<Self, DecodeError> {
        let found = Self::ALL.into_iter().find(|phase| phase.as_byte() == byte);
        found.ok_or(DecodeError::Unknown { what: "a phase" })
    }
}

/// A message of a client, signed with its identity key.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedMessage {
    /// What it is about.
    pub phase: Phase,
    /// Which sum it belongs to; zero for the exchange of keys.
    pub sum: u32,
    /// The claimed sender.
    pub sender: ClientId,
    /// The encoded body.
    pub body: Vec<u8>,
    /// The signature over all of this and the study.
    pub signature: [u8; 64],
}

impl SignedMessage {
    /// Signs `body`.
    #[must_use]
    pub fn sign(
        identity: &IdentityKey,
        study: &StudyId,
        phase: Phase,
        sum: u32,
        sender: ClientId,
        body: Vec<u8>,
    ) -> Self {
        let signature = identity.sign(&digest(study, phase, sum, sender, &body));
        Self {
            phase,
            sum,
            sender,
            body,
            signature,
        }
    }

    /// Whether the sender of the roster signed this, and the message came from it.
    pub(crate) fn verify(&self, study: &Study, from: ClientId) -> Result<(), Rejected> {
        let reject = |reason| {
            Err(Rejected {
                sender: Sender::Client(from),
                reason,
            })
        };
        if study.roster().key(from).is_none() {
            return reject(Reason::Stranger);
        }
        if self.sender != from {
            return reject(Reason::ForgedSender {
                claimed: self.sender,
            });
        }
        if !is_signed(
            study,
            self.phase,
            self.sum,
            from,
            &self.body,
            &self.signature,
        ) {
            return reject(Reason::BadSignature);
        }
        Ok(())
    }

    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer
            .put(&[VERSION, self.phase.as_byte()])
            .number(self.sum)
            .number(self.sender.0);
        writer.sized(&self.body).put(&self.signature).finish()
    }

    /// The message with these bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let message = Self::read(&mut reader)?;
        reader.end()?;
        Ok(message)
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        reader.version(VERSION)?;
        Ok(Self {
            phase: Phase::from_byte(reader.byte()?)?,
            sum: reader.number()?,
            sender: ClientId(reader.number()?),
            body: reader.sized()?.to_vec(),
            signature: reader.array()?,
        })
    }
}

impl core::fmt::Debug for SignedMessage {
    /// Without the body, which may hold shares of secrets.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_struct("SignedMessage")
            .field("phase", &self.phase)
            .field("sum", &self.sum)
            .field("sender", &self.sender)
            .field("body_len", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Signs a ciphertext of `from` for `to`, which is passed on without the message that it came in.
///
/// Without this, a coordinator could agree on ML-KEM secrets with both ends of a pair, and later
/// open with a quantum computer what is masked today.
pub(crate) fn sign_ciphertext(
    identity: &IdentityKey,
    study: &StudyId,
    route: (ClientId, ClientId),
    ciphertext: &[u8; CIPHERTEXT_BYTES],
) -> [u8; 64] {
    identity.sign(&ciphertext_digest(study, route, ciphertext))
}

/// Whether `from` made this ciphertext for `to`.
pub(crate) fn is_signed_ciphertext(
    study: &Study,
    route: (ClientId, ClientId),
    ciphertext: &Ciphertext,
) -> bool {
    let digest = ciphertext_digest(study.id(), route, &ciphertext.bytes);
    let signature = Signature::from_bytes(&ciphertext.signature);
    let key = study.roster().key(route.0);
    key.is_some_and(|key| key.verify_strict(&digest, &signature).is_ok())
}

fn ciphertext_digest(
    study: &StudyId,
    (from, to): (ClientId, ClientId),
    ciphertext: &[u8; CIPHERTEXT_BYTES],
) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"sprifed secure sum: ciphertext");
    hash.update([VERSION]);
    hash.update(study.as_bytes());
    hash.update(from.0.to_le_bytes());
    hash.update(to.0.to_le_bytes());
    hash.update(ciphertext);
    hash.finalize().into()
}

/// Whether `signature` is that of `sender` for this body.
pub(crate) fn is_signed(
    study: &Study,
    phase: Phase,
    sum: u32,
    sender: ClientId,
    body: &[u8],
    signature: &[u8; 64],
) -> bool {
    let digest = digest(study.id(), phase, sum, sender, body);
    let signature = Signature::from_bytes(signature);
    study
        .roster()
        .key(sender)
        .is_some_and(|key| key.verify_strict(&digest, &signature).is_ok())
}

/// Whether every one of these signers signed this body; two to three times as fast as one by one.
///
/// A signer whose key has a part of small order could make a signature that passes here and not
/// there; that signer colludes, and colluders may sign anything.
pub(crate) fn are_signed(
    study: &Study,
    phase: Phase,
    sum: u32,
    body: &[u8],
    signatures: &[(ClientId, [u8; 64])],
) -> bool {
    let keys: Option<Vec<_>> = signatures
        .iter()
        .map(|(signer, _)| study.roster().key(*signer).copied())
        .collect();
    let Some(keys) = keys else {
        return false;
    };
    let digests: Vec<_> = signatures
        .iter()
        .map(|(signer, _)| digest(study.id(), phase, sum, *signer, body))
        .collect();
    let digests: Vec<&[u8]> = digests.iter().map(<[u8; 32]>::as_slice).collect();
    let signatures: Vec<_> = signatures
        .iter()
        .map(|(_, signature)| Signature::from_bytes(signature))
        .collect();
    ed25519_dalek::verify_batch(&digests, &signatures, &keys).is_ok()
}

fn digest(study: &StudyId, phase: Phase, sum: u32, sender: ClientId, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"sprifed secure sum: message");
    hash.update([VERSION, phase.as_byte()]);
    hash.update(study.as_bytes());
    hash.update(sum.to_le_bytes());
    hash.update(sender.0.to_le_bytes());
    hash.update(body);
    hash.finalize().into()
}
