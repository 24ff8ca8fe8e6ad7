//! What a party wants done.

use crate::answering_party::JournalLine;
use crate::receipt::PartyReceipt;
use crate::wire::Report;

/// What a party wants done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum PartyEffect {
    /// Store this before the next effect is polled.
    Persist(JournalLine),
    /// A step was released, or the party has enrolled with trustees before the first one: secrets and stored uploads
    /// are not needed any more.
    Forget {
        /// Which step of the plan.
        step: usize,
        /// Places of the journal, counted from zero, and the lines that they hold from now on.
        lines: Vec<(u64, JournalLine)>,
    },
    /// Send this to the coordinator.
    Send(Report),
    /// The study is over for this party.
    Ended(Box<PartyReceipt>),
}
