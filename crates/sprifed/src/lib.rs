#![doc = include_str!("../README.md")]

pub mod account;
mod backend;
mod coefficients;
mod column_choice;
mod demo;
mod document;
mod effects;
mod error;
mod federation;
mod fit_report;
mod guarantee;
mod holdings;
mod inference;
mod load_words;
mod model;
#[cfg(test)]
mod neighbours;
mod planning;
mod prediction;
mod procedure_choice;
mod reference;
mod repeated;
mod run;
mod schema_answer;
mod score;
mod secure_sums;
mod shown_numbers;
mod simulation;
mod site_intercepts;
mod spent_record;
mod status;
mod study;
mod trustees;
mod verify;
mod world;

pub use backend::{Backend, BackendRequest};
pub use column_choice::{ColumnScalesChoice, ColumnScalesRequest};
pub use demo::{DemoAnswer, DemoGuarantee};
pub use document::{
    Document, ModelVerification, Proof, ProofAnswer, ReceiptAnswer, StudyVerification, study_words,
};
pub use error::{Blame, Error, ModelDefect, ReceiptDefect, TranscriptDefect};
pub use federation::{
    CancelAnswer, Draft, EndedAnswer, ExportAnswer, NamedTrustee, OfficerAnswer, PeerTrustee,
    PolicyParty, RehearsalAnswer, RehearsalError, SignedPolicyAnswer, StudyAnswer, TrusteeAnswer,
    TrusteeCheckAnswer, TrusteeIdentityAnswer, TrusteePartAnswer, TrusteeStatusAnswer, begun_study,
    host_of, party_files, reported_names, study_files, study_model, trustee_files,
};
pub use fit_report::{
    Evaluation, EvaluationAnswer, FitAnswer, FitReport, NO_SCORE, PredictionTerm,
};
pub use guarantee::{Guarantee, Mode, Terms};
pub use holdings::{Grouped, Holdings};
pub use inference::{CoefficientReport, InterceptEstimate, LEVEL, ModelInference, TermEstimate};
pub use load_words::counts_words;
pub use model::{FORMAT, Model, Receipt, Response, Term, VERSION, software};
pub use planning::{
    FloorAnswer, ForecastAnswer, ForecastRow, KeptFeatures, PlanAnswer, PlanRequest, Planned,
    PlannedGuarantee, SchemaFacts, StepLine, Thinned,
};
pub use prediction::{Prediction, PredictionAnswer};
pub use procedure_choice::{
    ABOUT_AUTO, AUTO, ExpectedLine, ProcedureChoice, ProcedureRequest, Stated, USUAL_R2,
};
pub use reference::{ExactModel, centred_omp};
pub use repeated::{RepeatedFit, Repetition, cost_of_all};
pub use run::{Run, Secret, TableRows, Watch, rows_of, spent_words};
pub use schema_answer::{SchemaCheck, SchemaDraft};
pub use score::{Fitness, SCORE_LABEL, Score, require_columns};
pub use secure_sums::{
    ClientCosts, CoordinatorCosts, Failures, MessageSizes, SecureSums, StudyFailure, SumFailure,
};
pub use simulation::{NoGuarantee, Seeking, Simulation, SimulationAnswer, TrialGuarantee};
pub use site_intercepts::SiteIntercept;
pub use spent_record::SpentRecord;
pub use study::{Request, Study, keep, recommended_delta};
pub use trustees::{ProofWork, TrusteeCosts, TrusteeWork};
pub use world::{IllegalWorld, WorldSize, parse_correlation};

// What a user of this crate needs from the crates below.
pub use sprifed_noise::{NoiseGenerator, Provenance};
pub use sprifed_privacy::{ApproxDp, Delta, Epsilon, Relation};
pub use sprifed_recovery::{CertifiedProcedure, InferenceMethod, Keep, Role};
pub use sprifed_schema::Schema;
pub use sprifed_simulate::{Correlation, Reading, WorldSites};
pub use sprifed_study::PartyKey;
pub use sprifed_tables::{DataError, Table, read_csv, read_table};
