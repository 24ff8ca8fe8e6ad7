#![doc = include_str!("../README.md")]

mod argmax;
mod baseline;
mod catalogue;
mod clipping;
#[expect(
    clippy::disallowed_methods,
    reason = "reads records, in one process: no party derives a question from it"
)]
mod correlate;
mod fit;
mod least_squares;
mod moments;
mod opening;
mod paper;
#[expect(
    clippy::disallowed_methods,
    reason = "noise of the paper, for simulation: no party derives a question from it"
)]
mod paper_noise;
mod pool;
mod pooled;
mod portable;
#[expect(
    clippy::disallowed_methods,
    reason = "reads records without noise, to be compared with: no party derives a question from it"
)]
mod reference;
mod residual_scale;
mod schedule;
mod setting;
mod square_matrix;
mod subset;
#[expect(
    clippy::disallowed_methods,
    reason = "bounds of theorems, in words and tables: no party derives a question from them"
)]
pub mod theory;

pub use argmax::{Argmax, plan_argmax};
pub use baseline::{Baseline, Batch, Chosen, Descent, DpGcdParameters, DpSgdParameters, Tuned};
pub use catalogue::{CertifiedProcedure, Ready, RunError, SummingProcedure};
pub use clipping::{best_clip, clipped_variance, kept_signal};
pub use correlate::correlate;
pub use fit::{Fit, FitStatus};
pub use least_squares::{NoisyNormalEquations, Solution};
pub use moments::Moments;
pub use paper::{
    Limits, PaperDescent, PaperGradient, PaperOmp, Solver, SupportNoise, plan_honest_gradient,
    plan_honest_omp, plan_honest_reusing,
};
pub use paper_noise::{PaperBackend, PaperBackendError, PaperNoise};
pub use pooled::Pooled;
pub use reference::{non_private_lasso, non_private_lasso_at, non_private_omp};
pub use residual_scale::{estimate_row_scale, estimate_scale};
pub use schedule::{Schedule, Working};
pub use setting::{Intercept, Setting, share_of};
pub use square_matrix::SquareMatrix;
pub use subset::best_subset;
