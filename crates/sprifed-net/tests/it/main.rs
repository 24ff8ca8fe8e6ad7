//! The shell with machines that only add numbers: what is tested is the carrying, keeping and waiting.

#![expect(clippy::unwrap_used, reason = "a helper of tests may panic")]

mod bodies;
mod carried;
mod certificates;
mod client_journal;
mod crashing;
mod disk;
mod endless;
mod load;
mod network_cut;
mod page;
mod raw;
mod restarts;
mod stage;
mod strangers;
mod toy;
mod whole_run;
