#![doc = include_str!("../README.md")]

mod forecast;
mod summary;
mod trial;
mod world;

pub use forecast::{Forecast, forecast_records};
pub use summary::{Mean, Summary};
pub use trial::{Method, PaperAlgorithm, TrialError, TrialOutcome, default_response_bound};
pub use world::{Correlation, Reading, Unexplained, World, WorldRequest, shuffled};
