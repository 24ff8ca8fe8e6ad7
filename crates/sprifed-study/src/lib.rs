#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod agreement;
mod answering_party;
mod checkpoint;
mod coordinator;
mod derivation;
mod embedded;
mod hexadecimal;
mod party;
mod party_effect;
mod party_key;
mod plain_text;
mod policy;
mod promise;
mod receipt;
mod record_store;
#[cfg(test)]
mod test_line;
#[cfg(test)]
mod test_world;
mod transcript;
mod wire;

pub use agreement::{Agreed, Agreement, FORMAT, IllegalAgreement, Party, split_evenly};
pub use answering_party::{AnsweringParty, Declined, JournalLine, charged_by};
pub use coordinator::{
    CoordinatorEffect, CoordinatorError, MessageRefused, StudyCoordinator, StudyPhase,
};
pub use derivation::{CannotDerive, Derivation, NotNext};
pub use embedded::{Attendance, Embedded, EmbeddedError, all_present};
pub use hexadecimal::{Digest, NotHexadecimal, Signature};
pub use party::{CannotJoin, OrderRefused, StudyParty};
pub use party_effect::PartyEffect;
pub use party_key::{PartyKey, StoredKeyError};
pub use policy::{Applicant, Day, Forbidden, NotADay, Policy, PolicyKey, Violation};
pub use receipt::{
    Guarantee, Outcome, PartyReceipt, PartyStatement, Problem, Receipt, SignedReceipt, SumContents,
    SumRecord, Verified,
};
pub use record_store::{RecordStore, Unopened};
pub use transcript::{Released, Transcript};
pub use wire::{Order, Report, Unreadable};
