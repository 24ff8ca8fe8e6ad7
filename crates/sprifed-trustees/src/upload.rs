//! What a client sends for a step: its numbers as shared bits, in one signed message.
//!
//! From the digest of its planes the client derives three secrets s₀, s₁, s₂. The streams S₀, S₁, S₂ of
//! these secrets hide the planes: the message holds C = planes ⊕ S₀ ⊕ S₁ ⊕ S₂, a commitment to each
//! secret, and for trustee i an envelope with sᵢ and sᵢ₊₁. So the shares are S₀ ⊕ C, S₁ and S₂. Any C is a
//! valid sharing of some planes, and their width is the range check.
//!
//! Other planes give other secrets, so a client that was restored from an older copy masks no two
//! vectors with one stream. The key of an envelope depends on everything else in the message, so no
//! key encrypts two texts.
//!
//! Trustees exchange nothing about shares: all three sign the digests of the same uploads, so they
//! have the same commitments and the same C. A digest of a share would let a trustee try out values.

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use sha2::{Digest as _, Sha256};
use sprifed_crypto::codec::{DecodeError, Reader, Writer};
use sprifed_crypto::derivation::derive;
use sprifed_crypto::identity::{ClientId, Roster};
use sprifed_crypto::identity_key::IdentityKey;
use sprifed_crypto::secret;
use sprifed_crypto::statement::is_signed_statement;
use sprifed_crypto::stream::Stream;
use zeroize::Zeroizing;

use crate::attempt_id::{AttemptId, VERSION};
use crate::evaluate::SharedPlane;
use crate::lanes::n_words;
use crate::step::{IllegalStep, Step};
use crate::streams::{StepKey, stream_words};
use crate::trustee_id::TrusteeId;

#[cfg(test)]
mod tests;

secret! {
    /// What one share of an upload is made from.
    pub(crate) struct ShareSecret([u8; 32])
}

secret! {
    /// The key of one envelope.
    struct EnvelopeKey([u8; 32])
}

/// What the statement of a signed upload is called.
const KIND: &str = "trustees: upload";

/// Bytes of an envelope: two secrets and a tag.
const ENVELOPE: usize = 64 + 16;

/// Why a trustee does not take an upload. It costs its sender alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UploadRefused {
    /// No upload at all.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// Of another study, step, attempt or transcript.
    #[error("the upload is for another attempt, step, study or transcript")]
    OtherAttempt,
    /// The sender is not in the roster or in the plan.
    #[error("{client} is not in the study")]
    Stranger {
        /// Who.
        client: ClientId,
    },
    /// Not signed by the client.
    #[error("the upload is not signed by {client}")]
    Signature {
        /// Who.
        client: ClientId,
    },
    /// More or fewer planes than the client's width.
    #[error("the upload has {found} bytes of planes, but {required} are required")]
    Length {
        /// Bytes found.
        found: usize,
        /// Bytes that the plan says.
        required: usize,
    },
    /// The envelope does not open, or its secrets are not those that were committed to.
    #[error("the envelope of {client} does not open, or does not fit its commitments")]
    Envelope {
        /// Who.
        client: ClientId,
    },
    /// The client sent another upload before.
    #[error("{client} sent another upload in this attempt before")]
    Second {
        /// Who.
        client: ClientId,
    },
    /// The phase is over.
    #[error("the uploads of this attempt are closed")]
    Closed,
}

/// A client's message for one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    attempt: AttemptId,
    client: ClientId,
    commitments: [[u8; 32]; 3],
    envelopes: [[u8; ENVELOPE]; 3],
    masked: Vec<u8>,
    signature: [u8; 64],
}

/// The keys that a client uses in one step: its own, and one with each trustee.
#[derive(Debug)]
pub struct ClientKeys<'k> {
    /// Its signing key.
    pub identity: &'k IdentityKey,
    /// The step's key of a chain that only the client has.
    pub own: &'k StepKey,
    /// The step's keys with the three trustees.
    pub trustees: &'k [StepKey; 3],
}

