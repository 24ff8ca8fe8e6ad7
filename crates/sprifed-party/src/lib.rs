#![doc = include_str!("../README.md")]

mod database;
mod error;
mod identity;
mod invitation;
mod journal;
mod ledger;
mod policy;
mod policy_text;
mod private_files;
mod records;
mod spoken_digest;
mod table;
mod terms;
#[cfg(test)]
mod test_study;

pub use database::{StateLock, StoreError, connect, durable, schema_of};
pub use error::PartyError;
pub use identity::{CertificateRequest, PublicParty, check_party_name};
pub use invitation::{Invitation, Reach};
pub use journal::{Artefacts, ClientEnd, Journal, JournalView, SqliteJournal};
pub use ledger::{
    Admission, AuditLog, Bound, ChainProblem, Cost, CostKind, CountedJournal, DataSet,
    Event as LedgerEvent, LEDGER, LedgerAnswer, LedgerPlace, LedgerView, LifetimeLedger,
    LifetimeLine, LifetimeTotal, LineAnswer, LocalFit, LogAnswer, LogProblem, OverLimit,
    Protection, Reservation, Restart, RestartAnswer, Restarted, Standing, TotalAnswer,
    TotalsAnswer, Work, begun_mark, begun_studies, folder_name, ledger_beside, look_for_ledger,
    study_homes, today, totals_of,
};
pub use policy::{OFFICER_FILE, POLICY_FILE, key_of, read_policy, sign_policy, signature_of};
pub use policy_text::parse_policy;
pub use private_files::{
    append_private, create_private, create_private_folder, erase_private, lock_private,
    put_private, replace_private, store_private, touch_private, write_artefacts,
};
pub use records::PartyRecords;
pub use spoken_digest::spoken_digest;
pub use table::PartyTable;
pub use terms::terms_of;
