#![doc = include_str!("../README.md")]

mod argmax;
mod catalogue;
mod clipping;
mod column_scales;
mod conclusion;
#[expect(
    clippy::disallowed_methods,
    reason = "reads records, in one process: no party derives a question from it"
)]
mod correlate;
mod few_records;
mod filled_budget;
mod fit;
mod floor;
mod groups;
mod inference;
mod joint;
mod least_squares;
mod mean_only;
mod moments;
mod opening;
mod outcome;
mod pool;
mod pooled;
pub mod portable;
mod ready;
#[expect(
    clippy::disallowed_methods,
    reason = "reads records without noise, to be compared with: no party derives a question from it"
)]
mod reference;
mod residual_scale;
mod schedule;
pub mod selection;
mod setting;
mod sites;
mod split;
mod square_matrix;
mod subset;
#[doc(hidden)]
#[expect(
    clippy::disallowed_methods,
    reason = "data for tests: no party derives a question from it"
)]
pub mod test_support;

pub use argmax::{Argmax, plan_argmax};
pub use catalogue::{CertifiedProcedure, Entry, Needs, RunError, UnknownProcedure};
pub use clipping::{best_clip, clipped_variance, kept_signal};
pub use column_scales::{ColumnScales, MOST_COLUMN_NOISE, MOST_COLUMN_RUNS};
pub use correlate::{correlate, correlate_clipped_rows, correlate_rows};
pub use fit::{Cut, Fit, FitStatus};
pub use floor::{
    BudgetNoise, CHOICES_SHARE, FLOOR_CORRELATIONS, Floor, GRADIENTS_SHARE, PrivateChoice,
};
pub use groups::{Groups, MOST_GROUP_RUNS};
pub use inference::{
    Inference, Inferred, Interval, NoInference, NoInterval, ReportedIntercept, ReportedTerm, Role,
    ScoreNoise, SurvivalNoise,
};
pub use joint::ROBUST_BLOCK;
pub use least_squares::{NoisyNormalEquations, Solution};
pub use moments::Moments;
pub use opening::{Opening, OpeningCosts};
pub use outcome::Outcome;
pub use outcome::newton::SCORE_BLOCK;
pub use outcome::survival::EVENTS_BLOCK;
pub use outcome::survival::baseline::Baseline;
pub use pooled::Pooled;
pub use ready::{AnyChoosing, Ready, SummingProcedure};
pub use reference::{columns, non_private_lasso, non_private_lasso_at, non_private_omp};
pub use residual_scale::{estimate_row_scale, estimate_scale};
pub use schedule::{Schedule, Working};
pub use setting::{InferenceMethod, Intercept, Keep, Setting, share_of};
pub use sites::{FEWEST_RECORDS, MOST_SITES, Sites};
pub use square_matrix::{Eigen, SquareMatrix};
pub use subset::best_subset;
