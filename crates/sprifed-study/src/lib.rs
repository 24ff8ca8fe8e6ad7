#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod agreement;
mod answering_party;
mod asked;
mod checkpoint;
mod coordinator;
mod derivation;
mod embedded;
mod embedded_trustees;
mod enrolment;
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
mod test_trustees;
#[cfg(test)]
mod test_world;
mod transcript;
mod trustee;
mod trustee_attempt;
mod trustee_key;
mod trustee_step;
mod wire;

pub use agreement::{
    Agreed, AgreedTrustees, Agreement, FORMAT, IllegalAgreement, Paid, Party, StudyKey,
    TrusteeEntry, outcome_of, split_evenly,
};
pub use answering_party::{AnsweringParty, Declined, JournalLine, charged_by};
pub use asked::Asked;
pub use coordinator::{
    CoordinatorEffect, CoordinatorError, MessageRefused, StudyCoordinator, StudyPhase, TrusteePhase,
};
pub use derivation::{CannotDerive, Derivation, NotNext};
pub use embedded::{Attendance, Embedded, EmbeddedError, all_present, present_as_in};
pub use embedded_trustees::{EmbeddedTrustees, TrusteesError};
pub use enrolment::{ClientEnrolment, TrusteeEnrolment};
pub use hexadecimal::{Digest, NotHexadecimal, Signature};
pub use party::{CannotJoin, OrderRefused, StudyParty};
pub use party_effect::PartyEffect;
pub use party_key::{PartyKey, StoredKeyError};
pub use policy::{Applicant, Day, Forbidden, NotADay, Policy, PolicyKey, TrusteePolicy, Violation};
pub use receipt::{
    Guarantee, Outcome, PartyReceipt, PartyStatement, Problem, Receipt, SignedReceipt, SumContents,
    SumRecord, Unfit, Verified,
};
pub use record_store::{RecordStore, Unopened};
pub use transcript::{Released, SignedOutcome, Transcript};
pub use trustee::{StudyTrustee, TrusteeEffect, TrusteeLine, TrusteeRefused};
pub use trustee_attempt::{OpenedStep, RefusedAttempt, RefusedPart, UnopenedSum};
pub use trustee_key::TrusteeKey;
pub use trustee_step::{IllegalTrusteeStep, proved_trustee_step, step_with, trustee_step};
pub use wire::{Order, Report, TrusteesOrder, TrusteesReport, Unreadable};
