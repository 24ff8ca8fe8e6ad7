#![doc = include_str!("../README.md")]

mod certificates;
mod client_loop;
mod common_name;
mod error;
mod journal;
mod keeper;
mod lifetime;
mod logging;
mod machine;
mod metrics;
mod outbox;
mod page;
mod private_files;
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
pub use journal::{ClientEnd, Journal, JournalView, SqliteJournal};
pub use keeper::stored_status;
pub use lifetime::{
    Admission, AuditLog, Bound, ChainProblem, Cost, CostKind, CountedJournal, DataSet,
    Event as LedgerEvent, LEDGER, LedgerPlace, LedgerView, LifetimeLedger, LifetimeLine,
    LifetimeTotal, LocalFit, LogProblem, OverLimit, Protection, Reservation, Restart, Restarted,
    Standing, Work, begun_mark, begun_studies, folder_name, ledger_beside, look_for_ledger,
    study_homes, today, totals_of,
};
pub use logging::{LogLevel, start_logs};
pub use machine::{
    ClientEffect, ClientMachine, CoordinatorEffect, CoordinatorMachine, PartyId, PhaseInfo, Refused,
};
pub use private_files::{
    append_private, create_private, create_private_folder, erase_private, lock_private,
    put_private, replace_private, store_private,
};
pub use roster::{Fingerprint, RosterEntry};
pub use server::{Ended, Limits, Patience, Server, ServerConfig};
pub use status::{Budget, FeatureFound, PartyState, PartyStatus, Progress, StatusView};
pub use store::{Artefacts, Entry, Event, SqliteStore, Store, StoreError};
pub use tls::{certificate_name, check_client_tls, fingerprint};
