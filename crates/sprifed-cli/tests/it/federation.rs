//! Studies between separate processes on this machine: the real binary, real TLS, real files.

mod attacks;
mod certificates;
mod disk;
mod faults;
mod line;
mod network;
mod raw_messages;
mod stage;
mod whole;
