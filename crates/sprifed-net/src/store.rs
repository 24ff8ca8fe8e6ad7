//! What a coordinator keeps on disk: accepted inputs, checkpoints, and how the study ended.
//!
//! An input and everything it caused are one transaction, committed before anything is sent. So a
//! process that is killed at any moment either never had the input or has it with all consequences.
//! Deliberately absent: sent notices. Clients that come back are told again.

mod sqlite;

use sprifed_party::{Artefacts, StoreError};

pub use sqlite::SqliteStore;
pub(crate) use sqlite::{look_into, was_started};

use crate::machine::PartyId;

/// Something that happened to the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// A message that the machine accepted.
    Message(PartyId, &'a [u8]),
    /// The phase was closed.
    Closed,
    /// The machine stood here at the end of an epoch.
    Checkpoint(&'a [u8]),
}

/// One transaction: an input and what it caused.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The epoch in which the input was received.
    pub epoch: u32,
    /// The input; none for what [`returned`](crate::CoordinatorMachine::returned) caused.
    pub input: Option<Event<'a>>,
    /// Checkpoints that it caused, by epoch. Each replaces the events of its epoch.
    pub checkpoints: Vec<(u32, &'a [u8])>,
    /// How the study ended, if it did.
    pub artefacts: Option<&'a [(String, Vec<u8>)]>,
}

/// Where a coordinator keeps its study.
pub trait Store: Send + 'static {
    /// How often this state was opened, this time included; names a start of the server.
    fn start(&self) -> u64;

    /// Shows every stored event with its epoch, in order, until `visit` wants no more.
    ///
    /// # Errors
    /// If the state cannot be read.
    fn replay(&mut self, visit: &mut dyn FnMut(u32, Event<'_>) -> bool) -> Result<(), StoreError>;

    /// How the study ended, if it did.
    ///
    /// # Errors
    /// If the state cannot be read.
    fn artefacts(&mut self) -> Result<Option<Artefacts>, StoreError>;

    /// Writes `entry`, all of it or nothing. When this returns, a power cut cannot undo it.
    ///
    /// # Errors
    /// If it could not be made durable. The process must stop: its machine is ahead of its state.
    fn commit(&mut self, entry: &Entry<'_>) -> Result<(), StoreError>;
}
