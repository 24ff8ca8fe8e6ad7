//! Why a trustee ends a study: a proof or an opening that does not fit.

use sha2::Digest as _;
use sprifed_crypto::codec::{DecodeError, Reader, Writer};

use crate::attempt_id::AttemptId;
use crate::message::{Body, Message};
use crate::set::Statement;
use crate::trustee_id::TrusteeId;

/// What did not fit. It says between whom, and not who deviated: a verifier that lies makes an honest prover fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deviation {
    /// The proof of a trustee's gates was refused.
    Proof {
        /// Whose gates; the two others are its verifiers.
        prover: TrusteeId,
    },
    /// The two holders of an opened share sent different ones.
    Opening {
        /// Who received them; the two others sent them.
        receiver: TrusteeId,
    },
}

/// A deviation with the trustee that says it found one. If that trustee is honest, one of the two others deviated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What did not fit.
    pub deviation: Deviation,
    /// Who found it.
    pub by: TrusteeId,
}

impl core::fmt::Display for Finding {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let by = self.by;
        match self.deviation {
            Deviation::Proof { prover } => {
                let [one, other] = prover.peers();
                write!(
                    formatter,
                    "{by} refused the proof of {prover}: this prover or one of its verifiers, {one} and {other}, \
                     did not follow the protocol"
                )
            }
            Deviation::Opening { receiver } => {
                let [one, other] = receiver.peers();
                write!(
                    formatter,
                    "{by} says that {one} and {other} opened different shares to {receiver}: one of the three did \
                     not follow the protocol"
                )
            }
        }
    }
}

impl Finding {
    /// The digest that its author signs.
    #[must_use]
    pub fn digest(&self, attempt: &AttemptId) -> [u8; 32] {
        let mut hash = attempt.hash(b"refusal");
        hash.update(self.bytes());
        hash.finalize().into()
    }

    fn bytes(self) -> [u8; 3] {
        let (kind, of) = match self.deviation {
            Deviation::Proof { prover } => (1, prover),
            Deviation::Opening { receiver } => (2, receiver),
        };
        [kind, of.share(), self.by.share()]
    }

    pub(crate) fn write(self, writer: &mut Writer) {
        writer.put(&self.bytes());
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let [kind, of, by] = reader.array()?;
        let trustee =
            |number: u8| TrusteeId::new(number).ok_or(DecodeError::Unknown { what: "a trustee" });
        let deviation = match kind {
            1 => Deviation::Proof {
                prover: trustee(of)?,
            },
            2 => Deviation::Opening {
                receiver: trustee(of)?,
            },
            _ => {
                return Err(DecodeError::Unknown {
                    what: "a deviation",
                });
            }
        };
        let by = trustee(by)?;
        Ok(Self { deviation, by })
    }
}

/// A finding with the signature of its author: what ends a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedFinding {
    /// In which attempt.
    pub attempt: AttemptId,
    /// What did not fit.
    pub finding: Finding,
    /// The signature of the trustee that found it.
    pub signature: [u8; 64],
}

impl SignedFinding {
    /// Whether its author, one of the trustees with these identities, signed it.
    #[must_use]
    pub fn holds(&self, identities: &[[u8; 32]; 3]) -> bool {
        let digest = self.finding.digest(&self.attempt);
        identities
            .get(self.finding.by.place())
            .is_some_and(|identity| {
                Statement::Refusal.is_signed(identity, &digest, &self.signature)
            })
    }

    /// The finding in a trustee's message to the coordinator.
    ///
    /// # Errors
    /// When the bytes are no such message.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match Message::decode(bytes)? {
            Message {
                attempt,
                body: Body::Refusal(finding, signature),
            } => Ok(Self {
                attempt,
                finding,
                signature,
            }),
            _ => Err(DecodeError::Unknown {
                what: "another message",
            }),
        }
    }
}
