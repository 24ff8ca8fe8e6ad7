//! What a client must not forget, and its bytes in the client's store.

use std::collections::BTreeMap;

use crate::codec::{DecodeError, Reader, Writer};
use crate::study::VERSION;

/// What a client must still know after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalEntry {
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
            Self::Uploaded { sum, context } => writer.put(&[VERSION, 1]).number(*sum).put(context),
            Self::Confirmed { sum, digest } => writer.put(&[VERSION, 2]).number(*sum).put(digest),
        };
        writer.finish()
    }

    /// The entry with these bytes.
    ///
    /// # Errors
    /// When there is none. A client whose journal can not be read must not go on with the study.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.version()?;
        let entry = match reader.byte()? {
            1 => Self::Uploaded {
                sum: reader.number()?,
                context: reader.array()?,
            },
            2 => Self::Confirmed {
                sum: reader.number()?,
                digest: reader.array()?,
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

/// How far each sum got; `None` if one sum was uploaded to in two contexts or two survivor sets
/// were confirmed for it, as two running copies of a client would.
pub(super) fn progress(journal: &[JournalEntry]) -> Option<BTreeMap<u32, Progress>> {
    let mut progress = BTreeMap::<u32, Progress>::new();
    for entry in journal {
        let (known, found) = match *entry {
            JournalEntry::Uploaded { sum, context } => {
                (&mut progress.entry(sum).or_default().context, context)
            }
            JournalEntry::Confirmed { sum, digest } => {
                (&mut progress.entry(sum).or_default().confirmed, digest)
            }
        };
        if known.replace(found).is_some_and(|before| before != found) {
            return None;
        }
    }
    Some(progress)
}
