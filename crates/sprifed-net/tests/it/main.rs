//! The shell with machines that only add numbers: what is tested is the carrying, keeping and waiting.

mod bodies;
mod crashing;
mod disk;
mod load;
mod page;
mod raw;
mod restarts;
mod stage;
mod strangers;
mod toy;
mod whole_run;
