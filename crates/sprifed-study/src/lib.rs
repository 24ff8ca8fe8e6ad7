#![doc = include_str!("../README.md")]
#![deny(clippy::indexing_slicing)]

mod agreement;
mod embedded;
mod hexadecimal;
mod participant;
mod party_key;
#[cfg(test)]
mod test_world;

pub use agreement::{Agreed, Agreement, FORMAT, IllegalAgreement, Party, split_evenly};
pub use embedded::{Attendance, Embedded, EmbeddedError, everybody};
pub use hexadecimal::{Digest, NotHexadecimal};
pub use participant::{Declined, JournalLine, Participant, ParticipantOutput};
pub use party_key::PartyKey;
