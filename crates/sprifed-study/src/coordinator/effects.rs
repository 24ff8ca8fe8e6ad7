//! What a coordinator wants done, how far it is, and why it refuses.

use std::sync::Arc;

use sprifed_secure_sum::{ClientId, Phase};

use crate::derivation::CannotDerive;
use crate::receipt::SignedReceipt;

/// An action that the shell must perform, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum CoordinatorEffect {
    /// Send these bytes to a party. Bytes for all parties are held once.
    Send(ClientId, Arc<[u8]>),
    /// A sum has ended: this replaces its messages.
    Checkpoint {
        /// Which of all sums that were opened, counted from one.
        epoch: u32,
        /// What [`super::StudyCoordinator::restore`] takes.
        bytes: Vec<u8>,
    },
    /// The study is over.
    Ended(Box<SignedReceipt>),
}

/// A message that was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{party}: {reason}")]
pub struct MessageRefused {
    /// Whose message.
    pub party: ClientId,
    /// Why, without any content of it.
    pub reason: String,
    /// Whether every message of this sender will be refused: it is not the party of its place.
    pub is_final: bool,
}

/// Why a coordinator cannot begin or continue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinatorError {
    /// The key is not the one of the agreement.
    #[error("the coordinator's key is {found}, but the agreement says {required}")]
    OtherIdentity {
        /// The key given.
        found: crate::Digest,
        /// The key agreed on.
        required: crate::Digest,
    },
    /// The questions cannot be derived.
    #[error(transparent)]
    CannotDerive(#[from] CannotDerive),
    /// Bytes that are no checkpoint of this study.
    #[error("checkpoint {epoch} cannot be used: {reason}")]
    Checkpoint {
        /// Which of all sums that were opened.
        epoch: u32,
        /// Why.
        reason: String,
    },
}

/// How far a study is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyPhase {
    /// Parties publish their keys, and so confirm that they take part.
    Keys,
    /// Parties share their secrets with their neighbours.
    Shares,
    /// A sum is made.
    Sum {
        /// Its number.
        sum: u32,
        /// The step of the plan.
        step: usize,
        /// Upload, Confirm or Unmask.
        phase: Phase,
    },
    /// Trustees make an attempt at a step.
    Attempt {
        /// Its number.
        sum: u32,
        /// The step of the plan.
        step: usize,
        /// How far it is.
        phase: TrusteePhase,
    },
    /// Parties sign the receipt.
    Receipts,
    /// The study is over.
    Ended,
}

/// How far an attempt of trustees is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrusteePhase {
    /// Trustees charge their ledgers and draw noise.
    Noise,
    /// Clients upload.
    Uploads,
    /// Trustees compute and open.
    Running,
    /// Trustees say whether they opened anything.
    Abandoning,
}
