#![doc = include_str!("../README.md")]

mod algorithm;
mod answer;
mod audit;
mod baseline;
mod catalogue;
mod cell;
mod chart;
mod claims;
mod commit;
mod comparison;
mod contender;
mod experiment;
mod label;
mod method;
mod numbers;
mod page;
mod paper_noise;
mod publication;
mod real;
mod row;
mod run;
mod run_plan;
mod search;
mod store;
mod text;
mod theorem;
pub mod theory;
mod trials;
mod tuning;
mod verdict;

pub use algorithm::{
    Limits, PaperDescent, PaperGradient, PaperOmp, Solver, SupportNoise, plan_honest_gradient,
    plan_honest_omp, plan_honest_reusing,
};
pub use answer::{ExperimentList, ExperimentsAnswer, JudgedExperiment, ListedExperiment};
pub use audit::{Audit, AuditAnswer, AuditError, AuditVerdict, AuditedPoint};
pub use baseline::{
    Baseline, Batch, Chosen, Descent, DpGcdParameters, DpIht, DpSgdParameters, Tuned, plan_dp_iht,
};
pub use catalogue::catalogue;
pub use cell::{Cell, Noise, PaperSays};
pub use claims::{ClaimRow, ClaimsAnswer};
pub use commit::commit;
pub use comparison::{
    COMPARISONS, DP_GCD, DP_IHT, DP_SGD, HONEST_GRAD, HONEST_OMP, certified_setting, intercept_of,
};
pub use contender::{Contender, NamedContender};
pub use experiment::{Conditions, Experiment, ExperimentError, Session, Size, Work};
pub use method::{AnyMethod, MethodError, PaperAlgorithm};
pub use paper_noise::{PaperBackend, PaperBackendError, PaperNoise};
pub use publication::{publish_again, run_all};
pub use row::Row;
pub use run::run;
pub use run_plan::{BlockAnswer, RunGuarantee, RunPlanAnswer, RunPlanRequest, SumAnswer};
pub use store::Store;
pub use theorem::{RecoveryTheorems, TheoremVerdict};
pub use trials::{
    AnyGuarantee, BaselineParameters, Claimed, Delivered, GivenParameters, NoSuchParameter,
    NominalGuarantee, Parameter, Priced, TrialsAnswer, TrialsError, TrialsRequest, TunedAnswer,
    TunedSummary,
};
pub use tuning::{TunedRow, TunedRows, candidates, tune, tune_charged, tune_for_free};
pub use verdict::{Outcome, Verdict};
