//! What a trustee has stored of one study, for a look at it.

use sprifed_study::TrusteeLine;

use crate::database::{StoreError, existing};
use crate::folder::StudyFolder;
use crate::private_files::is_there;
use crate::store::PartyEnd;
use crate::store::sqlite::{blobs, end};

/// What a trustee has stored of one study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTrustee {
    /// Its journal, in order.
    pub lines: Vec<TrusteeLine>,
    /// How its part ended, if it did.
    pub end: Option<PartyEnd>,
}

impl StoredTrustee {
    /// What the state in `folder` says, without taking it from the process that has it; nothing if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn look_into(folder: &StudyFolder) -> Result<Option<Self>, StoreError> {
        let path = folder.database();
        if !is_there(&path) {
            return Ok(None);
        }
        let Some(connection) = existing(&path, &["entries"])? else {
            return Ok(None);
        };
        let lines = (0..).zip(blobs(&connection)?);
        let lines = lines.map(|(place, bytes): (usize, Vec<u8>)| {
            TrusteeLine::decode(&bytes).map_err(|error| {
                StoreError::Damaged(format!("line {place} of the journal: {error}"))
            })
        });
        Ok(Some(Self {
            lines: lines.collect::<Result<_, _>>()?,
            end: end(&connection)?,
        }))
    }
}
