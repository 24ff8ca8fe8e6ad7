//! What a trustee must still know after a restart, as bytes.

use sprifed_crypto::codec::{DecodeError, Reader, Writer};
use sprifed_trustees::JournalLine;

use crate::hexadecimal::Digest;

/// The version of a line.
const VERSION: u8 = 1;

/// A line of a trustee's journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrusteeLine {
    /// An attempt begins: its ledger is charged, or an earlier charge is carried. No noise was drawn
    /// before.
    Begun {
        /// The transcript before it.
        transcript: Digest,
        /// The line of the attempt's own journal.
        line: JournalLine,
    },
    /// How the last attempt goes on.
    Attempt(JournalLine),
    /// It signed the receipt of the study: it answers nothing more, whatever a coordinator says.
    Ended {
        /// The digest that it signed.
        receipt: Digest,
    },
}

impl TrusteeLine {
    /// The bytes to store.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(&[VERSION]);
        match self {
            Self::Begun { transcript, line } => {
                writer.put(&[1]).put(&transcript.0).sized(&line.encode());
            }
            Self::Attempt(line) => {
                writer.put(&[2]).sized(&line.encode());
            }
            Self::Ended { receipt } => {
                writer.put(&[3]).put(&receipt.0);
            }
        }
        writer.finish()
    }

    /// The line with these bytes.
    ///
    /// # Errors
    /// When there is none. A trustee whose journal cannot be read must leave the study.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.version(VERSION)?;
        let line = match reader.byte()? {
            1 => Self::Begun {
                transcript: Digest(reader.array()?),
                line: JournalLine::decode(reader.sized()?)?,
            },
            2 => Self::Attempt(JournalLine::decode(reader.sized()?)?),
            3 => Self::Ended {
                receipt: Digest(reader.array()?),
            },
            _ => return Err(DecodeError::Unknown { what: "a line" }),
        };
        reader.end()?;
        Ok(line)
    }
}
