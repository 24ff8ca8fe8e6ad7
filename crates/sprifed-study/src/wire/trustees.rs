//! The messages of a study with trustees. Frames between two trustees are sealed end to end; the
//! coordinator passes them on as they are.

use sprifed_crypto::codec::{DecodeError, Reader, Writer};
use sprifed_trustees::TrusteeId;

use crate::enrolment::{ClientEnrolment, TrusteeEnrolment};
use crate::hexadecimal::{Digest, Signature};
use crate::transcript::Released;
use crate::trustee_attempt::UnopenedSum;

/// The kind of these messages among all messages of a study.
pub(super) const KIND: u8 = 5;

/// The kind of a frame that is passed on, among these messages.
const PEER: u8 = 4;

/// What the coordinator tells a client or a trustee about a step that trustees compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrusteesOrder {
    /// To a trustee: all who enrolled.
    Directory {
        /// The messages of the trustees.
        trustees: Vec<TrusteeEnrolment>,
        /// The messages of the clients.
        clients: Vec<ClientEnrolment>,
    },
    /// To a trustee: charge for this attempt and draw noise. To a client: charge and upload.
    Attempt {
        /// Which attempt, by its number.
        sum: u32,
        /// The transcript as the coordinator knows it.
        transcript: Digest,
        /// The discrete part of the question as the coordinator derived it.
        question: Digest,
        /// Earlier attempts at this step that opened nothing.
        unopened: Vec<UnopenedSum>,
    },
    /// To a trustee: a client's upload.
    Upload(Vec<u8>),
    /// To a trustee: no further upload comes in this attempt.
    Close {
        /// Which attempt.
        sum: u32,
    },
    /// To a trustee: the attempt is not wanted any more.
    GiveUp {
        /// Which attempt.
        sum: u32,
    },
    /// To a trustee: a message of another one.
    Peer {
        /// Whose.
        from: TrusteeId,
        /// The message.
        bytes: Vec<u8>,
    },
}

/// What a client or a trustee tells the coordinator about a step that trustees compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrusteesReport {
    /// Of a client, before the first step.
    Client(ClientEnrolment),
    /// Of a trustee, before the first step.
    Trustee(TrusteeEnrolment),
    /// Of a client: its upload, as [`sprifed_trustees::Upload`] encodes it.
    Upload(Vec<u8>),
    /// Of a trustee, for another one.
    Peer {
        /// For whom.
        to: TrusteeId,
        /// The message.
        bytes: Vec<u8>,
    },
    /// Of a trustee: its ledger is charged for this attempt, and its noise is drawn.
    Charged {
        /// Which attempt.
        sum: u32,
    },
    /// Of a trustee: what was opened, as [`sprifed_trustees::OutcomeReport`] encodes it.
    Outcome(Vec<u8>),
    /// Of a trustee: that it sent no opening share in an attempt and never will.
    Unopened(Vec<u8>),
    /// Of a trustee: an attempt may have been opened, and it has no outcome of it.
    Spent {
        /// Which attempt.
        sum: u32,
    },
    /// Of a trustee: it found, or another one signed that it found, what does not fit. The study is over.
    Refused(Vec<u8>),
    /// Of a trustee: an outcome with the signatures of all three. The step is over for it.
    Settled(Box<Released>),
}

