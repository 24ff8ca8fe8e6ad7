#![doc = include_str!("../README.md")]
#![deny(clippy::indexing_slicing)]

#[cfg(test)]
extern crate self as sprifed_secure_sum;

mod client;
mod client_set;
mod coordinator;
mod graph;
mod hypergeometric;
mod keys;
mod mask;
mod message;
mod notice;
mod outcome;
mod packing;
mod pair;
mod parameters;
mod rejected;
mod secret_sharing;
mod signed;
mod study;

use sprifed_crypto::{codec, identity, kem, small_order};

pub use client::{CheckedCertificate, Client, JournalEntry, Output as ClientOutput, UploadRefused};
pub use client_set::ClientSet;
pub use coordinator::{Coordinator, Output as CoordinatorOutput, SumRefused};
pub use graph::Graph;
pub use keys::{ClientSecrets, ClientSeed};
pub use mask::{MaskSeed, Residues, Sign};
pub use message::{
    Body, Bundle, Ciphertext, Ciphertexts, Confirmation, Keys, RevealedShare, ShareKind, Shares,
    SumKeys, Unmask, Upload, Wrap,
};
pub use notice::{Certificate, Notice};
pub use outcome::{Abandoned, SumOutcome, UnmaskedSum, WrongShare};
pub use parameters::{NoParameters, Parameters};
pub use rejected::{Reason, Rejected, Sender};
pub use signed::{Phase, SignedMessage};
pub use sprifed_crypto::codec::DecodeError;
pub use sprifed_crypto::identity::{ClientId, Roster, RosterError};
pub use sprifed_crypto::identity_key::IdentityKey;
pub use sprifed_crypto::statement::is_signed_statement;
pub use study::{IllegalStudy, Study, StudyId, SumShape};
