#![doc = include_str!("../README.md")]

mod absence;
mod audit;
mod expectation;
mod forecast;
mod kept;
mod odds;
mod projection;
mod sites;
mod summary;
#[doc(hidden)]
pub mod test_support;
mod times;
mod trial;
mod world;

pub use absence::{Absence, IllegalShare};
pub use audit::{AuditOutcome, AuditPoint, AuditRequest};
pub use expectation::{Assumed, Expected};
pub use forecast::{Compared, Forecast, compare, forecast_records};
pub use kept::{Kept, ReportedInterval};
pub use odds::{OddsScores, explained_share, spread_for};
pub use sites::WorldSites;
pub use summary::{Mean, Summary};
pub use times::TimeScores;
pub use trial::{
    Certified, Method, Reference, TrialError, TrialOutcome, default_response_bound, setting_of,
    typical_response,
};
pub use world::{
    Correlation, Reading, Rows, Unexplained, World, WorldOutcome, WorldRequest, shuffled,
};
