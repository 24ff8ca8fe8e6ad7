//! What trustees send each other, as bytes.
//!
//! Lists and signatures are signed and readable by the coordinator, which knows them anyway. Deals,
//! gates, proofs and openings are sealed end to end, whatever carries them: the three messages of a gate
//! together are its value. A sealed frame's key belongs to one signed set and one direction of one
//! link, and its nonce is the number of the frame's round, so no key seals two frames with one nonce.

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use sprifed_crypto::codec::{DecodeError, Reader, Writer};
use sprifed_crypto::derivation::derive;
use sprifed_crypto::secret;
use zeroize::Zeroizing;

use crate::attempt_id::{AttemptId, VERSION};
use crate::deviation::Finding;
use crate::set::UploadList;
use crate::streams::StepKey;
use crate::trustee_id::TrusteeId;

secret! {
    /// The key of one direction of one link, for one signed set.
    pub(crate) struct FrameKey([u8; 32])
}

/// What a sealed frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Content {
    /// Noise, to the next trustee.
    Deal,
    /// The gates of a layer, to the previous trustee.
    Layer,
    /// A part of the proofs of gates, to either neighbour.
    Proof,
    /// The shares that open the outputs, to the previous trustee; to the next one too if gates are proved.
    Opening,
}

impl Content {
    const fn as_byte(self) -> u8 {
        match self {
            Self::Deal => 1,
            Self::Layer => 2,
            Self::Opening => 3,
            Self::Proof => 4,
        }
    }

    fn from_byte(byte: u8) -> Result<Self, DecodeError> {
        match byte {
            1 => Ok(Self::Deal),
            2 => Ok(Self::Layer),
            3 => Ok(Self::Opening),
            4 => Ok(Self::Proof),
            _ => Err(DecodeError::Unknown { what: "a frame" }),
        }
    }
}

/// A message between two trustees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    List(UploadList, [u8; 64]),
    Set([u8; 64]),
    Frame(SealedFrame),
    Outcome([u8; 64]),
    Unopened([u8; 64]),
    Checked([u8; 64]),
    SecondSet([u8; 64]),
    Refusal(Finding, [u8; 64]),
}

/// A frame as it travels.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SealedFrame {
    pub(crate) content: Content,
    pub(crate) number: u32,
    pub(crate) sealed: Vec<u8>,
}

impl core::fmt::Debug for SealedFrame {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(formatter, "SealedFrame({:?} {})", self.content, self.number)
    }
}

/// A message of one trustee to another, with the attempt that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub(crate) attempt: AttemptId,
    pub(crate) body: Body,
}

impl Message {
    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(&[VERSION]);
        self.attempt.write(&mut writer);
        match &self.body {
            Body::List(list, signature) => {
                list.write(writer.put(&[1]));
                writer.put(signature);
            }
            Body::Set(signature) => {
                writer.put(&[2]).put(signature);
            }
            Body::Frame(frame) => {
                writer
                    .put(&[3, frame.content.as_byte()])
                    .number(frame.number);
                writer.sized(&frame.sealed);
            }
            Body::Outcome(signature) => {
                writer.put(&[4]).put(signature);
            }
            Body::Unopened(signature) => {
                writer.put(&[5]).put(signature);
            }
            Body::Checked(signature) => {
                writer.put(&[6]).put(signature);
            }
            Body::SecondSet(signature) => {
                writer.put(&[8]).put(signature);
            }
            Body::Refusal(finding, signature) => {
                finding.write(writer.put(&[7]));
                writer.put(signature);
            }
        }
        writer.finish()
    }

    /// The message with these bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.version(VERSION)?;
        let attempt = AttemptId::read(&mut reader)?;
        let body = match reader.byte()? {
            1 => Body::List(UploadList::read(&mut reader)?, reader.array()?),
            2 => Body::Set(reader.array()?),
            3 => Body::Frame(SealedFrame {
                content: Content::from_byte(reader.byte()?)?,
                number: reader.number()?,
                sealed: reader.sized()?.to_vec(),
            }),
            4 => Body::Outcome(reader.array()?),
            5 => Body::Unopened(reader.array()?),
            6 => Body::Checked(reader.array()?),
            8 => Body::SecondSet(reader.array()?),
            7 => Body::Refusal(Finding::read(&mut reader)?, reader.array()?),
            _ => return Err(DecodeError::Unknown { what: "a kind" }),
        };
        reader.end()?;
        Ok(Self { attempt, body })
    }
}

impl FrameKey {
    /// The key for frames from one trustee to another, from the step's key of their link.
    pub(crate) fn new(link: &StepKey, set: &[u8; 32], from: TrusteeId, to: TrusteeId) -> Self {
        let info: [&[u8]; 2] = [b"trustees: frame", &[from.share(), to.share()]];
        Self::filled(|key| derive(link.expose(), set, &info, key))
    }

    pub(crate) fn seal(&self, content: Content, number: u32, words: &[u64]) -> SealedFrame {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let bytes = Zeroizing::new(bytes);
        let payload = Payload {
            msg: &bytes,
            aad: &[content.as_byte()],
        };
        let sealed = self.cipher().encrypt(&nonce(number), payload);
        SealedFrame {
            content,
            number,
            sealed: sealed.expect("a frame is shorter than the cipher allows"),
        }
    }

    /// The words of a frame of `words` words; `None` if it has another length or was not sealed so.
    pub(crate) fn open(&self, frame: &SealedFrame, words: usize) -> Option<Zeroizing<Vec<u64>>> {
        if frame.sealed.len() != 8 * words + 16 {
            return None;
        }
        let payload = Payload {
            msg: &frame.sealed,
            aad: &[frame.content.as_byte()],
        };
        let opened = self.cipher().decrypt(&nonce(frame.number), payload).ok()?;
        let opened = Zeroizing::new(opened);
        let (words, _) = opened.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        Some(Zeroizing::new(words.collect()))
    }

    fn cipher(&self) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new(self.expose().into())
    }
}

fn nonce(number: u32) -> Nonce {
    let mut nonce = Nonce::default();
    if let Some(start) = nonce.first_chunk_mut::<4>() {
        *start = number.to_le_bytes();
    }
    nonce
}
