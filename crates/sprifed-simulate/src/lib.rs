#![doc = include_str!("../README.md")]

mod absence;
mod audit;
mod forecast;
mod summary;
mod trial;
mod world;

pub use absence::{Absence, IllegalShare};
pub use audit::{AuditOutcome, AuditPoint, AuditRequest};
pub use forecast::{Forecast, forecast_records};
pub use summary::{Mean, Summary};
pub use trial::{
    Certified, Method, Reference, TrialError, TrialOutcome, default_response_bound, setting_of,
    typical_response,
};
pub use world::{Correlation, Reading, Rows, Unexplained, World, WorldRequest, shuffled};
