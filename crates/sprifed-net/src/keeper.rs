//! The one place where a coordinator's machine is touched: input, effects, commit, then send.

use std::path::Path;
use std::sync::{Arc, Mutex};

use sprifed_party::{Artefacts, StoreError, is_there};
use tracing::{debug, info};

use crate::error::NetError;
use crate::machine::{CoordinatorEffect, CoordinatorMachine, PartyId, PhaseInfo, Refused};
use crate::outbox::Outboxes;
use crate::roster::Roster;
use crate::status::StatusView;
use crate::store::{Entry, Event, Store, look_into, was_started};

/// A machine and where its study is stored.
pub(crate) struct Keeper<M> {
    machine: M,
    store: Box<dyn Store>,
    artefacts: Option<Artefacts>,
    is_broken: bool,
}

/// What came of an input.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is stored, and what it caused is under way to these places of the roster.
    Accepted(Vec<usize>),
    /// The machine refused it.
    Refused(Refused),
}

/// A phase that was closed.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    /// Places of the roster with notices under way.
    pub(crate) touched: Vec<usize>,
    /// Places whose answer the phase lacked.
    pub(crate) missing: Vec<usize>,
}

/// Whether the state at `path` is there and was opened by a server before: a file that was emptied was not.
///
/// # Errors
/// If it is there and cannot be read.
pub fn has_state(path: &Path) -> Result<bool, NetError> {
    Ok(is_there(path) && was_started(path)?)
}

/// How far a stored study is, whether or not a process serves it now.
///
/// # Errors
/// If there is no state, or it does not fit the machine.
pub fn stored_status<M: CoordinatorMachine>(
    state: &Path,
    mut machine: M,
) -> Result<StatusView, NetError> {
    replay(&mut machine, |reader| look_into(state, reader))?;
    Ok(machine.status())
}

/// Shows every stored event until it is told to stop.
type EventReader<'a> = dyn FnMut(u32, Event<'_>) -> bool + 'a;

