#![doc = include_str!("../README.md")]

mod certificates;
mod client_loop;
mod common_name;
mod error;
mod keeper;
mod logging;
mod machine;
mod metrics;
mod outbox;
mod page;
mod roster;
mod runtime;
mod server;
mod status;
mod store;
mod tls;
mod wire;

pub use certificates::{CertificateOrder, Identity, Issued, issue, request_certificate};
pub use client_loop::{ClientConfig, ClientEnded, ClientLoop, Persistence};
pub use error::NetError;
pub use keeper::{has_state, stored_status};
pub use logging::{LogLevel, start_logs};
pub use machine::{
    ClientMachine, CoordinatorEffect, CoordinatorMachine, PartyId, PhaseInfo, Refused,
};
pub use roster::{Fingerprint, RosterEntry};
pub use server::{CarriedStudy, Ended, Limits, Notices, Patience, Server, ServerConfig};
pub use status::{Budget, FeatureFound, PartyState, PartyStatus, Progress, StatusView};
pub use store::{Entry, Event, SqliteStore, Store};
pub use tls::{certificate_name, check_client_tls, fingerprint};
