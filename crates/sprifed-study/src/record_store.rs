//! Where a party's records come from, and when they are opened.

use sprifed_query::RecordSource;

/// The records of one party, which may still be closed.
///
/// A party [opens](Self::open) them to answer a sum whose charge was persisted, and not before. Records in memory are a
/// store that is open.
pub trait RecordStore {
    /// What is in the store.
    type Records: RecordSource;

    /// The records, if they are open: a party that joins checks them then.
    fn opened(&self) -> Option<&Self::Records>;

    /// The records; opens them if they are closed.
    ///
    /// # Errors
    /// When they cannot be opened.
    fn open(&self) -> Result<&Self::Records, Unopened>;
}

/// Records that cannot be used. It does not say why: the coordinator reads this message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its table cannot be used in this study")]
pub struct Unopened;

impl<R: RecordSource> RecordStore for R {
    type Records = Self;

    fn opened(&self) -> Option<&Self> {
        Some(self)
    }

    fn open(&self) -> Result<&Self, Unopened> {
        Ok(self)
    }
}
