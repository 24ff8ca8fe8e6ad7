//! The page about the experiments.

mod experiments;

pub(crate) use experiments::experiments_page;
