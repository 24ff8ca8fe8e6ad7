//! Decisions of the certified procedures, from integers alone.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]

mod binary;
mod categories_slow;
mod decisions;
mod often_zero;
mod script;
mod survival;
