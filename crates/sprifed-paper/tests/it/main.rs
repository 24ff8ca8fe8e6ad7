//! What the comparisons decide.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]

mod decisions;
#[path = "../../../sprifed-recovery/tests/it/script.rs"]
mod script;
