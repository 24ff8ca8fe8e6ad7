#![doc = include_str!("../README.md")]

mod backend;
mod document;
mod failure;
mod federation;
mod guarantee;
mod holdings;
mod model;
#[cfg(test)]
mod neighbours;
mod planning;
mod reference;
mod repeated;
mod run;
mod secure_sums;
mod simulation;
mod status;
mod strict_json;
mod study;
mod verify;
mod world;

pub use backend::{Backend, BackendRequest, trust_words};
pub use document::{Document, Proof};
pub use failure::{Blame, Failure};
pub use federation::{Draft, named_terms, party_files, study_files};
pub use guarantee::{Guarantee, Terms};
pub use holdings::{Grouped, Holdings};
pub use model::{FORMAT, Model, Parts, Receipt, Response, Term, VERSION, software, to_term};
pub use planning::{PlanRequest, Planned, StepLine};
pub use reference::{ExactModel, centred_omp};
pub use repeated::{Repetition, cost_of_all, repeated_fit};
pub use run::{Run, Secret, Watch, rows_of, spent_words};
pub use secure_sums::{
    ClientCosts, CoordinatorCosts, Failures, MessageSizes, SecureSums, StudyFailure, SumFailure,
};
pub use simulation::{
    NOT_PRIVATE_REFERENCE, Simulation, certified_guarantee, nobody_leaves_a_curator,
};
pub use strict_json::parse_strictly;
pub use study::{Request, Study, has_public_scale, no_schema, recommended_delta};
pub use world::{WorldSize, parse_correlation};
