//! The messages of clients: the bodies of their signed messages.

use std::sync::Arc;

use subtle::ConstantTimeEq;

use crate::codec::{DecodeError, Reader, Writer};
use crate::kem::{CIPHERTEXT_BYTES, KEY_BYTES, is_key};
use crate::rejected::Reason;
use crate::signed::Phase;
use crate::small_order::has_small_order;

/// The body of a client's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// See [`Keys`].
    Keys(Keys),
    /// See [`Ciphertexts`].
    Ciphertexts(Ciphertexts),
    /// See [`Shares`].
    Shares(Shares),
    /// See [`Upload`].
    Upload(Upload),
    /// See [`Confirmation`].
    Confirmation(Confirmation),
    /// See [`Unmask`].
    Unmask(Unmask),
}

/// A client's public keys for the whole study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The X25519 key by which neighbours encrypt to it.
    pub channel: [u8; 32],
    /// The X25519 key with which it encrypts to them.
    pub sealing: [u8; 32],
    /// The ML-KEM-768 key by which smaller neighbours encapsulate to it.
    pub kem: Box<[u8; KEY_BYTES]>,
    /// What it publishes for each sum.
    pub sums: Vec<SumKeys>,
}

/// What a client publishes for one sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumKeys {
    /// The key by which pairwise masks are agreed on.
    pub mask: [u8; 32],
    /// The commitment to the seed of its own mask.
    pub commitment: [u8; 32],
}

/// What a client encapsulated to its larger neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ciphertexts {
    /// Slots, ascending, and ciphertexts.
    pub ciphertexts: Vec<(u8, Arc<Ciphertext>)>,
}

/// What a client encapsulated to one neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ciphertext {
    /// Of ML-KEM-768.
    pub bytes: [u8; CIPHERTEXT_BYTES],
    /// Of the sender, for the neighbour.
    pub signature: [u8; 64],
}

/// What a client sends to its neighbours in confidence, and what it publishes about each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// By slot of the neighbour, ascending.
    pub bundles: Vec<Bundle>,
}

/// What a client sends to one neighbour in confidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The neighbour's slot.
    pub slot: u8,
    /// Shares of the client's secrets of every sum, encrypted to the neighbour.
    pub sealed: Vec<u8>,
    /// For each sum, what the pair has for it.
    pub wraps: Vec<Wrap>,
}

/// The pair secret of one sum, for a coordinator that rebuilds the owner's mask secret.
///
/// A client that publishes a wrong one spoils the sums that it drops out of: they are abandoned, as
/// the secret is then not the one that the neighbour committed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrap {
    /// The secret under a pad that the owner's mask secret gives.
    pub hidden: [u8; 32],
    /// The commitment to the secret.
    pub commitment: [u8; 8],
}

impl Wrap {
    /// Bytes on the wire.
    pub(crate) const BYTES: usize = 40;
}

/// A masked vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// What it was masked for, besides the sum.
    pub context: [u8; 32],
    /// For each neighbour with which it is masked, by slot: a tag for the directory and context of
    /// the mask.
    pub tags: Vec<(u8, [u8; 16])>,
    /// The entries, b bits each.
    pub packed: Vec<u8>,
}

/// Confirms that a client got this survivor set, and will accept no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// The digest of sum, context, directory and survivors.
    pub digest: [u8; 32],
}

/// Shares that open a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmask {
    /// By slot of the owner, ascending.
    pub shares: Vec<RevealedShare>,
}

/// Which secret of its owner a share is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareKind {
    /// The seed of the owner's own mask: the owner survived.
    SelfSeed,
    /// The secret of the owner's pairwise masks: the owner dropped out.
    MaskKey,
}

/// One share, in the clear.
#[derive(Clone, Copy)]
pub struct RevealedShare {
    /// The owner's slot among the sender's neighbours.
    pub slot: u8,
    /// Which secret it is a share of.
    pub kind: ShareKind,
    /// The share.
    pub share: [u8; 32],
}

impl PartialEq for RevealedShare {
    fn eq(&self, other: &Self) -> bool {
        let same = self.share.ct_eq(&other.share);
        self.slot == other.slot && self.kind == other.kind && bool::from(same)
    }
}

impl Eq for RevealedShare {}

impl core::fmt::Debug for RevealedShare {
    /// Shows the owner and kind, not the share.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            formatter,
            "RevealedShare({:?} of slot {})",
            self.kind, self.slot
        )
    }
}

impl Keys {
    /// What is wrong with one of the keys: it has small order, or is not a key.
    pub(crate) fn flaw(&self) -> Option<Reason> {
        let masks = self.sums.iter().map(|sum| &sum.mask);
        let mut keys = masks.chain([&self.channel, &self.sealing]);
        if keys.any(has_small_order) {
            return Some(Reason::WeakKey);
        }
        (!is_key(&self.kem)).then_some(Reason::NotAKemKey)
    }

    /// The channel key in an encoded list of keys.
    pub(crate) fn channel_in(body: &[u8]) -> Option<&[u8; 32]> {
        body.get(..32)?.try_into().ok()
    }