impl Upload {
    /// Hides planes from each trustee, and from the coordinator.
    #[must_use]
    pub fn new(
        attempt: AttemptId,
        client: ClientId,
        planes: &[Vec<u64>],
        keys: &ClientKeys<'_>,
    ) -> Self {
        let clear: Zeroizing<Vec<u8>> = Zeroizing::new(
            planes
                .iter()
                .flatten()
                .flat_map(|word| word.to_le_bytes())
                .collect(),
        );
        let secrets = secrets(attempt, client, &clear, keys.own);
        let mut masked = clear.to_vec();
        for secret in &secrets {
            let mut pad = Zeroizing::new(vec![0; masked.len()]);
            share_stream(secret).fill(&mut pad);
            for (byte, pad) in masked.iter_mut().zip(&*pad) {
                *byte ^= pad;
            }
        }
        let mut upload = Self {
            attempt,
            client,
            commitments: secrets.each_ref().map(commitment),
            envelopes: [[0; ENVELOPE]; 3],
            masked,
            signature: [0; 64],
        };
        let header = upload.header();
        let [first, second, third] = &secrets;
        let pairs = [(first, second), (second, third), (third, first)];
        let sealed = TrusteeId::ALL.iter().zip(keys.trustees).zip(pairs);
        for (place, ((trustee, key), (own, next))) in upload.envelopes.iter_mut().zip(sealed) {
            seal(place, &header, *trustee, key, (own, next));
        }
        upload.signature = keys.identity.sign_statement(KIND, &upload.digest());
        upload
    }

    /// The client that it claims to come from.
    #[must_use]
    pub const fn client(&self) -> ClientId {
        self.client
    }

    /// The attempt that it claims to be for.
    #[must_use]
    pub const fn attempt(&self) -> &AttemptId {
        &self.attempt
    }

    /// Everything but the envelopes and the signature.
    fn header(&self) -> [u8; 32] {
        let mut hash = self.attempt.hash(b"upload header");
        hash.update(self.client.0.to_le_bytes());
        hash.update(self.commitments.concat());
        hash.update(Sha256::digest(&self.masked));
        hash.finalize().into()
    }

    /// Identifies the upload: what the client signs, and what the trustees sign in their set.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = self.attempt.hash(b"upload");
        hash.update(self.header());
        hash.update(self.envelopes.concat());
        hash.finalize().into()
    }

    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(&[VERSION]);
        self.attempt.write(&mut writer);
        writer.number(self.client.0);
        for commitment in &self.commitments {
            writer.put(commitment);
        }
        for envelope in &self.envelopes {
            writer.put(envelope);
        }
        writer.put(&self.signature).sized(&self.masked).finish()
    }

    /// How many bytes a client's upload for `step` has on the wire.
    ///
    /// # Errors
    /// When the plan does not have the client.
    pub fn encoded_len(step: &Step, client: ClientId) -> Result<usize, IllegalStep> {
        let empty = Self {
            attempt: AttemptId {
                study: [0; 32],
                step: 0,
                attempt: 0,
                transcript: [0; 32],
            },
            client,
            commitments: [[0; 32]; 3],
            envelopes: [[0; ENVELOPE]; 3],
            masked: Vec::new(),
            signature: [0; 64],
        };
        let bits = step.client_bits(client)? as usize;
        Ok(empty.encode().len() + 8 * bits * n_words(step.lanes()))
    }

    /// The upload with these bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.version(VERSION)?;
        let upload = Self {
            attempt: AttemptId::read(&mut reader)?,
            client: ClientId(reader.number()?),
            commitments: [reader.array()?, reader.array()?, reader.array()?],
            envelopes: [reader.array()?, reader.array()?, reader.array()?],
            signature: reader.array()?,
            masked: reader.sized()?.to_vec(),
        };
        reader.end()?;
        Ok(upload)
    }

    /// What a trustee gets out of the upload, after all checks.
    ///
    /// # Errors
    /// When a check fails; which one depends on this upload alone.
    pub fn open(
        self,
        attempt: &AttemptId,
        step: &Step,
        roster: &Roster,
        (trustee, key): (TrusteeId, &StepKey),
    ) -> Result<OpenedUpload, UploadRefused> {
        let client = self.client;
        if self.attempt != *attempt {
            return Err(UploadRefused::OtherAttempt);
        }
        let stranger = UploadRefused::Stranger { client };
        let public = roster.key(client).ok_or(stranger)?.to_bytes();
        let bits = step.client_bits(client).map_err(|_| stranger)?;
        let required = 8 * bits as usize * n_words(step.lanes());
        let found = self.masked.len();
        if found != required {
            return Err(UploadRefused::Length { found, required });
        }
        let digest = self.digest();
        if !is_signed_statement(&public, KIND, &digest, &self.signature) {
            return Err(UploadRefused::Signature { client });
        }
        let secrets = self.secrets(trustee, key);
        Ok(OpenedUpload {
            client,
            digest,
            trustee,
            secrets: secrets.ok_or(UploadRefused::Envelope { client })?,
            masked: self.masked,
        })
    }

    /// The two secrets in a trustee's envelope, if they are those that were committed to.
    fn secrets(&self, trustee: TrusteeId, key: &StepKey) -> Option<[ShareSecret; 2]> {
        let header = self.header();
        let sealed = self.envelopes.get(trustee.place())?;
        let opened = cipher(&header, trustee, key).decrypt(
            &Nonce::default(),
            Payload {
                msg: sealed,
                aad: &header,
            },
        );
        let opened = Zeroizing::new(opened.ok()?);
        let (own, next) = opened.split_first_chunk::<32>()?;
        let next: &[u8; 32] = next.try_into().ok()?;
        let secrets = [own, next].map(|bytes| ShareSecret::from_bytes(*bytes));
        let of = [trustee, trustee.next()];
        let fits = secrets
            .iter()
            .zip(of)
            .all(|(secret, of)| self.commitments.get(of.place()) == Some(&commitment(secret)));
        fits.then_some(secrets)
    }
}

