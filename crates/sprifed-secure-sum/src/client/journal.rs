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
            Self::Uploaded { sum } => writer.put(&[VERSION, 1]).number(*sum),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Uploaded,
    Confirmed([u8; 32]),
}

/// The furthest that each sum got; `None` if two survivor sets were confirmed for one sum, as two
/// running copies of a client would.
pub(super) fn progress(journal: &[JournalEntry]) -> Option<BTreeMap<u32, Progress>> {
    let mut progress = BTreeMap::new();
    for entry in journal {
        match *entry {
            JournalEntry::Uploaded { sum } => {
                progress.entry(sum).or_insert(Progress::Uploaded);
            }
            JournalEntry::Confirmed { sum, digest } => {
                let confirmed = Progress::Confirmed(digest);
                let before = progress.insert(sum, confirmed);
                if matches!(before, Some(Progress::Confirmed(_)) if before != Some(confirmed)) {
                    return None;
                }
            }
        }
    }
    Some(progress)
}
