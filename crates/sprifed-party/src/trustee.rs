//! One trustee on its own machine: who it is, where it keeps its things, and which studies it serves.
//!
//! ```text
//! archive/               TrusteeFolder
//!   identity.key  tls.key  trustee.json  policy.toml
//!   offers/0123….key     study keys that were published in a trustee.json and not used yet
//!   study-0123…/         StudyFolder: trustee.key, state, invitation.json, and afterwards receipt.json
//! ```

mod admission;
mod folder;
mod public;
mod stored;

#[cfg(test)]
mod tests;

pub use admission::{TrusteeAdmission, TrusteeApplication};
pub use folder::TrusteeFolder;
pub use public::{PublicTrustee, seat_name, seat_names};
pub use stored::StoredTrustee;
