//! A study between parties in the words of their tables: drafted, and what it leaves behind.

mod draft;
mod outcome;

pub use draft::Draft;
pub use outcome::{named_terms, party_files, study_files};
