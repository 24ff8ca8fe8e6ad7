//! The protocol as its users see it: both roles, in one process, without a network.

mod exact_sums;
mod world;
