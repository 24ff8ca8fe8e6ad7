//! A client's process: return, follow notices, send, and never give up by accident.

mod backoff;
mod exchange;

use std::path::PathBuf;

use sprifed_party::{Finished, Outgoing};
use tokio::task::JoinSet;
use tracing::{info, warn};

use crate::certificates::Identity;
use crate::error::NetError;
use crate::machine::ClientMachine;
use crate::runtime::until_signal;

pub use backoff::Persistence;
use exchange::{Exchange, Reply, Sent};

/// Everything a client's process is told.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Where the coordinator is: `https://host:port`.
    pub coordinator: String,
    /// The client's certificate and key.
    pub identity: Identity,
    /// The authorities of the coordinator's certificate; no other is trusted.
    pub authorities: PathBuf,
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
    /// Its part is over.
    Finished(Finished),
    /// It was told to stop. Started again, it goes on.
    Interrupted,
}

/// A client that has not begun.
#[derive(Debug)]
pub struct ClientLoop<M> {
    exchange: Exchange,
    machine: M,
}

impl<M: ClientMachine> ClientLoop<M> {
    /// A client that takes part with `machine`.
    ///
    /// # Errors
    /// If the address or a certificate cannot be used.
    pub fn open(config: &ClientConfig, machine: M) -> Result<Self, NetError> {
        let exchange = Exchange::new(config)?;
        Ok(Self { exchange, machine })
    }

    /// Takes part until the client's part is over or `shutdown` is ready.
    ///
    /// # Errors
    /// If the state could not be stored; nothing that depends on it was sent. If the coordinator turns
    /// this client away or is out of reach for too long, or the client refuses permanently what it says.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<ClientEnded, NetError> {
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

    async fn take_part(self) -> Result<ClientEnded, NetError> {
        let Self {
            mut exchange,
            mut machine,
        } = self;
        loop {
            info!("begin");
            let begun;
            (machine, begun) = computed(machine, M::restart).await?;
            if let Some(ended) = begun? {
                return Ok(over(ended));
            }
            exchange.come_back().await?;
            let followed;
            (machine, followed) = follow(&mut exchange, machine).await?;
            if let Some(ended) = followed {
                exchange.leave().await;
                return Ok(over(ended));
            }
            info!("the coordinator began anew");
        }
    }
}

fn over(ended: Finished) -> ClientEnded {
    let (success, files) = (ended.success, ended.files.len());
    info!(success, files, "part over");
    ClientEnded::Finished(ended)
}

/// Follows the notices of one session; ends with nothing if the coordinator has forgotten it.
async fn follow<M: ClientMachine>(
    exchange: &mut Exchange,
    mut machine: M,
) -> Result<(M, Option<Finished>), NetError> {
    let mut after = 0;
    loop {
        let ended;
        (machine, ended) = carry(exchange, machine).await?;
        if ended.is_some() {
            return Ok((machine, ended));
        }
        let Reply::Notice { number, bytes } = exchange.notice(after).await? else {
            return Ok((machine, None));
        };
        let taken;
        (machine, taken) = computed(machine, move |machine| machine.receive(&bytes)).await?;
        if let Err(refused) = taken {
            if refused.is_final {
                // It may have something to say before it goes.
                carry(exchange, machine).await?;
                exchange.leave().await;
                return Err(NetError::RefusedByClient(refused));
            }
            warn!(notice = number, reason = %refused, "notice refused");
        }
        after = number;
    }
}

/// Carries one message after the other to the coordinator, until there is none.
async fn carry<M: ClientMachine>(
    exchange: &Exchange,
    mut machine: M,
) -> Result<(M, Option<Finished>), NetError> {
    loop {
        let polled;
        (machine, polled) = computed(machine, M::poll).await?;
        match polled? {
            None => return Ok((machine, None)),
            Some(Outgoing::Send(message)) => {
                if let Sent::Refused(reason) = exchange.message(message).await? {
                    warn!(reason, "the study refused a message");
                }
            }
            Some(Outgoing::Ended(ended)) => return Ok((machine, Some(ended))),
        }
    }
}

/// Computes on a thread that may block.
async fn computed<M: Send + 'static, T: Send + 'static>(
    mut machine: M,
    work: impl FnOnce(&mut M) -> T + Send + 'static,
) -> Result<(M, T), NetError> {
    let computed = tokio::task::spawn_blocking(move || {
        let result = work(&mut machine);
        (machine, result)
    });
    computed
        .await
        .map_err(|panic| NetError::Machine(panic.to_string()))
}
