#![doc = include_str!("../README.md")]

mod carried;
mod creation;
mod error;
mod folder;
mod machine;
mod publication;
mod roster;
mod status;
mod whole_folder;

pub use creation::NewStudy;
pub use error::CoordinatorError;
pub use folder::CoordinatorFolder;
pub use machine::StudyMachine;
pub use status::StatusAnswer;
