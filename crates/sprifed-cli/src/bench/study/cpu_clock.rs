//! CPU time of this process: what a step costs, whatever else the machine does meanwhile.

use std::time::Duration;

/// How much CPU time this process has used.
#[cfg(unix)]
pub(super) fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Time that passed, where the system has no clock of CPU time that we can read.
#[cfg(not(unix))]
pub(super) fn now() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
