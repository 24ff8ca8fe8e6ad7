#![doc = include_str!("../README.md")]
#![deny(clippy::indexing_slicing)]

#[cfg(test)]
extern crate self as sprifed_secure_sum;

mod client;
mod client_set;
mod codec;
mod coordinator;
mod graph;
mod hypergeometric;
mod identity;
mod kem;
mod keys;
mod mask;
mod message;
mod notice;
mod outcome;
mod packing;
mod pair;
mod parameters;
mod rejected;
mod secret;
mod secret_sharing;
mod signed;
mod small_order;
mod statement;
mod study;

pub use client::{CheckedCertificate, Client, JournalEntry, Output as ClientOutput, UploadRefused};
pub use client_set::ClientSet;
pub use codec::DecodeError;
pub use coordinator::{Coordinator, Output as CoordinatorOutput, SumRefused};
pub use graph::Graph;
pub use identity::{ClientId, Roster, RosterError};
pub use keys::{ClientSecrets, ClientSeed, IdentityKey};
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
pub use statement::is_signed_statement;
pub use study::{IllegalStudy, Study, StudyId, SumShape};
