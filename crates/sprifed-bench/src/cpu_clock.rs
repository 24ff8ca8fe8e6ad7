//! CPU time of this process: what a step costs, whatever else the machine does meanwhile.

use std::time::Duration;

/// How much CPU time this process has used.
#[cfg(unix)]
pub(crate) fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Time that passed, where the system has no clock of CPU time that we can read.
#[cfg(not(unix))]
pub(crate) fn now() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// What [`now`] measures, for the reader of a table.
pub(crate) const KIND: &str = if cfg!(unix) {
    "CPU time of the process"
} else {
    "elapsed time (no CPU clock on this system)"
};

/// Adds the CPU time of `work` to `total`.
pub(crate) fn clocked<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = now();
    let result = work();
    *total += now().saturating_sub(start);
    result
}

/// The middle one of some measurements; of an even number, the larger of the two.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
