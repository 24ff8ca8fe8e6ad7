//! Time: a phase is closed when everyone answered or patience is over.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::info;

use crate::machine::{CoordinatorMachine, PhaseInfo};
use crate::server::{Patience, Shared};
use crate::store::Artefacts;

/// Closes phases until the study is over, and returns how it ended. Never ready after a failure.
pub(super) async fn drive<M: CoordinatorMachine>(
    shared: &Arc<Shared<M>>,
    patience: Patience,
) -> Artefacts {
    let mut open: Option<(u64, Instant)> = None;
    loop {
        let looked = shared.with_keeper(|keeper, _| {
            let phase = keeper.phase();
            let artefacts = phase.is_end.then(|| keeper.artefacts().cloned());
            Ok((phase, keeper.waits_for_nobody(), artefacts))
        });
        let Ok((phase, waits_for_nobody, artefacts)) = looked.await else {
            return std::future::pending().await;
        };
        if let Some(artefacts) = artefacts {
            return artefacts.unwrap_or_default();
        }
        let deadline = match open {
            Some((number, deadline)) if number == phase.number => deadline,
            _ => Instant::now() + allowed(&phase, patience),
        };
        open = Some((phase.number, deadline));
        if !waits_for_nobody {
            tokio::select! {
                () = shared.changed.notified() => continue,
                () = sleep_until(deadline) => {}
            }
        }
        let closed = shared.with_keeper(move |keeper, shared| {
            let touched = keeper.close_phase(phase.number, &shared.roster, &shared.outboxes)?;
            shared.ring(&touched);
            Ok(())
        });
        if closed.await.is_err() {
            return std::future::pending().await;
        }
        shared.metrics.phases_closed.count();
    }
}

/// How often a coordinator looks whether its study was cancelled.
const LOOK: Duration = Duration::from_millis(500);

/// Cancels the study as soon as the file `cancellation` is there. Never ready: the study still has to end.
pub(super) async fn cancel_when<M: CoordinatorMachine>(
    shared: &Arc<Shared<M>>,
    cancellation: &Path,
) -> Infallible {
    // What can not be looked at is not there: a study is not ended by a disk that is away.
    while !fs::exists(cancellation).unwrap_or(false) {
        sleep(LOOK).await;
    }
    info!("cancelled");
    let cancelled = shared.with_keeper(|keeper, shared| {
        let touched = keeper.cancel(&shared.roster, &shared.outboxes)?;
        shared.ring(&touched);
        Ok(())
    });
    // A failure is told by `failure`.
    let _ = cancelled.await;
    std::future::pending().await
}

/// Waits until every client has fetched the end, but not longer than `time`.
pub(super) async fn farewell<M: CoordinatorMachine>(shared: &Arc<Shared<M>>, time: Duration) {
    let all = async {
        while !shared.has_everyone_left() {
            shared.changed.notified().await;
        }
    };
    let _ = timeout(time, all).await;
}

fn allowed(phase: &PhaseInfo, patience: Patience) -> Duration {
    match phase.epoch {
        0 => patience.setup,
        _ => patience.per_phase,
    }
}
