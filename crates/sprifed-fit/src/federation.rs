//! A study between parties in the words of their tables: drafted, signed, read, and what it leaves
//! behind.
//!
//! Whoever carries the messages, the network or an engine, stands on this.

mod draft;
mod invitation;
mod outcome;
mod policy;
mod records;
mod terms;

pub use draft::{Draft, PublicParty, check_party_name};
pub use invitation::Invitation;
pub use outcome::{named_terms, study_files};
pub use policy::parse_policy;
pub use records::PartyRecords;
pub use terms::DataTerms;
