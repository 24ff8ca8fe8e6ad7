//! Time: a phase is closed when everyone answered or patience is over.
//!
//! A client that was missing once is waited for only briefly in later phases, until it reports again. So a client that
//! died costs a study one timeout. Privacy does not depend on it: who is missing is decided by the machine.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::{info, warn};

use crate::machine::{CoordinatorMachine, PhaseInfo};
use crate::server::{Patience, Shared};
use sprifed_party::Artefacts;

/// When the open phase is closed at the latest.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    /// Which phase.
    number: u64,
    /// If a client is awaited that was not missing before.
    full: Instant,
    /// If only clients are awaited that were missing before.
    brief: Option<Instant>,
}

impl Deadline {
    fn of(phase: &PhaseInfo, patience: Patience, now: Instant) -> Self {
        let allowed = match phase.epoch {
            0 => patience.setup,
            _ => patience.per_phase,
        };
        Self {
            number: phase.number,
            full: now + allowed,
            brief: None,
        }
    }

    /// The deadline now; `only_missing`: all clients that are awaited were missing before.
    fn at(&mut self, only_missing: bool, missing: Duration, now: Instant) -> Instant {
        if !only_missing {
            self.brief = None;
            return self.full;
        }
        let brief = *self.brief.get_or_insert(now + missing);
        brief.min(self.full)
    }
}

/// Closes phases until the study is over, and returns how it ended. Never ready after a failure.
pub(super) async fn drive<M: CoordinatorMachine>(
    shared: &Arc<Shared<M>>,
    patience: Patience,
) -> Artefacts {
    let mut open: Option<Deadline> = None;
    loop {
        let looked = shared.with_keeper(|keeper, shared| {
            let phase = keeper.phase();
            let artefacts = phase.is_end.then(|| keeper.artefacts().cloned());
            Ok((phase, keeper.waits_for(&shared.roster), artefacts))
        });
        let Ok((phase, awaited, artefacts)) = looked.await else {
            return std::future::pending().await;
        };
        if let Some(artefacts) = artefacts {
            return artefacts.unwrap_or_default();
        }
        let now = Instant::now();
        let mut deadline = match open {
            Some(deadline) if deadline.number == phase.number => deadline,
            _ => Deadline::of(&phase, patience, now),
        };
        let only_missing = awaited.iter().all(|place| shared.is_missing(*place));
        let until = deadline.at(only_missing, patience.missing, now);
        open = Some(deadline);
        if !awaited.is_empty() {
            tokio::select! {
                () = shared.changed.notified() => continue,
                () = sleep_until(until) => {}
            }
        }
        let closed = shared.with_keeper(move |keeper, shared| {
            let closed = keeper.close_phase(phase.number, &shared.roster, &shared.outboxes)?;
            tell(shared, &phase, &closed.missing);
            shared.miss(&closed.missing);
            shared.ring(&closed.touched);
            Ok(())
        });
        if closed.await.is_err() {
            return std::future::pending().await;
        }
        shared.metrics.phases_closed.count();
    }
}

/// Says which parties a phase was closed without, and for whom it waited until the timeout.
fn tell<M: CoordinatorMachine>(shared: &Shared<M>, phase: &PhaseInfo, missing: &[usize]) {
    for place in missing {
        let party = shared.name(*place);
        if shared.is_missing(*place) {
            info!(party, phase = %phase.name, "still missing: waited for only briefly");
        } else {
            warn!(party, phase = %phase.name, "dropped out: no answer in time");
        }
    }
}

/// How often a coordinator looks whether its study was cancelled.
const LOOK: Duration = Duration::from_millis(500);

/// Cancels the study as soon as the file `cancellation` is there. Never ready: the study still has to end.
pub(super) async fn cancel_when<M: CoordinatorMachine>(
    shared: &Arc<Shared<M>>,
    cancellation: &Path,
) -> Infallible {
    // What cannot be looked at is not there: a study is not ended by a disk that is away.
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

#[cfg(test)]
mod tests {
    use super::{Deadline, Duration, Instant, Patience, PhaseInfo};

    #[test]
    fn only_clients_that_were_missing_before_are_waited_for_briefly() {
        let patience = Patience::default();
        let phase = PhaseInfo {
            number: 3,
            name: "uploads".to_owned(),
            epoch: 1,
            is_end: false,
        };
        let second = Duration::from_secs(1);
        let start = Instant::now();
        let mut deadline = Deadline::of(&phase, patience, start);
        let full = start + patience.per_phase;
        assert_eq!(deadline.at(false, patience.missing, start), full);
        // From when the last of the others has answered, however often it is asked.
        let alone = start + 7 * second;
        for later in 0..3 {
            let found = deadline.at(true, patience.missing, alone + later * second);
            assert_eq!(found, alone + patience.missing);
        }
        // One of them reports: it has the whole time of the phase.
        assert_eq!(deadline.at(false, patience.missing, alone), full);
        let again = start + 60 * second;
        let found = deadline.at(true, patience.missing, again);
        assert_eq!(found, again + patience.missing);
        // Never longer than the phase is allowed.
        let mut deadline = Deadline::of(&phase, patience, start);
        assert_eq!(deadline.at(true, 10 * patience.per_phase, start), full);
    }
}
