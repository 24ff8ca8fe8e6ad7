//! The protocol as its users see it: both roles, in one process, without a network.

mod attacks;
mod codec;
mod contexts;
mod equivocation;
mod exact_sums;
mod forward;
mod many_clients;
mod noise;
mod pairs;
mod phases;
mod set_up_cost;
mod simulator;
mod statistics;
mod world;
