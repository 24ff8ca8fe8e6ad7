#![doc = include_str!("../README.md")]

mod catalogue;
mod cell;
mod chart;
mod contender;
mod experiment;
mod label;
mod numbers;
mod page;
mod real;
mod row;
mod run;
mod search;
mod store;
mod verdict;

pub use catalogue::catalogue;
pub use cell::{Cell, Noise, PaperSays};
pub use contender::Contender;
pub use experiment::{Conditions, Experiment, ExperimentError, Session, Size, Work};
pub use page::experiments_page;
pub use row::Row;
pub use run::run;
pub use store::Store;
pub use verdict::{Outcome, Verdict};
