//! How long a ledger was last, in a file of its own, so that a shorter one is noticed.
//!
//! It is written after the ledger. A kill in between leaves a ledger that is longer than the witness says, which is
//! as it should be.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sprifed_study::Digest;

use super::chain::Chain;
use crate::private_files::put_private;
use crate::store::StoreError;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Witness {
    entries: u64,
    head: Digest,
}

fn path_of(ledger: &Path) -> PathBuf {
    ledger.with_extension("head")
}

/// Refuses a ledger that is not there although it was.
pub(crate) fn require_file(ledger: &Path) -> Result<(), StoreError> {
    let is_there = fs::metadata(ledger).is_ok_and(|file| file.len() > 0);
    match read(ledger)? {
        Some(witness) if !is_there && witness.entries > 0 => Err(lost(
            ledger,
            format!("is gone, but had {} entries", witness.entries),
        )),
        _ => Ok(()),
    }
}

/// Refuses a ledger that is shorter than it was, or another one.
pub(crate) fn require_all(ledger: &Path, chain: &Chain) -> Result<(), StoreError> {
    let Some(witness) = read(ledger)? else {
        return Ok(());
    };
    if witness.entries == 0 || chain.head_after(witness.entries) == Some(witness.head) {
        return Ok(());
    }
    let (found, required) = (chain.len(), witness.entries);
    Err(lost(
        ledger,
        if found < required {
            format!(
                "has {found} entries, but had {required}: it is an older copy, or its end was cut off"
            )
        } else {
            "is another ledger than the one that was here last".to_owned()
        },
    ))
}

/// Notes how long the ledger is.
pub(crate) fn note(ledger: &Path, chain: &Chain) -> Result<(), StoreError> {
    let witness = Witness {
        entries: chain.len(),
        head: chain.head(),
    };
    let text = serde_json::to_vec(&witness).unwrap_or_default();
    let path = path_of(ledger);
    put_private(&path, &text).map_err(|error| StoreError::Unusable {
        path,
        reason: error.to_string(),
    })
}

fn read(ledger: &Path) -> Result<Option<Witness>, StoreError> {
    let path = path_of(ledger);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| StoreError::Unusable {
            path: path.clone(),
            reason: error.to_string(),
        })?,
    };
    let witness = serde_json::from_slice(&bytes);
    witness
        .map(Some)
        .map_err(|error| lost(&path, format!("can not be read: {error}")))
}

fn lost(path: &Path, problem: String) -> StoreError {
    StoreError::Ledger {
        path: path.to_owned(),
        problem,
        help: "restore the ledger and its ledger.head as they were last. If they are lost for good, keep all receipts, \
               delete ledger.head, move the folders study-… away, and lower the totals of policy.toml by what the \
               receipts say; nothing was spent now",
    }
}
