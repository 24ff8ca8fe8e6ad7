//! Notices on their way to clients, numbered for each client from 1 at each return.
//!
//! A notice is kept until its client has asked for a later one. Clients that are away get none: they
//! are told everything again when they return. So what is kept does not grow with those who are absent.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

#[cfg(test)]
mod tests;

/// A client's claim to its notices: valid until it returns again, or the server starts again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session(pub(crate) u64);

/// What a client that asks for a notice is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The next one, with its number.
    Notice(u64, Arc<[u8]>),
    /// None yet.
    Nothing,
    /// Its session is over because the same certificate returned again.
    Superseded,
    /// It was away for so long that its notices were dropped.
    Forgotten,
}

#[derive(Debug, Default)]
struct Outbox {
    session: u64,
    seen: Option<Instant>,
    /// Another program fetches what is in it: it is always there.
    is_carried: bool,
    last_number: u64,
    waiting: VecDeque<(u64, Arc<[u8]>)>,
}

/// The outboxes of all clients, by place in the roster.
#[derive(Debug)]
pub(crate) struct Outboxes {
    boxes: Vec<Outbox>,
    /// After this time without a question a client counts as away.
    absence: Duration,
}

impl Outboxes {
    pub(crate) fn new(n_clients: usize, absence: Duration) -> Self {
        Self {
            boxes: std::iter::repeat_with(Outbox::default)
                .take(n_clients)
                .collect(),
            absence,
        }
    }

    /// Opens a session: former notices are void.
    pub(crate) fn open(&mut self, place: usize) -> Session {
        let outbox = &mut self.boxes[place];
        outbox.session += 1;
        outbox.seen = Some(Instant::now());
        outbox.last_number = 0;
        outbox.waiting.clear();
        Session(outbox.session)
    }

    /// The client is done: nothing is kept for it any more. Says whether the session was its last.
    pub(crate) fn close(&mut self, place: usize, session: Session) -> bool {
        let outbox = &mut self.boxes[place];
        let is_last = outbox.session == session.0;
        if is_last {
            outbox.seen = None;
            outbox.waiting.clear();
        }
        is_last
    }

    /// From now on another program fetches the notices of this client, with [`take`](Self::take).
    pub(crate) fn carry(&mut self, place: usize) {
        self.boxes[place].is_carried = true;
    }

    /// All notices of a client, which are done with.
    pub(crate) fn take(&mut self, place: usize) -> Vec<Arc<[u8]>> {
        let waiting = self.boxes[place].waiting.drain(..);
        waiting.map(|(_, notice)| notice).collect()
    }

    /// Puts a notice into the box of a client that is there, and says whether it is.
    pub(crate) fn put(&mut self, place: usize, notice: Arc<[u8]>) -> bool {
        let is_here = self.is_here(place);
        let outbox = &mut self.boxes[place];
        if !is_here {
            outbox.seen = None;
            outbox.waiting.clear();
            return false;
        }
        outbox.last_number += 1;
        outbox.waiting.push_back((outbox.last_number, notice));
        true
    }

    /// The notice after number `after`, which with all before it is done with.
    pub(crate) fn ask(&mut self, place: usize, session: Session, after: u64) -> Asked {
        let outbox = &mut self.boxes[place];
        if outbox.session != session.0 {
            return Asked::Superseded;
        }
        if outbox.seen.is_none() {
            return Asked::Forgotten;
        }
        outbox.seen = Some(Instant::now());
        while outbox
            .waiting
            .front()
            .is_some_and(|(number, _)| *number <= after)
        {
            outbox.waiting.pop_front();
        }
        match outbox.waiting.front() {
            Some((number, notice)) => Asked::Notice(*number, Arc::clone(notice)),
            None => Asked::Nothing,
        }
    }

    /// Whether the client is there.
    pub(crate) fn is_here(&self, place: usize) -> bool {
        let outbox = &self.boxes[place];
        let seen = outbox.seen;
        outbox.is_carried || seen.is_some_and(|seen| seen.elapsed() < self.absence)
    }
}
