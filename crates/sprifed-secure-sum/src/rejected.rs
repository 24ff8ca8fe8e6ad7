//! A refused message: its sender and the reason. Nothing has changed.

use sprifed_privacy::counted;

use crate::codec::DecodeError;
use crate::identity::ClientId;
use crate::signed::Phase;

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A client.
    Client(ClientId),
    /// The coordinator.
    Coordinator,
}

impl core::fmt::Display for Sender {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Client(client) => client.fmt(formatter),
            Self::Coordinator => formatter.write_str("the coordinator"),
        }
    }
}

/// A message that was refused; the receiver is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of {sender} is refused: {reason}")]
pub struct Rejected {
    /// The sender.
    pub sender: Sender,
    /// Why it was refused.
    pub reason: Reason,
}

/// Why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The bytes are no message.
    #[error(transparent)]
    Malformed(#[from] DecodeError),
    /// The sender is not of the roster.
    #[error("it is not on the roster")]
    Stranger,
    /// The message claims another sender.
    #[error("it claims to be from {claimed}")]
    ForgedSender {
        /// The claimed sender.
        claimed: ClientId,
    },
    /// The signature is not of the sender, the study, the phase and the sum.
    #[error("the signature does not fit")]
    BadSignature,
    /// The receiver is in another phase.
    #[error("it is of phase {found:?}, which is not expected now")]
    WrongPhase {
        /// The phase of the message.
        found: Phase,
    },
    /// The message is of another sum.
    #[error("it is of sum {found}, which is not open")]
    WrongSum {
        /// The sum of the message.
        found: u32,
    },
    /// The receiver has one from this sender.
    #[error("there is one already")]
    Repeated,
    /// The sender did not take part in an earlier phase.
    #[error("it took no part in the phase before")]
    NotPresent,
    /// A list or vector has the wrong length.
    #[error("{what} has {found} entries, but {required} are required")]
    WrongLength {
        /// What is too long or too short.
        what: &'static str,
        /// Entries given.
        found: usize,
        /// Entries required.
        required: usize,
    },
    /// A slot or client that is not a neighbour, or is named out of order.
    #[error("it names a client that is not expected there")]
    NotANeighbour,
    /// A public key of small order.
    #[error("it contains a public key of small order")]
    WeakKey,
    /// Another notice of this kind was answered: there is one exchange of keys in a study.
    #[error("another notice of this kind was answered before, and the answer was stored")]
    OtherNotice,
    /// What is needed for the answer was erased.
    #[error("the secrets that an answer needs were erased")]
    Erased,
    /// Bytes that are no ML-KEM-768 key.
    #[error("it contains a public key that is none of ML-KEM-768: a coefficient is not below 3329")]
    NotAKemKey,
    /// A ciphertext that the sender did not make for this neighbour.
    #[error("a ciphertext for {to} does not have the signature of {from}")]
    UnsignedCiphertext {
        /// The client that should have made it.
        from: ClientId,
        /// Its recipient.
        to: ClientId,
    },
    /// Too few clients, or too unevenly spread, to hide each of them.
    #[error(
        "{} reported as present, which does not hide each of them; the quorum is {quorum}",
        counted(*found, "client is", "clients are")
    )]
    TooFewPresent {
        /// Clients reported as present.
        found: u32,
        /// Clients that must stay.
        quorum: u32,
    },
    /// The receiver is not in the set, or the set has clients that were not there before.
    #[error("the survivor set contradicts what is known")]
    ContradictorySet,
    /// Another survivor set was confirmed for this sum.
    #[error("another survivor set was confirmed for this sum")]
    OtherSetConfirmed,
    /// Too few good signatures for the survivor set.
    #[error("{found} good confirmations were shown, but {required} are required")]
    TooFewConfirmations {
        /// Good confirmations.
        found: usize,
        /// Confirmations required.
        required: u32,
    },
    /// The vector was masked for another context: its masks would not cancel.
    #[error("it is masked in context {}, but the sum is open in context {}", hex(.found), hex(.required))]
    OtherContext {
        /// The context of the upload.
        found: [u8; 32],
        /// The context of the sum.
        required: [u8; 32],
    },
    /// The digest that was signed is not that of the survivors.
    #[error("it confirms another survivor set")]
    OtherDigest,
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
