#![doc = include_str!("../README.md")]

mod argmax;
mod clipping;
mod fit;
mod least_squares;
mod moments;
mod pool;
mod pooled;
mod residual_scale;
mod schedule;
mod setting;
mod subset;

pub use argmax::{Argmax, plan_argmax};
pub use clipping::{best_clip, clipped_variance, kept_signal};
pub use fit::{Fit, FitStatus};
pub use least_squares::{NoisyNormalEquations, Solution};
pub use moments::Moments;
pub use pooled::Pooled;
pub use residual_scale::{estimate_row_scale, estimate_scale};
pub use schedule::{Schedule, Working};
pub use setting::{Intercept, Setting, share_of};
pub use subset::best_subset;
