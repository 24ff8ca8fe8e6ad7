//! What the shell knows of a study: two state machines that take bytes and give effects.
//!
//! The shell carries, stores and keeps time. It never looks into a message, so that everything a study
//! promises is decided, and tested, without a socket. Deliberately absent: any knowledge of plans, keys,
//! sums or budgets.

use std::fmt;

use sprifed_party::{Finished, Outgoing, PartyError, PartyRuntime, PartyStore, TrusteeRuntime};
use sprifed_study::{OrderRefused, RecordStore, TrusteeRefused};

use crate::status::StatusView;

/// A client's place in the roster, known from its certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyId(pub u32);

impl fmt::Display for PartyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// An input that a machine did not accept. Nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// What was found and what is required. It is logged and told to the sender: no record, noise, mask or sum.
    pub reason: String,
    /// Whether a client that is refused so cannot continue in this study, so that waiting is useless.
    pub is_final: bool,
}

impl Refused {
    /// A refusal for `reason`; the next input may be acceptable.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_final: false,
        }
    }

    /// A refusal for `reason` that ends the client's process.
    pub fn for_good(reason: impl Into<String>) -> Self {
        Self {
            is_final: true,
            ..Self::because(reason)
        }
    }
}

impl From<OrderRefused> for Refused {
    fn from(refused: OrderRefused) -> Self {
        Self {
            is_final: refused.is_final(),
            reason: refused.to_string(),
        }
    }
}

impl From<TrusteeRefused> for Refused {
    fn from(refused: TrusteeRefused) -> Self {
        Self {
            is_final: refused.is_final(),
            reason: refused.to_string(),
        }
    }
}

/// The phase that a coordinator is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseInfo {
    /// Grows with every phase; [`CoordinatorMachine::close_phase`] makes it grow, unless the study ends.
    pub number: u64,
    /// For logs and the page: `enrolment`, `uploads of sum 3`.
    pub name: String,
    /// 0 for the set-up, t + 1 for sum t. Stored inputs are dropped by epoch, see [`CoordinatorEffect::Checkpoint`].
    pub epoch: u32,
    /// Whether the study is over. Nothing is waited for then, and no phase is closed.
    pub is_end: bool,
}

/// The coordinator's study as the shell sees it.
///
/// # Caller must
/// Be deterministic: the same inputs in the same order give the same effects. A stored study is rebuilt
/// from a new machine by the inputs of epoch 0, then for every later epoch, in order, either
/// [`restore`](Self::restore) with its checkpoint or its inputs again. [`Send`](CoordinatorEffect::Send)
/// effects of a rebuild are discarded, because clients that come back are [`returned`](Self::returned).
pub trait CoordinatorMachine: Send + 'static {
    /// A message from `from`, whose certificate was checked.
    ///
    /// # Errors
    /// If the message is not acceptable now. Nothing has changed then, and nothing is stored. The process of a
    /// client that is refused [permanently](Refused::is_final) ends.
    fn receive(&mut self, from: PartyId, message: &[u8]) -> Result<(), Refused>;

    /// Whether the message that was accepted last is only passed on, or was accepted before: it changes nothing that a
    /// rebuilt machine must know, and is not stored.
    fn is_passed_on(&self, _message: &[u8]) -> bool {
        false
    }

    /// `party` came, or came back, with an empty memory: queue again what it needs to take part.
    ///
    /// It is not stored, so it may change nothing that a later effect depends on.
    fn returned(&mut self, party: PartyId);

    /// Whose answer the present phase lacks. Empty: the phase is closed now.
    fn waits_for(&self) -> Vec<PartyId>;

    /// The present phase.
    fn phase(&self) -> PhaseInfo;

    /// Everyone answered, or time is up: a missing client has dropped out.
    fn close_phase(&mut self);

    /// The study is not wanted any more: tell every client that it ends without a result. It has to be kept as a
    /// [`Checkpoint`](CoordinatorEffect::Checkpoint) of the present epoch. A study that is over stays as it ended.
    fn cancel(&mut self);

    /// The next effect, in order, until there is none.
    fn poll(&mut self) -> Option<CoordinatorEffect>;

    /// Stands where the machine stood after it emitted the checkpoint of `epoch`.
    ///
    /// # Errors
    /// If these bytes are no checkpoint of this study; the study cannot go on then.
    fn restore(&mut self, epoch: u32, checkpoint: &[u8]) -> Result<(), Refused>;

    /// Public facts for the page and the metrics.
    fn status(&self) -> StatusView;
}

/// What a coordinator's study wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoordinatorEffect {
    /// A notice for one client. Sent after the input that caused it is stored.
    Send(PartyId, Vec<u8>),
    /// The epoch is over: its stored inputs are replaced by these bytes, in one transaction with the
    /// input that caused it.
    Checkpoint {
        /// Which epoch; the one of the phase in which its inputs were received.
        epoch: u32,
        /// What [`CoordinatorMachine::restore`] takes.
        bytes: Vec<u8>,
    },
    /// The study is over, well or not. Once.
    Finished {
        /// File names and contents: report, receipt.
        artefacts: Vec<(String, Vec<u8>)>,
    },
}

/// A client's study as the shell sees it.
///
/// It keeps what it must not lose itself: a message that it hands out is to be sent, and nothing else is to be done.
pub trait ClientMachine: Send + 'static {
    /// Begins, or begins again, with everything that it has stored: at the start, and whenever the coordinator may have
    /// forgotten what it sent. The coordinator then tells a client all it needs again. Says how the client's part ended,
    /// if it did: no coordinator is needed then.
    ///
    /// # Errors
    /// If what it has stored cannot be used.
    fn restart(&mut self) -> Result<Option<Finished>, PartyError>;

    /// A notice from the coordinator. May compute for seconds.
    ///
    /// # Errors
    /// If the notice is not acceptable. Nothing has changed then; it is logged and the next one is awaited, unless
    /// the refusal is [final](Refused::is_final): the process ends then, and started again it goes on.
    fn receive(&mut self, notice: &[u8]) -> Result<(), Refused>;

    /// The next message, or the end, until there is nothing. May compute for seconds.
    ///
    /// # Errors
    /// If something could not be stored; nothing that depends on it is sent. The process ends.
    fn poll(&mut self) -> Result<Option<Outgoing>, PartyError>;
}

impl ClientMachine for TrusteeRuntime {
    fn restart(&mut self) -> Result<Option<Finished>, PartyError> {
        Self::restart(self)
    }

    fn receive(&mut self, notice: &[u8]) -> Result<(), Refused> {
        Ok(Self::receive(self, notice)?)
    }

    fn poll(&mut self) -> Result<Option<Outgoing>, PartyError> {
        Self::poll(self)
    }
}

impl<S, R> ClientMachine for PartyRuntime<S, R>
where
    S: PartyStore,
    R: RecordStore + Clone + Send + 'static,
{
    fn restart(&mut self) -> Result<Option<Finished>, PartyError> {
        Self::restart(self)
    }

    fn receive(&mut self, notice: &[u8]) -> Result<(), Refused> {
        Ok(Self::receive(self, notice)?)
    }

    fn poll(&mut self) -> Result<Option<Outgoing>, PartyError> {
        Self::poll(self)
    }
}
