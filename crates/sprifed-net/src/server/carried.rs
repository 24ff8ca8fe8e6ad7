//! A study whose parties another program reaches: it carries their messages, and it keeps time.
//!
//! Clients with a certificate connect as they do to a [`Server`](super::Server), by the same routes: the trustees of such
//! a study. There is one machine and one state file. Deliberately absent: phases that are closed by a clock of this crate,
//! and a page.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sprifed_party::Artefacts;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::info;

use super::connections::Listener;
use super::shared::Shared;
use super::{GRACE, Limits, phases, routes};
use crate::certificates::Identity;
use crate::error::NetError;
use crate::keeper::{Keeper, Outcome};
use crate::machine::{CoordinatorMachine, PartyId, Refused};
use crate::roster::{Roster, RosterEntry};
use crate::runtime::{LAST_WORK, new_runtime};
use crate::store::SqliteStore;
use crate::tls;

/// What is to be carried: the notices of each party, in order.
pub type Notices = Vec<(PartyId, Vec<Arc<[u8]>>)>;

/// The study of a coordinator, for a program that carries the messages of those in the roster without a certificate.
///
/// Dropped, it gives back its state file; opened again, it goes on.
#[derive(Debug)]
pub struct CarriedStudy<M> {
    shared: Arc<Shared<M>>,
    listening: Option<Listening>,
}

/// A socket that is served on threads of its own.
#[derive(Debug)]
struct Listening {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    /// None while it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(LAST_WORK);
        }
    }
}

impl<M: CoordinatorMachine> CarriedStudy<M> {
    /// Opens the state file of `study`, makes the machine and replays what was stored.
    ///
    /// # Errors
    /// If the state is in use or damaged, or two clients of the roster have one certificate.
    pub fn open(
        (state, study): (&Path, &str),
        roster: Vec<RosterEntry>,
        limits: Limits,
        factory: impl FnOnce() -> Result<M, Refused>,
    ) -> Result<Self, NetError> {
        let store = SqliteStore::open(state, study)?;
        let roster = Roster::new(roster)?;
        let keeper = Keeper::rebuild(factory()?, Box::new(store))?;
        let this = Self {
            shared: Arc::new(Shared::new(keeper, roster, limits)),
            listening: None,
        };
        if let Ok(mut outboxes) = this.shared.outboxes.lock() {
            for place in this.carried() {
                outboxes.carry(place);
            }
        }
        this.work(|keeper, shared| keeper.begin(&shared.roster, &shared.outboxes))?;
        Ok(this)
    }

    /// Serves the clients that have a certificate, from now on. Returns the address; the port is known even if any was
    /// asked for.
    ///
    /// # Errors
    /// If a certificate cannot be used or the address is taken.
    pub fn listen(
        &mut self,
        address: SocketAddr,
        identity: &Identity,
        authorities: &Path,
    ) -> Result<SocketAddr, NetError> {
        let tls = tls::coordinator(identity, authorities)?;
        let listener = Listener::bind(address, Some(tls))?;
        let address = listener.address();
        let runtime = new_runtime()?;
        let (stop, stopped) = watch::channel(false);
        let routes = routes::router(Arc::clone(&self.shared), stopped.clone());
        let serving = runtime.spawn(listener.serve(Arc::clone(&self.shared), routes, stopped));
        info!(%address, "waiting for trustees");
        self.listening = Some(Listening {
            address,
            stop,
            serving,
            runtime: Some(runtime),
        });
        Ok(address)
    }

    /// Where clients connect, if they do.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.listening.as_ref().map(|listening| listening.address)
    }

    /// What `look` reads off the machine now.
    ///
    /// # Errors
    /// If something could not be stored before: the machine is ahead of its state then.
    pub fn look<T>(&self, look: impl FnOnce(&M) -> T) -> Result<T, NetError> {
        self.shared.work(|keeper| keeper.machine().map(look))
    }

    /// Takes a message of `from`, whose identity the caller has checked; it is stored when this returns. Says why it was
    /// refused, if it was; nothing has changed then.
    ///
    /// # Errors
    /// If it could not be stored.
    pub fn receive(&self, from: PartyId, message: &[u8]) -> Result<Result<(), Refused>, NetError> {
        let mut refused = Ok(());
        self.work(|keeper, shared| {
            match keeper.receive(from, message, &shared.roster, &shared.outboxes)? {
                Outcome::Accepted(touched) => Ok(touched),
                Outcome::Refused(why) => {
                    refused = Err(why);
                    Ok(Vec::new())
                }
            }
        })?;
        Ok(refused)
    }

    /// `party` came, or came back, with an empty memory: it is told again what it needs.
    ///
    /// # Errors
    /// If something failed before.
    pub fn returned(&self, party: PartyId) -> Result<(), NetError> {
        self.work(|keeper, shared| {
            if let (Some(place), Ok(mut outboxes)) =
                (shared.roster.place_of(party), shared.outboxes.lock())
            {
                outboxes.take(place);
            }
            keeper.returned(party, &shared.roster, &shared.outboxes)
        })
    }

    /// Everything that is to be carried now, by party and in order. It is not kept any longer.
    ///
    /// # Errors
    /// If something could not be stored before.
    pub fn notices(&self) -> Result<Notices, NetError> {
        self.shared.work(|keeper| {
            keeper.machine()?;
            let outboxes = self.shared.outboxes.lock();
            let mut outboxes =
                outboxes.map_err(|_| NetError::Machine("the outboxes are damaged".to_owned()))?;
            let entries = self.shared.roster.entries();
            let boxes = self.carried();
            let boxes = boxes.map(|place| (entries[place].party, outboxes.take(place)));
            Ok(boxes.filter(|(_, notices)| !notices.is_empty()).collect())
        })
    }

    /// Closes the present phase: those who have not answered have dropped out of it. A study that is over stays so.
    ///
    /// # Errors
    /// If it could not be stored.
    pub fn close_phase(&self) -> Result<(), NetError> {
        self.work(|keeper, shared| {
            let number = keeper.phase().number;
            let closed = keeper.close_phase(number, &shared.roster, &shared.outboxes)?;
            Ok(closed.touched)
        })
    }

    /// The files of a study that is over.
    ///
    /// # Errors
    /// If something could not be stored before.
    pub fn artefacts(&self) -> Result<Option<Artefacts>, NetError> {
        self.shared.work(|keeper| Ok(keeper.artefacts().cloned()))
    }

    /// Waits until every client that connects has fetched the end, but not longer than `time`; then no client is served
    /// any more.
    pub fn farewell(&mut self, time: Duration) {
        let Some(mut listening) = self.listening.take() else {
            return;
        };
        let Listening {
            stop,
            serving,
            runtime,
            ..
        } = &mut listening;
        if let Some(runtime) = runtime {
            runtime.block_on(async {
                phases::farewell(&self.shared, time).await;
                let _ = stop.send(true);
                let _ = tokio::time::timeout(GRACE, serving).await;
            });
        }
    }

    /// The places of those whose messages another program carries.
    fn carried(&self) -> impl Iterator<Item = usize> {
        let entries = self.shared.roster.entries().iter().enumerate();
        let carried = entries.filter(|(_, entry)| entry.certificate.is_none());
        carried.map(|(place, _)| place)
    }

    /// Gives the machine an input and wakes those whom it concerns.
    fn work(
        &self,
        input: impl FnOnce(&mut Keeper<M>, &Shared<M>) -> Result<Vec<usize>, NetError>,
    ) -> Result<(), NetError> {
        let touched = self.shared.work(|keeper| input(keeper, &self.shared))?;
        self.shared.ring(&touched);
        Ok(())
    }
}
