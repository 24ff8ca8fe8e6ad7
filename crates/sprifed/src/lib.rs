#![doc = include_str!("../README.md")]

pub mod account;
mod backend;
mod demo;
mod document;
mod error;
mod federation;
mod fit_report;
mod guarantee;
mod holdings;
mod model;
#[cfg(test)]
mod neighbours;
mod planning;
mod prediction;
mod reference;
mod repeated;
mod run;
mod schema_answer;
mod score;
mod secure_sums;
mod simulation;
mod spent_record;
mod status;
mod study;
mod verify;
mod world;

pub use backend::{Backend, BackendRequest};
pub use demo::{DemoAnswer, DemoGuarantee};
pub use document::{
    Document, ModelVerification, Proof, ProofAnswer, ReceiptAnswer, StudyVerification,
};
pub use error::{Blame, Error, ModelDefect, ReceiptDefect, TranscriptDefect};
pub use federation::{
    CancelAnswer, Draft, EndedAnswer, ExportAnswer, OfficerAnswer, PolicyParty, RehearsalAnswer,
    SignedPolicyAnswer, StudyAnswer, host_of, named_model, named_terms, party_files, study_files,
};
pub use fit_report::{Evaluation, EvaluationAnswer, FitAnswer, FitReport, NO_SCORE};
pub use guarantee::{Guarantee, Mode, Terms};
pub use holdings::{Grouped, Holdings};
pub use model::{FORMAT, Model, Parts, Receipt, Response, Term, VERSION, software, to_term};
pub use planning::{ForecastAnswer, PlanAnswer, PlanRequest, Planned, PlannedGuarantee, StepLine};
pub use prediction::{Prediction, PredictionAnswer};
pub use reference::{ExactModel, centred_omp};
pub use repeated::{RepeatedFit, Repetition, cost_of_all};
pub use run::{Run, Secret, Watch, rows_of, spent_words};
pub use schema_answer::{SchemaCheck, SchemaDraft};
pub use score::{Fitness, SCORE_LABEL, Score, require_columns};
pub use secure_sums::{
    ClientCosts, CoordinatorCosts, Failures, MessageSizes, SecureSums, StudyFailure, SumFailure,
};
pub use simulation::{NoGuarantee, Simulation, SimulationAnswer, TrialGuarantee};
pub use spent_record::SpentRecord;
pub use study::{Request, Study, has_public_scale, recommended_delta};
pub use world::{IllegalWorld, WorldSize, parse_correlation};

// What a user of this crate needs from the crates below.
pub use sprifed_noise::{NoiseGenerator, Provenance};
pub use sprifed_privacy::{ApproxDp, Delta, Epsilon, Relation};
pub use sprifed_recovery::CertifiedProcedure;
pub use sprifed_schema::Schema;
pub use sprifed_simulate::{Correlation, Reading};
pub use sprifed_study::PartyKey;
pub use sprifed_tables::{DataError, Table, read_csv, read_table};