/// Gives a new machine everything that was stored, and returns how much that was.
fn replay<M: CoordinatorMachine>(
    machine: &mut M,
    read: impl FnOnce(&mut EventReader<'_>) -> Result<(), StoreError>,
) -> Result<u64, NetError> {
    let mut n_events = 0_u64;
    let mut trouble = None;
    read(&mut |epoch, event| {
        n_events += 1;
        let taken = match event {
            Event::Message(party, bytes) => machine.receive(party, bytes),
            Event::Closed => {
                machine.close_phase();
                Ok(())
            }
            Event::Checkpoint(bytes) => machine.restore(epoch, bytes),
        };
        // What these effects were to store is stored: it was one transaction with their input.
        while machine.poll().is_some() {}
        trouble = taken.err();
        trouble.is_none()
    })?;
    match trouble {
        None => Ok(n_events),
        Some(Refused { reason, .. }) => Err(NetError::Study(Refused::because(format!(
            "stored event {n_events} does not fit: {reason}; the state file was changed, or another version wrote it"
        )))),
    }
}

impl<M: CoordinatorMachine> Keeper<M> {
    /// Rebuilds the study from what was stored.
    pub(crate) fn rebuild(mut machine: M, mut store: Box<dyn Store>) -> Result<Self, NetError> {
        let n_events = replay(&mut machine, |reader| store.replay(reader))?;
        let artefacts = store.artefacts()?;
        info!(events = n_events, start = store.start(), phase = %machine.phase().name, "study opened");
        Ok(Self {
            machine,
            store,
            artefacts,
            is_broken: false,
        })
    }

    /// Carries out what the machine wanted before any input.
    pub(crate) fn begin(
        &mut self,
        roster: &Roster,
        outboxes: &Mutex<Outboxes>,
    ) -> Result<Vec<usize>, NetError> {
        let epoch = self.machine.phase().epoch;
        self.carry_out(epoch, None, roster, outboxes)
    }

    /// A message.
    pub(crate) fn receive(
        &mut self,
        from: PartyId,
        message: &[u8],
        roster: &Roster,
        outboxes: &Mutex<Outboxes>,
    ) -> Result<Outcome, NetError> {
        self.check()?;
        let epoch = self.machine.phase().epoch;
        if let Err(refused) = self.machine.receive(from, message) {
            return Ok(Outcome::Refused(refused));
        }
        let is_stored = !self.machine.is_passed_on(message);
        let input = is_stored.then_some(Event::Message(from, message));
        self.carry_out(epoch, input, roster, outboxes)
            .map(Outcome::Accepted)
    }

    /// A client came, or came back. Its outbox is new.
    pub(crate) fn returned(
        &mut self,
        party: PartyId,
        roster: &Roster,
        outboxes: &Mutex<Outboxes>,
    ) -> Result<Vec<usize>, NetError> {
        self.check()?;
        let epoch = self.machine.phase().epoch;
        self.machine.returned(party);
        self.carry_out(epoch, None, roster, outboxes)
    }

    /// Closes the phase `number`, unless it was closed in the meantime.
    pub(crate) fn close_phase(
        &mut self,
        number: u64,
        roster: &Roster,
        outboxes: &Mutex<Outboxes>,
    ) -> Result<Closed, NetError> {
        self.check()?;
        let phase = self.machine.phase();
        if phase.number != number || phase.is_end {
            return Ok(Closed::default());
        }
        let missing = self.waits_for(roster);
        self.machine.close_phase();
        let touched = self.carry_out(phase.epoch, Some(Event::Closed), roster, outboxes)?;
        let next = self.machine.phase();
        if next.number <= number && !next.is_end {
            self.is_broken = true;
            return Err(NetError::Machine(format!(
                "phase {number} ({}) stayed open after it was closed",
                next.name
            )));
        }
        info!(closed = %phase.name, missing = missing.len(), phase = %next.name, "phase closed");
        Ok(Closed { touched, missing })
    }

    /// Ends the study without a result.
    pub(crate) fn cancel(
        &mut self,
        roster: &Roster,
        outboxes: &Mutex<Outboxes>,
    ) -> Result<Vec<usize>, NetError> {
        self.check()?;
        let epoch = self.machine.phase().epoch;
        self.machine.cancel();
        self.carry_out(epoch, None, roster, outboxes)
    }

    pub(crate) fn phase(&self) -> PhaseInfo {
        self.machine.phase()
    }

    /// Whose answer the present phase lacks, by place in the roster.
    pub(crate) fn waits_for(&self, roster: &Roster) -> Vec<usize> {
        let awaited = self.machine.waits_for().into_iter();
        awaited.filter_map(|party| roster.place_of(party)).collect()
    }

    pub(crate) fn status(&self) -> StatusView {
        self.machine.status()
    }

    /// The machine, to look at.
    pub(crate) fn machine(&self) -> Result<&M, NetError> {
        self.check()?;
        Ok(&self.machine)
    }

    /// How the study ended, if it did.
    pub(crate) const fn artefacts(&self) -> Option<&Artefacts> {
        self.artefacts.as_ref()
    }

    /// Which start of the server this is.
    pub(crate) fn start(&self) -> u64 {
        self.store.start()
    }

    fn check(&self) -> Result<(), NetError> {
        if self.is_broken {
            return Err(NetError::Machine("an earlier failure".to_owned()));
        }
        Ok(())
    }

    /// Stores the input with what it caused, and only then hands notices over.
    fn carry_out(
        &mut self,
        epoch: u32,
        input: Option<Event<'_>>,
        roster: &Roster,
        outboxes: &Mutex<Outboxes>,
    ) -> Result<Vec<usize>, NetError> {
        let mut notices: Vec<(PartyId, Arc<[u8]>)> = Vec::new();
        let mut checkpoints = Vec::new();
        let mut artefacts = None;
        while let Some(effect) = self.machine.poll() {
            match effect {
                CoordinatorEffect::Send(party, notice) => {
                    // A notice to all is kept once.
                    let notice = match notices.last() {
                        Some((_, last)) if **last == *notice => Arc::clone(last),
                        _ => Arc::from(notice),
                    };
                    notices.push((party, notice));
                }
                CoordinatorEffect::Checkpoint { epoch, bytes } => checkpoints.push((epoch, bytes)),
                CoordinatorEffect::Finished { artefacts: files } => artefacts = Some(files),
            }
        }
        if input.is_some() || !checkpoints.is_empty() || artefacts.is_some() {
            let entry = Entry {
                epoch,
                input,
                checkpoints: checkpoints
                    .iter()
                    .map(|(epoch, bytes)| (*epoch, bytes.as_slice()))
                    .collect(),
                artefacts: artefacts.as_deref(),
            };
            if let Err(error) = self.store.commit(&entry) {
                self.is_broken = true;
                return Err(error.into());
            }
        }
        if artefacts.is_some() {
            self.artefacts = artefacts;
        }
        let mut touched = Vec::new();
        let mut outboxes = outboxes
            .lock()
            .map_err(|_| NetError::Machine("the outboxes are damaged".to_owned()))?;
        for (party, notice) in notices {
            let Some(place) = roster.place_of(party) else {
                self.is_broken = true;
                return Err(NetError::Machine(format!(
                    "a notice for party {party}, which is not in the roster"
                )));
            };
            let n_bytes = notice.len();
            let is_here = outboxes.put(place, notice);
            debug!(party = party.0, bytes = n_bytes, is_here, "notice");
            if is_here {
                touched.push(place);
            }
        }
        Ok(touched)
    }
}
