#![doc = include_str!("../README.md")]

mod admission;
mod answer;
mod database;
mod destination;
mod error;
mod folder;
mod identity;
mod invitation;
mod invitation_folder;
mod leave;
mod ledger;
mod policy;
mod policy_text;
mod private_files;
mod records;
mod runtime;
mod spoken_digest;
mod store;
mod table;
mod terms;
#[cfg(test)]
mod test_study;
mod trustee;
mod trustee_runtime;

pub use admission::{Admission, Admitted, Application};
pub use answer::{
    AgreedTerms, CheckAnswer, CheckedTable, EndedPart, IdentityAnswer, InvitedParty,
    InvitedTrustee, JoinAnswer, LeaveAnswer, PartAnswer, PartyStatusAnswer, StudyHeading, TWO_SEE,
    key_lines, key_text, permission_lines,
};
pub use database::{StateLock, StoreError, connect, durable, existing, schema_of};
pub use destination::{
    Destination, DestinationError, Overwrite, create_private_text, is_same_file, write_beside,
};
pub use error::PartyError;
pub use folder::{
    MODEL, PartyFolder, RECEIPT, StoredPart, StudyFolder, TRANSCRIPT, parse_key, read_key,
};
pub use identity::{CertificateRequest, PublicParty, check_party_name};
pub use invitation::{Invitation, Reach};
pub use invitation_folder::InvitationFolder;
pub use leave::{Departure, leave};
pub use ledger::{
    Assessment, AuditLog, Bound, ChainProblem, Cost, CostKind, DataSet, Event as LedgerEvent,
    JoinedTable, LEDGER, LedgerAnswer, LedgerPlace, LedgerView, LifetimeLedger, LifetimeLine,
    LifetimeTotal, LineAnswer, LocalFit, LogAnswer, LogProblem, OverLimit, Protection, Reservation,
    Restart, RestartAnswer, Restarted, Standing, TotalAnswer, TotalsAnswer, Work, begun_studies,
    ledger_beside, look_for_ledger, today, totals_of,
};
pub use policy::{key_of, sign_policy, signature_of};
pub use policy_text::{first_policy, first_trustee_policy, parse_policy, parse_trustee_policy};
pub use private_files::{
    append_private, cause_of, create_private, create_private_folder, is_there, put_private,
    read_file, read_if_there, rename_durably, replace_private, sync_folder, sync_tree,
    write_artefacts,
};
pub use records::PartyRecords;
pub use runtime::{Finished, Outgoing, PartyRuntime, Seat};
pub use spoken_digest::spoken_digest;
pub use store::{Artefacts, Entropy, PartyEnd, PartyStore, SealedStore, SqliteStore};
pub use table::PartyTable;
pub use terms::terms_of;
pub use trustee::{
    PublicTrustee, StoredTrustee, TrusteeAdmission, TrusteeApplication, TrusteeFolder, seat_name,
    seat_names,
};
pub use trustee_runtime::{TrusteeRuntime, TrusteeSeat};
