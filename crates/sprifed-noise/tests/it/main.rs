//! The samplers against the laws they claim, and the checks against samplers that lie.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod euler;
mod euler_choices;
mod goodness_of_fit;
mod impostors;
mod laws;
mod parameters;
mod trustee_audit;
mod vectors;
