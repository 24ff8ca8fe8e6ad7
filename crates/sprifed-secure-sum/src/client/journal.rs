//! What a client must not forget, and its bytes in the client's store.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::codec::{DecodeError, Reader, Writer};
use crate::identity::ClientId;
use crate::rejected::Reason;
use crate::signed::{Phase, SignedMessage};
use crate::study::VERSION;

/// What a client must still know after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEntry {
    /// It sent this message of the exchange of keys, and will send no other.
    Published {
        /// The digest of the notice that it answers.
        told: [u8; 32],
        /// The message, to be sent again unchanged: its secrets may be erased.
        message: Vec<u8>,
    },
    /// It uploaded to this sum.
    Uploaded {
        /// Which sum.
        sum: u32,
        /// The context in which it masked.
        context: [u8; 32],
    },
    /// It confirmed this survivor set.
    Confirmed {
        /// Which sum.
        sum: u32,
        /// The digest it signed.
        digest: [u8; 32],
    },
}

impl JournalEntry {
    /// The bytes to store.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Published { told, message } => writer.put(&[VERSION, 3]).put(told).sized(message),
            Self::Uploaded { sum, context } => writer.put(&[VERSION, 1]).number(*sum).put(context),
            Self::Confirmed { sum, digest } => writer.put(&[VERSION, 2]).number(*sum).put(digest),
        };
        writer.finish()
    }

    /// The entry with these bytes.
    ///
    /// # Errors
    /// When there is none. A client whose journal cannot be read must not continue the study.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.version(VERSION)?;
        let entry = match reader.byte()? {
            1 => Self::Uploaded {
                sum: reader.number()?,
                context: reader.array()?,
            },
            2 => Self::Confirmed {
                sum: reader.number()?,
                digest: reader.array()?,
            },
            3 => Self::Published {
                told: reader.array()?,
                message: reader.sized()?.to_vec(),
            },
            _ => {
                return Err(DecodeError::Unknown {
                    what: "a journal entry",
                });
            }
        };
        reader.end()?;
        Ok(entry)
    }
}

/// How far a client is with one sum, as far as a restart must not undo it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The context in which it uploaded.
    pub(super) context: Option<[u8; 32]>,
    /// The survivor set that it confirmed.
    pub(super) confirmed: Option<[u8; 32]>,
}

/// A message of the exchange of keys, and the notice that it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Published {
    told: [u8; 32],
    message: SignedMessage,
}

/// Everything that a restart must not undo.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Journal {
    pub(super) sums: BTreeMap<u32, Progress>,
    published: BTreeMap<Phase, Published>,
}

impl Journal {
    /// The journal of `me`; `None` if it contradicts itself, as that of two running copies of a
    /// client would: one sum uploaded to in two contexts, two survivor sets confirmed for it, two
    /// messages of one phase of the exchange of keys.
    pub(super) fn read(entries: &[JournalEntry], me: ClientId) -> Option<Self> {
        let mut journal = Self::default();
        for entry in entries {
            let agrees = match entry {
                JournalEntry::Published { told, message } => {
                    let message = SignedMessage::decode(message).ok()?;
                    let is_setup = message.phase <= Phase::Shares && message.sender == me;
                    is_setup && journal.publish(*told, message)
                }
                JournalEntry::Uploaded { sum, context } => {
                    let known = &mut journal.sums.entry(*sum).or_default().context;
                    known
                        .replace(*context)
                        .is_none_or(|before| before == *context)
                }
                JournalEntry::Confirmed { sum, digest } => {
                    let known = &mut journal.sums.entry(*sum).or_default().confirmed;
                    known
                        .replace(*digest)
                        .is_none_or(|before| before == *digest)
                }
            };
            if !agrees {
                return None;
            }
        }
        Some(journal)
    }

    /// Remembers a message; false if there is another one of its phase.
    pub(super) fn publish(&mut self, told: [u8; 32], message: SignedMessage) -> bool {
        let published = Published { told, message };
        match self.published.entry(published.message.phase) {
            Entry::Occupied(known) => *known.get() == published,
            Entry::Vacant(place) => {
                place.insert(published);
                true
            }
        }
    }

    /// What was sent in `phase` as the answer to this notice; nothing if nothing was sent.
    pub(super) fn answer(
        &self,
        phase: Phase,
        told: &[u8; 32],
    ) -> Result<Option<SignedMessage>, Reason> {
        match self.published.get(&phase) {
            Some(published) if published.told != *told => Err(Reason::OtherNotice),
            Some(published) => Ok(Some(published.message.clone())),
            None => Ok(None),
        }
    }
}
