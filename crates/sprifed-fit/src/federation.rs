//! A study between parties in the words of their tables: drafted, signed, read, and what it leaves
//! behind.
//!
//! Whoever carries the messages, the network or an engine, stands on this.

mod draft;
mod invitation;
mod outcome;
mod policy;
mod policy_text;
mod records;
mod table;
mod terms;
mod words;

pub use draft::{CertificateRequest, Draft, PublicParty, check_party_name};
pub use invitation::{Invitation, Reach};
pub use outcome::{named_model, named_terms, study_files};
pub use policy::{OFFICER_FILE, POLICY_FILE, key_of, read_policy, sign_policy, signature_of};
pub use policy_text::parse_policy;
pub use records::PartyRecords;
pub use table::PartyTable;
pub use terms::DataTerms;
pub use words::words_of_digest;
