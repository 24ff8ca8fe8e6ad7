//! Studies between separate processes on this machine: the real binary, real TLS, real files.

mod attacks;
mod faults;
mod stage;
mod whole;
