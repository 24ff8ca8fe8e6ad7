//! The coordinator's process: who may connect, how long it waits, and when it stops.

mod carried;
mod connections;
mod phases;
mod routes;
mod shared;
mod upload;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sprifed_party::write_artefacts;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{error, info, warn};

use crate::certificates::Identity;
use crate::error::NetError;
use crate::keeper::Keeper;
use crate::machine::{CoordinatorMachine, Refused};
use crate::page;
use crate::roster::{Roster, RosterEntry};
use crate::runtime::until_signal;
use crate::store::{SqliteStore, Store};
use crate::tls;

pub use carried::{CarriedStudy, Notices};
use connections::Listener;
pub(crate) use shared::Shared;

/// Everything a coordinator's process is told.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The study's identity; its state file serves no other.
    pub study: String,
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Where the read-only page is, without TLS: a loopback address unless something protects it.
    pub page: Option<SocketAddr>,
    /// The coordinator's certificate and key.
    pub identity: Identity,
    /// The authorities of the clients' certificates, in one PEM file.
    pub authorities: PathBuf,
    /// Who may take part.
    pub roster: Vec<RosterEntry>,
    /// The state file; created if there is none.
    pub state: PathBuf,
    /// The folder for report and receipts.
    pub artefacts: PathBuf,
    /// When this file is there, now or later, the study is cancelled and its clients are told.
    pub cancellation: PathBuf,
    /// How long it waits for clients.
    pub patience: Patience,
    /// What one client may take of the coordinator.
    pub limits: Limits,
}

/// How long the coordinator waits before those who are missing count as dropped out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For each phase of the set-up (epoch 0).
    pub setup: Duration,
    /// For each later phase.
    pub per_phase: Duration,
    /// For clients that were missing when an earlier phase was closed and were silent since, once all others have
    /// answered. Never longer than the phase is allowed.
    pub missing: Duration,
    /// After the end, for everyone to fetch it.
    pub farewell: Duration,
}

impl Default for Patience {
    /// A day to come together, ten minutes for each phase, two seconds for clients that were missing before, half a
    /// minute for the end.
    fn default() -> Self {
        Self {
            setup: Duration::from_secs(24 * 3600),
            per_phase: Duration::from_secs(600),
            missing: Duration::from_secs(2),
            farewell: Duration::from_secs(30),
        }
    }
}

/// What one client may take of the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest message in bytes; more is refused before it is read.
    pub largest_message: usize,
    /// How many messages are read and processed at once; the others wait in the network.
    pub uploads_at_once: usize,
    /// How long one message may take to arrive once its turn has come.
    pub upload_time: Duration,
    /// How long a TLS handshake, or the head of a request, may take.
    pub head_time: Duration,
    /// How long a question for notices is held open.
    pub long_poll: Duration,
    /// After how long without a question a client's notices are dropped.
    pub absence: Duration,
    /// How many connections one client may hold.
    pub connections_per_client: usize,
    /// How many handshakes may be under way.
    pub handshakes_at_once: usize,
    /// How many connections all readers of the page may hold together.
    pub page_connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            largest_message: 16 << 20,
            uploads_at_once: 8,
            upload_time: Duration::from_secs(60),
            head_time: Duration::from_secs(30),
            long_poll: Duration::from_secs(25),
            absence: Duration::from_secs(600),
            connections_per_client: 8,
            handshakes_at_once: 256,
            page_connections: 64,
        }
    }
}

/// How a coordinator's process ended without an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The study is over; these files were written.
    Finished(Vec<PathBuf>),
    /// It was told to stop. Started again, it goes on.
    Interrupted,
}

/// A coordinator whose state is open and whose sockets are bound.
#[derive(Debug)]
pub struct Server<M> {
    shared: Arc<Shared<M>>,
    listener: Listener,
    page: Option<Listener>,
    config: ServerConfig,
}

impl<M: CoordinatorMachine> Server<M> {
    /// Opens the state file, makes the machine and replays what was stored.
    ///
    /// # Errors
    /// If the state is in use or damaged, a certificate cannot be used, or an address is taken.
    pub fn open(
        config: ServerConfig,
        factory: impl FnOnce() -> Result<M, Refused>,
    ) -> Result<Self, NetError> {
        let store = SqliteStore::open(&config.state, &config.study)?;
        Self::open_with_store(config, Box::new(store), factory)
    }

    /// As [`open`](Self::open), with another place for the state.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_store(
        config: ServerConfig,
        store: Box<dyn Store>,
        factory: impl FnOnce() -> Result<M, Refused>,
    ) -> Result<Self, NetError> {
        let roster = Roster::new(config.roster.clone())?;
        let tls = tls::coordinator(&config.identity, &config.authorities)?;
        let listener = Listener::bind(config.listen, Some(tls))?;
        let page = config
            .page
            .map(|address| Listener::bind(address, None))
            .transpose()?;
        let keeper = Keeper::rebuild(factory()?, store)?;
        Ok(Self {
            shared: Arc::new(Shared::new(keeper, roster, config.limits)),
            listener,
            page,
            config,
        })
    }

    /// Where clients connect; the port is known even if any was asked for.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Where the page is, if there is one.
    #[must_use]
    pub fn page_address(&self) -> Option<SocketAddr> {
        self.page.as_ref().map(Listener::address)
    }

    /// Serves until the study is over or `shutdown` is ready.
    ///
    /// # Errors
    /// If the state could not be stored; nothing that depends on it was sent.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<Ended, NetError> {
        let Self {
            shared,
            listener,
            page,
            config,
        } = self;
        let (stop, stopped) = watch::channel(false);
        shared.begin().await;
        info!(address = %listener.address(), "waiting for parties");
        // Dropped with this future, and with it every connection: an error sends nothing more.
        let mut serving = JoinSet::new();
        let routes = routes::router(Arc::clone(&shared), stopped.clone());
        serving.spawn(listener.serve(Arc::clone(&shared), routes, stopped.clone()));
        if let Some(page) = page {
            let address = page.address();
            info!(%address, "page");
            if !address.ip().is_loopback() {
                warn!(%address, "the page is open to the network, without TLS");
            }
            let routes = page::router(Arc::clone(&shared), address);
            serving.spawn(page.serve(Arc::clone(&shared), routes, stopped));
        }
        let ended = tokio::select! {
            error = shared.failure() => {
                error!(%error, "stopped");
                serving.shutdown().await;
                return Err(error);
            }
            never = phases::cancel_when(&shared, &config.cancellation) => match never {},
            artefacts = phases::drive(&shared, config.patience) => {
                let files = write_artefacts(&config.artefacts, &artefacts)?;
                info!(files = files.len(), "study over");
                let time = config.patience.farewell;
                if config.page.is_some() {
                    // A person may be looking at the result.
                    tokio::time::sleep(time).await;
                } else {
                    phases::farewell(&shared, time).await;
                }
                Ended::Finished(files)
            }
            () = shutdown => {
                info!("told to stop; the state is stored");
                Ended::Interrupted
            }
        };
        let _ = stop.send(true);
        let all = async { while serving.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(GRACE, all).await;
        Ok(ended)
    }

    /// Serves on threads of its own until the study is over or the process is told to stop.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_until_signal(self) -> Result<Ended, NetError> {
        until_signal(|shutdown| self.run(shutdown))
    }
}

/// Ready when the server stops.
async fn told(stopped: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone.
    let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
}

/// How long requests under way may take after the end.
pub(super) const GRACE: Duration = Duration::from_secs(5);
