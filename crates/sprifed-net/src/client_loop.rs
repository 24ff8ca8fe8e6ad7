//! A client's process: return, follow notices, keep before sending, and never give up by accident.

mod backoff;
mod exchange;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sprifed_party::{
    ClientEnd, Journal, SqliteJournal, erase_private, replace_private, write_artefacts,
};
use tokio::task::JoinSet;
use tracing::{info, warn};

use crate::certificates::Identity;
use crate::error::NetError;
use crate::machine::{ClientEffect, ClientMachine, Refused};
use crate::runtime::until_signal;

pub use backoff::Persistence;
use exchange::{Exchange, Reply, Sent};

/// Everything a client's process is told.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// The study's identity; its state file serves no other.
    pub study: String,
    /// Where the coordinator is: `https://host:port`.
    pub coordinator: String,
    /// The client's certificate and key.
    pub identity: Identity,
    /// The authorities of the coordinator's certificate; no other is trusted.
    pub authorities: PathBuf,
    /// The state file; created if there is none.
    pub state: PathBuf,
    /// The file with the secret of the study, which is erased when the client's part is over.
    pub secret: Option<PathBuf>,
    /// The folder for receipts.
    pub artefacts: PathBuf,
    /// A proxy to connect through, such as `http://proxy:3128`.
    pub proxy: Option<String>,
    /// How hard it tries to reach the coordinator.
    pub persistence: Persistence,
    /// The most bytes of a notice; a longer answer ends the process.
    pub largest_notice: usize,
}

/// How a client's process ended without an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEnded {
    /// Its part is over; these files were written.
    Finished {
        /// Whether the study ended as planned.
        success: bool,
        /// Where the artefacts are.
        files: Vec<PathBuf>,
    },
    /// It was told to stop. Started again, it goes on.
    Interrupted,
}

/// A client whose state is open.
pub struct ClientLoop<F> {
    config: ClientConfig,
    journal: Box<dyn Journal>,
    exchange: Exchange,
    factory: Arc<Mutex<F>>,
}