impl TrusteesOrder {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Directory { trustees, clients } => {
                writer.put(&[1]).len(trustees.len());
                for trustee in trustees {
                    writer.sized(&trustee.encode());
                }
                writer.len(clients.len());
                for client in clients {
                    writer.sized(&client.encode());
                }
            }
            Self::Attempt {
                sum,
                transcript,
                question,
                unopened,
            } => {
                writer.put(&[2]).number(*sum).put(&transcript.0);
                writer.put(&question.0).len(unopened.len());
                for UnopenedSum { sum, signatures } in unopened {
                    writer.number(*sum);
                    for signature in signatures {
                        writer.put(&signature.0);
                    }
                }
            }
            Self::Upload(bytes) => {
                writer.put(&[3]).put(bytes);
            }
            Self::Peer { from, bytes } => {
                writer.put(&[PEER, from.share()]).put(bytes);
            }
            Self::Close { sum } => {
                writer.put(&[5]).number(*sum);
            }
            Self::GiveUp { sum } => {
                writer.put(&[6]).number(*sum);
            }
        }
        writer.finish()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let order = match reader.byte()? {
            1 => Self::Directory {
                trustees: reader.list(4, |reader| TrusteeEnrolment::decode(reader.sized()?))?,
                clients: reader.list(4, |reader| ClientEnrolment::decode(reader.sized()?))?,
            },
            2 => Self::Attempt {
                sum: reader.number()?,
                transcript: Digest(reader.array()?),
                question: Digest(reader.array()?),
                unopened: reader.list(196, |reader| {
                    Ok(UnopenedSum {
                        sum: reader.number()?,
                        signatures: [
                            Signature(reader.array()?),
                            Signature(reader.array()?),
                            Signature(reader.array()?),
                        ],
                    })
                })?,
            },
            3 => return Ok(Self::Upload(rest(bytes, 1))),
            PEER => {
                let from = trustee(&mut reader)?;
                let bytes = rest(bytes, 2);
                return Ok(Self::Peer { from, bytes });
            }
            5 => Self::Close {
                sum: reader.number()?,
            },
            6 => Self::GiveUp {
                sum: reader.number()?,
            },
            _ => return Err(DecodeError::Unknown { what: "an order" }),
        };
        reader.end()?;
        Ok(order)
    }
}

impl TrusteesReport {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Client(enrolment) => writer.put(&[1]).put(&enrolment.encode()),
            Self::Trustee(enrolment) => writer.put(&[2]).put(&enrolment.encode()),
            Self::Upload(bytes) => writer.put(&[3]).put(bytes),
            Self::Peer { to, bytes } => writer.put(&[PEER, to.share()]).put(bytes),
            Self::Charged { sum } => writer.put(&[5]).number(*sum),
            Self::Outcome(bytes) => writer.put(&[6]).put(bytes),
            Self::Unopened(bytes) => writer.put(&[7]).put(bytes),
            Self::Spent { sum } => writer.put(&[8]).number(*sum),
            Self::Settled(released) => writer.put(&[9]).put(&released.encode()),
            Self::Refused(bytes) => writer.put(&[10]).put(bytes),
        };
        writer.finish()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let report = match reader.byte()? {
            1 => return Ok(Self::Client(ClientEnrolment::decode(&rest(bytes, 1))?)),
            2 => return Ok(Self::Trustee(TrusteeEnrolment::decode(&rest(bytes, 1))?)),
            3 => return Ok(Self::Upload(rest(bytes, 1))),
            PEER => {
                let to = trustee(&mut reader)?;
                let bytes = rest(bytes, 2);
                return Ok(Self::Peer { to, bytes });
            }
            5 => Self::Charged {
                sum: reader.number()?,
            },
            6 => return Ok(Self::Outcome(rest(bytes, 1))),
            7 => return Ok(Self::Unopened(rest(bytes, 1))),
            8 => Self::Spent {
                sum: reader.number()?,
            },
            9 => {
                let released = Released::decode(&rest(bytes, 1));
                let none = DecodeError::Unknown { what: "an outcome" };
                return Ok(Self::Settled(Box::new(released.ok_or(none)?)));
            }
            10 => return Ok(Self::Refused(rest(bytes, 1))),
            _ => return Err(DecodeError::Unknown { what: "a report" }),
        };
        reader.end()?;
        Ok(report)
    }
}

fn trustee(reader: &mut Reader<'_>) -> Result<TrusteeId, DecodeError> {
    TrusteeId::new(reader.byte()?).ok_or(DecodeError::Unknown { what: "a trustee" })
}

fn rest(bytes: &[u8], from: usize) -> Vec<u8> {
    bytes.get(from..).unwrap_or_default().to_vec()
}

/// Whether a message of a trustee is only passed on to another one: a coordinator that was restarted
/// does not need it, as trustees abandon the attempt then.
#[must_use]
pub(crate) const fn is_passed_on(report: &[u8]) -> bool {
    matches!(report, [super::VERSION, KIND, PEER, ..])
}
