//! A study between parties in the words of their tables: drafted, and what it leaves behind.

mod address;
mod answer;
mod charged;
mod draft;
mod outcome;
mod rehearsal;
mod trustee_answer;
mod trustee_text;

pub use address::host_of;
pub use answer::{
    CancelAnswer, EndedAnswer, ExportAnswer, NamedTrustee, OfficerAnswer, PolicyParty,
    RehearsalAnswer, SignedPolicyAnswer, StudyAnswer,
};
pub use charged::begun_study;
pub use draft::Draft;
pub use outcome::{party_files, reported_names, study_files, study_model, trustee_files};
pub use rehearsal::RehearsalError;
pub use trustee_answer::{
    PeerTrustee, TrusteeAnswer, TrusteeCheckAnswer, TrusteeIdentityAnswer, TrusteePartAnswer,
    TrusteeStatusAnswer,
};