impl<F> fmt::Debug for ClientLoop<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClientLoop")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl<F, M> ClientLoop<F>
where
    M: ClientMachine,
    F: FnMut(Vec<Vec<u8>>) -> Result<M, Refused> + Send + 'static,
{
    /// Opens the state file. The factory makes a machine from all that an earlier one persisted; it is
    /// called at the start and whenever the coordinator asks the client to begin anew.
    ///
    /// # Errors
    /// If the state is in use or damaged, or a certificate can not be used.
    pub fn open(config: ClientConfig, factory: F) -> Result<Self, NetError> {
        let journal = SqliteJournal::open(&config.state, &config.study)?;
        Self::open_with_journal(config, Box::new(journal), factory)
    }

    /// As [`open`](Self::open), with another place for the state.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_journal(
        config: ClientConfig,
        journal: Box<dyn Journal>,
        factory: F,
    ) -> Result<Self, NetError> {
        let exchange = Exchange::new(&config)?;
        Ok(Self {
            config,
            journal,
            exchange,
            factory: Arc::new(Mutex::new(factory)),
        })
    }

    /// Takes part until the client's part is over or `shutdown` is ready.
    ///
    /// # Errors
    /// If the state could not be stored; nothing that depends on it was sent. If the coordinator turns
    /// this client away or is out of reach for too long, or the client refuses for good what it says.
    pub async fn run(
        mut self,
        shutdown: impl Future<Output = ()>,
    ) -> Result<ClientEnded, NetError> {
        // Cut off at any await, a client is as one that was killed: all that matters is stored.
        tokio::select! {
            ended = self.take_part() => ended,
            () = shutdown => {
                info!("told to stop; the state is stored");
                Ok(ClientEnded::Interrupted)
            }
        }
    }

    /// Takes part on threads of its own until its part is over or the process is told to stop.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_until_signal(self) -> Result<ClientEnded, NetError> {
        until_signal(|shutdown| self.run(shutdown))
    }

    /// Runs many clients on the threads of one process until all are over, for measurements.
    ///
    /// # Errors
    /// As [`run`](Self::run), with the first client that failed; the others are given up then.
    pub fn run_together(clients: Vec<Self>) -> Result<Vec<ClientEnded>, NetError> {
        until_signal(|shutdown| async move {
            let mut running = JoinSet::new();
            for client in clients {
                running.spawn(client.run(std::future::pending()));
            }
            let all = async {
                let mut ended = Vec::new();
                while let Some(one) = running.join_next().await {
                    ended.push(one.map_err(|panic| NetError::Machine(panic.to_string()))??);
                }
                Ok(ended)
            };
            tokio::select! {
                ended = all => ended,
                () = shutdown => Ok(Vec::new()),
            }
        })
    }

    async fn take_part(&mut self) -> Result<ClientEnded, NetError> {
        if let Some(end) = self.journal.end()? {
            return self.deliver(&end);
        }
        loop {
            let entries = self.journal.entries()?;
            info!(entries = entries.len(), "begin");
            let factory = Arc::clone(&self.factory);
            let machine = computed(move || {
                let mut factory = factory.lock().unwrap_or_else(PoisonError::into_inner);
                factory(entries)
            });
            let machine = machine.await??;
            self.exchange.come_back().await?;
            if let Some(end) = self.follow(machine).await? {
                self.journal.finish(&end)?;
                let delivered = self.deliver(&end)?;
                self.exchange.leave().await;
                return Ok(delivered);
            }
            info!("the coordinator began anew");
        }
    }

    /// Follows the notices of one session; ends with none if the coordinator has forgotten it.
    async fn follow(&mut self, machine: M) -> Result<Option<ClientEnd>, NetError> {
        let mut machine = machine;
        let mut after = 0;
        loop {
            let polled;
            (machine, polled) = self.carry_out(machine).await?;
            if let Some(end) = polled {
                return Ok(Some(end));
            }
            let Reply::Notice { number, bytes } = self.exchange.notice(after).await? else {
                return Ok(None);
            };
            let taken;
            (machine, taken) = computed(move || {
                let taken = machine.receive(&bytes);
                (machine, taken)
            })
            .await?;
            if let Err(refused) = taken {
                if refused.is_final {
                    // It may have something to say before it goes.
                    self.carry_out(machine).await?;
                    self.exchange.leave().await;
                    return Err(NetError::RefusedByClient(refused));
                }
                warn!(notice = number, reason = %refused, "notice refused");
            }
            after = number;
        }
    }

    /// One effect after the other, each before the machine is asked for the next: what is persisted is on the disk
    /// before anything that depends on it is computed or sent.
    async fn carry_out(&mut self, mut machine: M) -> Result<(M, Option<ClientEnd>), NetError> {
        loop {
            let effect;
            (machine, effect) = computed(move || {
                let effect = machine.poll();
                (machine, effect)
            })
            .await?;
            match effect {
                None => return Ok((machine, None)),
                Some(ClientEffect::Persist(entry)) => self.journal.append(&entry)?,
                Some(ClientEffect::Erase { place, tombstone }) => {
                    self.journal.erase(place, &tombstone)?;
                }
                Some(ClientEffect::ReplaceSecret(bytes)) => {
                    if let Some(secret) = &self.config.secret {
                        replace_private(secret, &bytes)?;
                    }
                }
                Some(ClientEffect::Send(message)) => {
                    if let Sent::Refused(reason) = self.exchange.message(message).await? {
                        warn!(reason, "the study refused a message");
                    }
                }
                Some(ClientEffect::Finished { artefacts, success }) => {
                    return Ok((machine, Some(ClientEnd { artefacts, success })));
                }
            }
        }
    }

    fn deliver(&self, end: &ClientEnd) -> Result<ClientEnded, NetError> {
        let files = write_artefacts(&self.config.artefacts, &end.artefacts)?;
        if let Some(secret) = &self.config.secret {
            erase_private(secret)?;
        }
        info!(success = end.success, files = files.len(), "part over");
        Ok(ClientEnded::Finished {
            success: end.success,
            files,
        })
    }
}

/// Computes on a thread that may block.
async fn computed<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NetError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|panic| NetError::Machine(panic.to_string()))
}
