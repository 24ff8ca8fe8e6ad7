//! The protocol as its users see it: both roles, in one process, without a network.

mod codec;
mod equivocation;
mod exact_sums;
mod noise;
mod phases;
mod simulator;
mod uniformity;
mod world;
