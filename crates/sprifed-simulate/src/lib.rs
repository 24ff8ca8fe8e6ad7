#![doc = include_str!("../README.md")]

mod trial;
mod world;

pub use trial::{Trial, TrialError, TrialOutcome, default_response_bound};
pub use world::{Correlation, Reading, Unexplained, World, WorldRequest};