/// An upload as a trustee holds it.
#[derive(Debug)]
pub struct OpenedUpload {
    client: ClientId,
    digest: [u8; 32],
    trustee: TrusteeId,
    secrets: [ShareSecret; 2],
    masked: Vec<u8>,
}

impl OpenedUpload {
    /// Whose it is.
    #[must_use]
    pub const fn client(&self) -> ClientId {
        self.client
    }

    /// The digest of the signed upload.
    #[must_use]
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The trustee's two shares of every plane.
    #[must_use]
    pub fn planes(&self, lanes: u32) -> Vec<SharedPlane> {
        let words = n_words(lanes).max(1);
        let share = |(secret, of): (&ShareSecret, TrusteeId)| {
            let mut share = stream_words(&mut share_stream(secret), self.masked.len() / 8);
            if of.share() == 0 {
                let (masked, _) = self.masked.as_chunks::<8>();
                for (word, masked) in share.iter_mut().zip(masked) {
                    *word ^= u64::from_le_bytes(*masked);
                }
            }
            Zeroizing::new(share)
        };
        let [own, next] = &self.secrets;
        let (own, next) = (
            share((own, self.trustee)),
            share((next, self.trustee.next())),
        );
        let planes = own.chunks(words).zip(next.chunks(words));
        let plane = |(own, next): (&[u64], &[u64])| SharedPlane {
            own: own.to_vec(),
            next: next.to_vec(),
        };
        planes.map(plane).collect()
    }
}

/// The three secrets of these planes: other planes, other secrets.
fn secrets(attempt: AttemptId, client: ClientId, planes: &[u8], own: &StepKey) -> [ShareSecret; 3] {
    let mut hash = attempt.hash(b"planes");
    hash.update(client.0.to_le_bytes());
    hash.update(planes);
    let planes: [u8; 32] = hash.finalize().into();
    [0, 1, 2].map(|share: u8| {
        let info: [&[u8]; 2] = [b"trustees: share", &[share]];
        ShareSecret::filled(|secret| derive(own.expose(), &planes, &info, secret))
    })
}

fn share_stream(secret: &ShareSecret) -> Stream {
    let mut key = Zeroizing::new([0; 32]);
    derive(
        secret.expose(),
        &[0; 32],
        &[b"trustees: share stream"],
        &mut *key,
    );
    Stream::new(&key)
}

fn commitment(secret: &ShareSecret) -> [u8; 32] {
    let mut commitment = [0; 32];
    derive(
        secret.expose(),
        &[0; 32],
        &[b"trustees: commitment"],
        &mut commitment,
    );
    commitment
}

fn cipher(header: &[u8; 32], trustee: TrusteeId, key: &StepKey) -> ChaCha20Poly1305 {
    let info: [&[u8]; 2] = [b"trustees: envelope", &[trustee.share()]];
    let key = EnvelopeKey::filled(|output| derive(key.expose(), header, &info, output));
    ChaCha20Poly1305::new(key.expose().into())
}

/// Each key seals one text, so the nonce is always the same.
fn seal(
    place: &mut [u8; ENVELOPE],
    header: &[u8; 32],
    trustee: TrusteeId,
    key: &StepKey,
    (own, next): (&ShareSecret, &ShareSecret),
) {
    let text = Zeroizing::new([own.expose().as_slice(), next.expose()].concat());
    let payload = Payload {
        msg: &text,
        aad: header,
    };
    let sealed = cipher(header, trustee, key).encrypt(&Nonce::default(), payload);
    let sealed = sealed.ok().and_then(|sealed| sealed.try_into().ok());
    *place = sealed.expect("64 bytes are not too many to seal");
}
