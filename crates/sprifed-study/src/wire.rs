//! The messages between a coordinator and a party: a version, a kind, and a body whose lengths are
//! checked before anything is allocated.

use sha2::{Digest as _, Sha256};
use sprifed_secure_sum::{
    ClientId, DecodeError, IdentityKey, Notice, SignedMessage, is_signed_statement,
};

use crate::agreement::Agreed;
use crate::hexadecimal::{Digest, Signature};
use crate::transcript::Released;

#[cfg(test)]
mod tests;
mod trustees;

pub(crate) use trustees::is_passed_on;
pub use trustees::{TrusteesOrder, TrusteesReport};

/// The version of every message.
const VERSION: u8 = 3;

/// A message of the coordinator to a party. It has no questions: they follow from the released
/// sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// About the secure sums.
    Notice(Notice),
    /// A sum was released: the next one of the transcript.
    Released(Released),
    /// The next question is to be answered in this sum.
    Ask {
        /// Which sum.
        sum: u32,
        /// The transcript as the coordinator knows it.
        transcript: Digest,
        /// The discrete part of the question as the coordinator derived it.
        question: Digest,
    },
    /// About a step that trustees compute.
    Trustees(TrusteesOrder),
    /// The study is over; this is its receipt, signed by the coordinator.
    Ended {
        /// The receipt as JSON.
        receipt: Vec<u8>,
    },
}

/// A message of a party to the coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// About the secure sums.
    Message(SignedMessage),
    /// It will not take part, and says why.
    Declined {
        /// The reason, as text.
        reason: String,
        /// Its signature for the reason.
        signature: Signature,
    },
    /// About a step that trustees compute.
    Trustees(TrusteesReport),
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
    #[error("the message is of version {found}, but version {VERSION} is required")]
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
    #[error("the body cannot be read: {0}")]
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
            Self::Ask {
                sum,
                transcript,
                question,
            } => {
                let body = [&sum.to_le_bytes()[..], &transcript.0, &question.0].concat();
                framed(2, &body)
            }
            Self::Ended { receipt } => framed(3, receipt),
            Self::Released(released) => framed(4, &released.encode()),
            Self::Trustees(order) => framed(trustees::KIND, &order.encode()),
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
                let found = body.len();
                let other = || Unreadable::Body(format!("an ask has 68 bytes, not {found}"));
                let body: &[u8; 68] = body.try_into().map_err(|_| other())?;
                let (sum, digests) = body.split_first_chunk().ok_or_else(other)?;
                let (transcript, question) = digests.split_first_chunk().ok_or_else(other)?;
                let question = question.try_into().map_err(|_| other())?;
                Ok(Self::Ask {
                    sum: u32::from_le_bytes(*sum),
                    transcript: Digest(*transcript),
                    question: Digest(question),
                })
            }
            (4, body) => {
                let damaged = || Unreadable::Body("it is no released sum".to_owned());
                Ok(Self::Released(Released::decode(body).ok_or_else(damaged)?))
            }
            (3, body) => Ok(Self::Ended {
                receipt: body.to_vec(),
            }),
            (trustees::KIND, body) => Ok(Self::Trustees(TrusteesOrder::decode(body)?)),
            (found, _) => Err(Unreadable::Kind { found }),
        }
    }
}

impl Report {
    /// That `party` takes no part in the study, and why.
    #[must_use]
    pub fn declined(
        identity: &IdentityKey,
        agreed: &Agreed,
        party: ClientId,
        reason: &str,
    ) -> Self {
        let reason: String = reason.chars().take(LONGEST_REASON).collect();
        let digest = declined_digest(agreed, party, &reason);
        Self::Declined {
            signature: Signature(identity.sign_statement(DECLINED, &digest)),
            reason,
        }
    }

    /// The bytes on the wire.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Message(message) => framed(1, &message.encode()),
            Self::Declined { reason, signature } => {
                framed(2, &[&signature.0[..], reason.as_bytes()].concat())
            }
            Self::Countersigned { signature } => framed(3, signature),
            Self::Trustees(report) => framed(trustees::KIND, &report.encode()),
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
                let unsigned = || Unreadable::Body("a reason has no signature".to_owned());
                let (signature, reason) = body.split_first_chunk().ok_or_else(unsigned)?;
                let reason = core::str::from_utf8(reason)
                    .map_err(|error| Unreadable::Body(error.to_string()))?;
                if reason.chars().count() > LONGEST_REASON {
                    let problem = format!("a reason has more than {LONGEST_REASON} characters");
                    return Err(Unreadable::Body(problem));
                }
                Ok(Self::Declined {
                    reason: reason.to_owned(),
                    signature: Signature(*signature),
                })
            }
            (3, body) => {
                let signature = body.try_into().map_err(|_| {
                    let found = body.len();
                    Unreadable::Body(format!("a signature has 64 bytes, not {found}"))
                })?;
                Ok(Self::Countersigned { signature })
            }
            (trustees::KIND, body) => Ok(Self::Trustees(TrusteesReport::decode(body)?)),
            (found, _) => Err(Unreadable::Kind { found }),
        }
    }
}

/// Whether `party` itself signed in this study that it declines for this reason.
pub(crate) fn is_declined_by(
    agreed: &Agreed,
    party: ClientId,
    reason: &str,
    signature: &Signature,
) -> bool {
    agreed.identity_at(party).is_some_and(|identity| {
        let digest = declined_digest(agreed, party, reason);
        is_signed_statement(&identity.0, DECLINED, &digest, &signature.0)
    })
}

/// What a party's signature for its reason is about.
const DECLINED: &str = "declined";

fn declined_digest(agreed: &Agreed, party: ClientId, reason: &str) -> [u8; 32] {
    let hash = Sha256::new_with_prefix(b"sprifed: declined")
        .chain_update(agreed.digest().0)
        .chain_update(party.0.to_le_bytes())
        .chain_update(reason);
    hash.finalize().into()
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
