#![doc = include_str!("../README.md")]

mod absence;
mod audit;
mod forecast;
mod summary;
mod trial;
mod tuning;
mod world;

pub use absence::{Absence, IllegalShare};
pub use audit::{AuditOutcome, AuditPoint, AuditRequest};
pub use forecast::{Forecast, forecast_records};
pub use summary::{Mean, Summary};
pub use trial::{Method, PaperAlgorithm, TrialError, TrialOutcome, default_response_bound};
pub use tuning::{TunedRow, TunedRows, candidates, tune, tune_charged, tune_for_free};
pub use world::{Correlation, Reading, Rows, Unexplained, World, WorldRequest, shuffled};
