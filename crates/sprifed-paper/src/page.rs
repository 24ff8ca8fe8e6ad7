//! The page about the experiments.

mod experiments;

pub use experiments::experiments_page;
