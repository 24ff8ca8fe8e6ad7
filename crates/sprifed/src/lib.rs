#![doc = include_str!("../README.md")]

pub mod account;
mod backend;
mod document;
mod error;
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
mod study;
mod verify;
mod world;

pub use backend::{Backend, BackendRequest};
pub use document::{
    Document, ModelVerification, Proof, ProofAnswer, ReceiptAnswer, StudyVerification,
};
pub use error::{Blame, Error, ModelDefect, ReceiptDefect, TranscriptDefect};
pub use federation::{Draft, named_model, named_terms, study_files};
pub use guarantee::{Guarantee, Mode, Terms};
pub use holdings::{Grouped, Holdings};
pub use model::{FORMAT, Model, Parts, Receipt, Response, Term, VERSION, software, to_term};
pub use planning::{ForecastAnswer, PlanAnswer, PlanRequest, Planned, PlannedGuarantee, StepLine};
pub use reference::{ExactModel, centred_omp};
pub use repeated::{RepeatedFit, Repetition, cost_of_all};
pub use run::{Run, Secret, Watch, rows_of, spent_words};
pub use secure_sums::{
    ClientCosts, CoordinatorCosts, Failures, MessageSizes, SecureSums, StudyFailure, SumFailure,
};
pub use simulation::{NoGuarantee, Simulation, SimulationAnswer, TrialGuarantee};
pub use study::{Request, Study, has_public_scale, recommended_delta};
pub use world::{IllegalWorld, WorldSize, parse_correlation};
