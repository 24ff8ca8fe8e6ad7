//! What travels between a coordinator and a party: a version, a kind, and a body whose lengths are
//! checked before anything is allocated.

use sprifed_query::SumQuery;
use sprifed_secure_sum::{DecodeError, Notice, SignedMessage};

#[cfg(test)]
mod tests;

/// The version of every message.
const VERSION: u8 = 1;

/// What a coordinator says to a party.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// About the secure sums.
    Notice(Notice),
    /// A question, to be answered in this sum.
    Ask {
        /// Which sum.
        sum: u32,
        /// The question.
        query: SumQuery,
    },
    /// The study is over; this is its receipt, signed by the coordinator.
    Ended {
        /// The receipt as JSON.
        receipt: Vec<u8>,
    },
}

/// What a party says to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// About the secure sums.
    Message(SignedMessage),
    /// It will not take part, and says why.
    Declined {
        /// In words.
        reason: String,
    },
    /// It agrees with the receipt.
    Countersigned {
        /// Its signature for it.
        signature: [u8; 64],
    },
}

/// Bytes that are no message of a study.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// Too short for a version and a kind.
    #[error("the message has {found} bytes, but at least 2 are required")]
    TooShort {
        /// How many bytes there are.
        found: usize,
    },
    /// Another version.
    #[error("the message is of version {found}, but version {VERSION} is spoken")]
    Version {
        /// The version found.
        found: u8,
    },
    /// A kind that does not exist.
    #[error("the message is of kind {found}, which does not exist")]
    Kind {
        /// The kind found.
        found: u8,
    },
    /// A body that is damaged.
    #[error("the body can not be read: {0}")]
    Body(String),
}

impl From<DecodeError> for Unreadable {
    fn from(error: DecodeError) -> Self {
        Self::Body(error.to_string())
    }
}

/// The longest reason that is passed on.
const LONGEST_REASON: usize = 2000;

impl Order {
    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Notice(notice) => framed(1, &notice.encode()),
            Self::Ask { sum, query } => {
                // Numbers and lists: there is nothing that could not be written.
                let query = postcard::to_allocvec(query).unwrap_or_default();
                framed(2, &[&sum.to_le_bytes()[..], &query].concat())
            }
            Self::Ended { receipt } => framed(3, receipt),
        }
    }

    /// The order with these bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        match opened(bytes)? {
            (1, body) => Ok(Self::Notice(Notice::decode(body)?)),
            (2, body) => {
                let short = || Unreadable::Body("the question has no number".to_owned());
                let (sum, query) = body.split_first_chunk().ok_or_else(short)?;
                let (query, rest) = postcard::take_from_bytes(query)
                    .map_err(|error| Unreadable::Body(error.to_string()))?;
                if !rest.is_empty() {
                    let found = rest.len();
                    return Err(DecodeError::Trailing { found }.into());
                }
                let sum = u32::from_le_bytes(*sum);
                Ok(Self::Ask { sum, query })
            }
            (3, body) => Ok(Self::Ended {
                receipt: body.to_vec(),
            }),
            (found, _) => Err(Unreadable::Kind { found }),
        }
    }
}

impl Report {
    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Message(message) => framed(1, &message.encode()),
            Self::Declined { reason } => framed(2, reason.as_bytes()),
            Self::Countersigned { signature } => framed(3, signature),
        }
    }

    /// The report with these bytes.
    ///
    /// # Errors
    /// When there is none.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        match opened(bytes)? {
            (1, body) => Ok(Self::Message(SignedMessage::decode(body)?)),
            (2, body) => {
                let text = String::from_utf8_lossy(body);
                let reason = text.chars().take(LONGEST_REASON).collect();
                Ok(Self::Declined { reason })
            }
            (3, body) => {
                let signature = body.try_into().map_err(|_| {
                    let found = body.len();
                    Unreadable::Body(format!("a signature has 64 bytes, not {found}"))
                })?;
                Ok(Self::Countersigned { signature })
            }
            (found, _) => Err(Unreadable::Kind { found }),
        }
    }
}

fn framed(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[VERSION, kind], body].concat()
}

fn opened(bytes: &[u8]) -> Result<(u8, &[u8]), Unreadable> {
    match bytes {
        [VERSION, kind, body @ ..] => Ok((*kind, body)),
        [found, _, ..] => Err(Unreadable::Version { found: *found }),
        _ => Err(Unreadable::TooShort { found: bytes.len() }),
    }
}
