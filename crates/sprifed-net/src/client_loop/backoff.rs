//! How long to wait before the next attempt: twice as long each time, and not all clients at once.

use std::time::Duration;

/// How hard a client tries to reach the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Persistence {
    /// The wait after the first failure; doubled after each further one.
    pub first_wait: Duration,
    /// The longest wait.
    pub longest_wait: Duration,
    /// After how long without contact it stops; none: never.
    pub give_up_after: Option<Duration>,
    /// Any number that differs between clients: it spreads their attempts and protects nothing.
    pub spread: u64,
}

impl Default for Persistence {
    fn default() -> Self {
        Self {
            first_wait: Duration::from_millis(250),
            longest_wait: Duration::from_secs(30),
            give_up_after: None,
            spread: 0,
        }
    }
}

impl Persistence {
    /// The wait after failure number `n_failures`, counted from 1: between half and all of the doubled wait.
    pub(super) fn wait(&self, n_failures: u32) -> Duration {
        let doubled = self
            .first_wait
            .saturating_mul(1 << (n_failures.clamp(1, 21) - 1))
            .min(self.longest_wait);
        let part = scrambled(self.spread ^ u64::from(n_failures)) >> 54;
        // Of 2048 parts: 1024 and up to 1023 more.
        let parts = u32::try_from(part).map_or(1024, |part| 1024 + part);
        doubled.saturating_mul(parts) / 2048
    }
}

/// The finalizer of SplitMix64: neighbouring numbers give unrelated ones.
const fn scrambled(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Duration, Persistence};

    #[test]
    fn waits_double_up_to_the_longest_and_keep_half_of_it() {
        let persistence = Persistence {
            spread: 7,
            ..Persistence::default()
        };
        for n_failures in 1..100 {
            let doubled = Duration::from_millis(250)
                .saturating_mul(1 << (n_failures.min(20) - 1))
                .min(Duration::from_secs(30));
            let wait = persistence.wait(n_failures);
            assert!(
                doubled / 2 <= wait && wait <= doubled,
                "{n_failures}: {wait:?}"
            );
        }
    }

    #[test]
    fn clients_do_not_wait_alike() {
        let waits = |spread| {
            let persistence = Persistence {
                spread,
                ..Persistence::default()
            };
            (1..6)
                .map(|failure| persistence.wait(failure))
                .collect::<Vec<_>>()
        };
        assert_ne!(waits(1), waits(2));
    }
}
