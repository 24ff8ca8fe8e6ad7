//! The `sprifed` binary, as users and scripts meet it.

mod answers;
mod bad_input;
mod command;
mod help;
mod paper;
mod plan;
mod vectors;