    /// The sealing key in an encoded list of keys.
    pub(crate) fn sealing_in(body: &[u8]) -> Option<&[u8; 32]> {
        body.get(32..64)?.try_into().ok()
    }

    /// The mask key of `sum` in an encoded list of keys.
    pub(crate) fn mask_in(body: &[u8], sum: u32) -> Option<&[u8; 32]> {
        let start = 68 + KEY_BYTES + 64 * sum as usize;
        body.get(start..start + 32)?.try_into().ok()
    }
}

impl Body {
    /// The phase of this message.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match self {
            Self::Keys(_) => Phase::Keys,
            Self::Ciphertexts(_) => Phase::Agree,
            Self::Shares(_) => Phase::Shares,
            Self::Upload(_) => Phase::Upload,
            Self::Confirmation(_) => Phase::Confirm,
            Self::Unmask(_) => Phase::Unmask,
        }
    }

    /// The bytes that are signed.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Keys(keys) => {
                writer.put(&keys.channel).put(&keys.sealing);
                writer.put(&*keys.kem).len(keys.sums.len());
                for sum in &keys.sums {
                    writer.put(&sum.mask).put(&sum.commitment);
                }
            }
            Self::Ciphertexts(sent) => {
                writer.len(sent.ciphertexts.len());
                for (slot, ciphertext) in &sent.ciphertexts {
                    writer.put(&[*slot]);
                    ciphertext.write(&mut writer);
                }
            }
            Self::Shares(shares) => {
                writer.len(shares.bundles.len());
                for bundle in &shares.bundles {
                    writer.put(&[bundle.slot]).sized(&bundle.sealed);
                    writer.len(bundle.wraps.len());
                    for wrap in &bundle.wraps {
                        writer.put(&wrap.hidden).put(&wrap.commitment);
                    }
                }
            }
            Self::Upload(upload) => {
                writer.put(&upload.context).len(upload.tags.len());
                for (slot, tag) in &upload.tags {
                    writer.put(&[*slot]).put(tag);
                }
                writer.sized(&upload.packed);
            }
            Self::Confirmation(confirmation) => {
                writer.put(&confirmation.digest);
            }
            Self::Unmask(unmask) => {
                writer.len(unmask.shares.len());
                for share in &unmask.shares {
                    writer.put(&[share.slot, u8::from(share.kind == ShareKind::MaskKey)]);
                    writer.put(&share.share);
                }
            }
        }
        writer.finish()
    }

    /// The body of a message of `phase` with these bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn decode(phase: Phase, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let body = match phase {
            Phase::Keys => Self::Keys(Keys {
                channel: reader.array()?,
                sealing: reader.array()?,
                kem: Box::new(reader.array()?),
                sums: reader.list(64, |reader| {
                    Ok(SumKeys {
                        mask: reader.array()?,
                        commitment: reader.array()?,
                    })
                })?,
            }),
            Phase::Agree => Self::Ciphertexts(Ciphertexts {
                ciphertexts: reader.list(1 + Ciphertext::BYTES, |reader| {
                    Ok((reader.byte()?, Arc::new(Ciphertext::read(reader)?)))
                })?,
            }),
            Phase::Shares => Self::Shares(Shares {
                bundles: reader.list(9, read_bundle)?,
            }),
            Phase::Upload => Self::Upload(Upload {
                context: reader.array()?,
                tags: reader.list(17, |reader| Ok((reader.byte()?, reader.array()?)))?,
                packed: reader.sized()?.to_vec(),
            }),
            Phase::Confirm => Self::Confirmation(Confirmation {
                digest: reader.array()?,
            }),
            Phase::Unmask => Self::Unmask(Unmask {
                shares: reader.list(34, read_share)?,
            }),
        };
        reader.end()?;
        Ok(body)
    }
}

impl Ciphertext {
    /// Bytes on the wire.
    pub(crate) const BYTES: usize = CIPHERTEXT_BYTES + 64;

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.put(&self.bytes).put(&self.signature);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            bytes: reader.array()?,
            signature: reader.array()?,
        })
    }
}

fn read_bundle(reader: &mut Reader<'_>) -> Result<Bundle, DecodeError> {
    Ok(Bundle {
        slot: reader.byte()?,
        sealed: reader.sized()?.to_vec(),
        wraps: reader.list(Wrap::BYTES, |reader| {
            Ok(Wrap {
                hidden: reader.array()?,
                commitment: reader.array()?,
            })
        })?,
    })
}

fn read_share(reader: &mut Reader<'_>) -> Result<RevealedShare, DecodeError> {
    let slot = reader.byte()?;
    let kind = match reader.byte()? {
        0 => ShareKind::SelfSeed,
        1 => ShareKind::MaskKey,
        _ => {
            return Err(DecodeError::Unknown {
                what: "a kind of share",
            });
        }
    };
    Ok(RevealedShare {
        slot,
        kind,
        share: reader.array()?,
    })
}

/// Whether slots ascend, so that none occurs twice.
pub(crate) fn ascend(slots: impl Iterator<Item = u8>) -> bool {
    let mut last = None;
    slots
        .into_iter()
        .all(|slot| last.replace(slot).is_none_or(|before| before < slot))
}
