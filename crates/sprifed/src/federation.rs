//! A study between parties in the words of their tables: drafted, and what it leaves behind.

mod address;
mod answer;
mod draft;
mod outcome;

pub use address::host_of;
pub use answer::{
    CancelAnswer, EndedAnswer, ExportAnswer, OfficerAnswer, PolicyParty, RehearsalAnswer,
    SignedPolicyAnswer, StudyAnswer,
};
pub use draft::Draft;
pub use outcome::{named_model, named_terms, party_files, study_files};
