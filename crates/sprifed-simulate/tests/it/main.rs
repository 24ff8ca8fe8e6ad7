//! Whole runs of the certified procedures on generated worlds.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]

mod binary_slow;
mod designs;
mod floor;
mod inference_slow;
mod recovery;
mod robust_slow;
mod sites_slow;
mod status;
mod study;
mod survival_slow;
