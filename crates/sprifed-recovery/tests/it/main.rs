//! Decisions of the certified procedures, from integers alone.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]

mod decisions;
mod script;
