//! Threads and signals, so that no other crate needs to know of either.

use std::pin::Pin;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::error::NetError;

/// A future that is ready when the process is told to stop.
pub(crate) type Shutdown = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs `work` on a runtime of its own; it is told of an interrupt or a request to terminate.
pub(crate) fn until_signal<T, W>(work: impl FnOnce(Shutdown) -> W) -> Result<T, NetError>
where
    W: Future<Output = Result<T, NetError>>,
{
    let runtime = new_runtime()?;
    let result = runtime.block_on(async {
        let signal = told_to_stop()?;
        work(signal).await
    });
    // A machine may compute for long; everything that matters is stored.
    runtime.shutdown_timeout(LAST_WORK);
    result
}

/// Threads of their own.
pub(crate) fn new_runtime() -> Result<Runtime, NetError> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(NetError::Runtime)
}

/// How long work that has begun is waited for when its threads are given up.
pub(crate) const LAST_WORK: Duration = Duration::from_millis(500);

#[cfg(unix)]
fn told_to_stop() -> Result<Shutdown, NetError> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).map_err(NetError::Runtime)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(NetError::Runtime)?;
    Ok(Box::pin(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }))
}

#[cfg(not(unix))]
fn told_to_stop() -> Result<Shutdown, NetError> {
    Ok(Box::pin(async {
        let _ = tokio::signal::ctrl_c().await;
    }))
}
