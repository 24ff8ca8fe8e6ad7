//! What all connections of a coordinator share, and the order in which it is locked: keeper, then outboxes.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, Semaphore};
use tracing::info;

use crate::error::NetError;
use crate::keeper::Keeper;
use crate::machine::CoordinatorMachine;
use crate::metrics::Metrics;
use crate::outbox::Outboxes;
use crate::roster::Roster;
use crate::server::Limits;
use crate::status::{Presence, StatusView};

/// The server is stopping because of a failure that [`Shared::failure`] tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopping;

/// What the coordinator knows of one client's connections.
#[derive(Debug)]
pub(crate) struct Seat {
    /// Rung when there is a notice.
    pub(crate) bell: Notify,
    /// One upload at a time.
    pub(crate) upload: Semaphore,
    /// Connections that are left to it.
    pub(crate) connections: Arc<Semaphore>,
    /// It once took too long to send a message: it shares one lane with others like it.
    pub(crate) is_slow: AtomicBool,
    /// It said good-bye.
    pub(crate) has_left: AtomicBool,
    /// It closed the connection that ended last, or broke off.
    pub(crate) is_gone: AtomicBool,
    /// It was missing when a phase was closed, and was silent since. Forgotten when the server starts again: then
    /// it is waited for once more.
    is_missing: AtomicBool,
}

/// What all connections share.
pub(crate) struct Shared<M> {
    keeper: Mutex<Keeper<M>>,
    pub(crate) outboxes: Mutex<Outboxes>,
    pub(crate) roster: Roster,
    pub(crate) seats: Vec<Seat>,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) start: u64,
    /// Rung when the machine may have changed.
    pub(crate) changed: Notify,
    pub(crate) fast_lane: Semaphore,
    pub(crate) slow_lane: Semaphore,
    /// Connections that are left to readers of the page.
    pub(crate) page_places: Arc<Semaphore>,
    status: Mutex<Arc<StatusView>>,
    failure: Mutex<Option<NetError>>,
    failed: Notify,
}

impl<M> fmt::Debug for Shared<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl<M: CoordinatorMachine> Shared<M> {
    pub(super) fn new(keeper: Keeper<M>, roster: Roster, limits: Limits) -> Self {
        let n_clients = roster.entries().len();
        let seat = || Seat {
            bell: Notify::new(),
            upload: Semaphore::new(1),
            connections: Arc::new(Semaphore::new(limits.connections_per_client)),
            is_slow: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
            is_missing: AtomicBool::new(false),
        };
        Self {
            outboxes: Mutex::new(Outboxes::new(n_clients, limits.absence)),
            seats: std::iter::repeat_with(seat).take(n_clients).collect(),
            roster,
            limits,
            metrics: Metrics::default(),
            start: keeper.start(),
            changed: Notify::new(),
            fast_lane: Semaphore::new(limits.uploads_at_once.max(1)),
            slow_lane: Semaphore::new(1),
            page_places: Arc::new(Semaphore::new(limits.page_connections)),
            status: Mutex::new(Arc::new(keeper.status())),
            failure: Mutex::new(None),
            failed: Notify::new(),
            keeper: Mutex::new(keeper),
        }
    }

    /// What the machine wanted before any input.
    pub(super) async fn begin(self: &Arc<Self>) {
        let begun = self.with_keeper(|keeper, shared| {
            let touched = keeper.begin(&shared.roster, &shared.outboxes)?;
            shared.ring(&touched);
            Ok(())
        });
        // A failure is told by `failure`.
        let _ = begun.await;
    }

    /// Works with the machine on a thread that may block. An error stops the server.
    pub(crate) async fn with_keeper<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Keeper<M>, &Self) -> Result<T, NetError> + Send + 'static,
    ) -> Result<T, Stopping> {
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let Ok(mut keeper) = shared.keeper.lock() else {
                return shared.fail(NetError::Machine("it panicked".to_owned()));
            };
            // Told while the machine is locked: the next request finds it broken and fails for that.
            work(&mut keeper, &shared).or_else(|error| shared.fail(error))
        });
        done.await
            .unwrap_or_else(|panic| self.fail(NetError::Machine(panic.to_string())))
    }

    /// The first failure is the one that is told.
    fn fail<T>(&self, error: NetError) -> Result<T, Stopping> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
        self.failed.notify_one();
        Err(Stopping)
    }

    /// Ready when the server has to stop.
    pub(super) async fn failure(&self) -> NetError {
        loop {
            match self.take_failure() {
                Some(error) => return error,
                None => self.failed.notified().await,
            }
        }
    }

    /// Wakes those who have notices, and tasks that wait for the phase to change.
    pub(crate) fn ring(&self, places: &[usize]) {
        for place in places {
            self.seats[*place].bell.notify_waiters();
        }
        self.changed.notify_one();
    }

    /// The public facts, as new as they can be had without waiting for the machine.
    pub(crate) fn status(&self) -> Arc<StatusView> {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(keeper) = self.keeper.try_lock() {
            *status = Arc::new(keeper.status());
        }
        Arc::clone(&status)
    }

    /// Which parties are there now, in the order of the roster. Notices are kept for longer, for parties that come
    /// back.
    pub(crate) fn presence(&self) -> Vec<Presence> {
        let outboxes = self.outboxes.lock().unwrap_or_else(PoisonError::into_inner);
        let seats = self.seats.iter().enumerate();
        seats
            .map(|(place, seat)| {
                let is_open =
                    seat.connections.available_permits() < self.limits.connections_per_client;
                if !outboxes.is_here(place) {
                    Presence::Away
                } else if is_open {
                    Presence::Connected
                } else if seat.is_gone.load(Ordering::Relaxed) {
                    Presence::Away
                } else {
                    Presence::Quiet
                }
            })
            .collect()
    }

    /// Notes that a phase was closed without the clients at `places`.
    pub(super) fn miss(&self, places: &[usize]) {
        for place in places {
            self.seats[*place].is_missing.store(true, Ordering::Relaxed);
        }
    }

    /// Notes a request of the client at `place`. One that was missing is waited for again.
    pub(super) fn note_report(&self, place: usize) {
        if self.seats[place].is_missing.swap(false, Ordering::Relaxed) {
            info!(party = self.name(place), "reports again");
            self.changed.notify_one();
        }
    }

    /// Whether the client at `place` was missing when a phase was closed, and was silent since.
    pub(crate) fn is_missing(&self, place: usize) -> bool {
        self.seats[place].is_missing.load(Ordering::Relaxed)
    }

    /// The client's name.
    pub(crate) fn name(&self, place: usize) -> &str {
        &self.roster.entries()[place].name
    }

    /// Whether every client that connects said good-bye.
    pub(super) fn has_everyone_left(&self) -> bool {
        let mut seats = self.seats.iter().zip(self.roster.entries());
        seats.all(|(seat, entry)| {
            entry.certificate.is_none() || seat.has_left.load(Ordering::Relaxed)
        })
    }

    /// Works with the machine on this thread, beside the requests of clients.
    ///
    /// # Errors
    /// If this fails, or something failed before: the failure that came first.
    pub(super) fn work<T>(
        &self,
        work: impl FnOnce(&mut Keeper<M>) -> Result<T, NetError>,
    ) -> Result<T, NetError> {
        let worked = match self.keeper.lock() {
            Ok(mut keeper) => work(&mut keeper),
            Err(_) => Err(NetError::Machine("it panicked".to_owned())),
        };
        worked.map_err(|error| self.take_failure().unwrap_or(error))
    }

    /// The failure that was not told yet.
    fn take_failure(&self) -> Option<NetError> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}
