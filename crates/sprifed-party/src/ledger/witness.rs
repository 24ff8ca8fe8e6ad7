//! How many entries a ledger had last, in a file of its own, so that a shorter ledger is noticed.
//!
//! It is written with 0 entries before the first entry, and after each entry. So a kill at any moment leaves a file that
//! counts at most one entry too few, and never entries without the file: those were not left by a kill.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sprifed_study::Digest;

use super::chain::Chain;
use crate::database::StoreError;
use crate::private_files::put_private;

/// What to do about a ledger that is not as it was last.
const RECIPE: &str = "restore ledger.sqlite and ledger.head together, in their latest state. If there is no such copy, run \
                      `sprifed ledger restart FOLDER --data TABLE --spent-epsilon E --spent-delta D` with the folder of \
                      that ledger, each table that it accounted for, and what local fits have cost (0 if there were \
                      none): it begins a new one with all that is known of the lost one. Nothing was spent now";

/// How many entries a ledger had, and the digest of the last of them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Witness {
    pub(crate) entries: u64,
    head: Digest,
}

fn path_of(ledger: &Path) -> PathBuf {
    ledger.with_extension("head")
}

/// What is noted of the ledger; refuses one that is not there although it was.
pub(crate) fn require_file(ledger: &Path) -> Result<Option<Witness>, StoreError> {
    let noted = read(ledger)?;
    let had = noted.as_ref().map_or(0, |witness| witness.entries);
    let is_there = fs::metadata(ledger).is_ok_and(|file| file.len() > 0);
    if had > 0 && !is_there {
        return Err(gone(ledger, &format!("it had {}", text_of(had))));
    }
    Ok(noted)
}

/// Refuses a ledger that is shorter than it was, or another one. `noted` was read before the chain was: the ledger may
/// have grown since.
pub(crate) fn require_all(
    ledger: &Path,
    noted: Option<&Witness>,
    chain: &Chain,
) -> Result<(), StoreError> {
    let found = chain.len();
    let Some(witness) = noted else {
        // Another process may have begun the ledger meanwhile.
        if found == 0 || read(ledger)?.is_some() {
            return Ok(());
        }
        let had = text_of(found);
        return Err(lost(
            ledger,
            &format!("it has {had}, but ledger.head, which says how many it had last, is gone"),
        ));
    };
    let required = witness.entries;
    if required == 0 || chain.head_after(required) == Some(witness.head) {
        return Ok(());
    }
    Err(lost(
        ledger,
        &if found < required {
            format!(
                "it has {found} entries, but had {required}: it is an older copy, or its end was cut off"
            )
        } else {
            "it is another ledger than the one that was here last".to_owned()
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

/// How many entries the ledger had last, as far as that is known.
pub(crate) fn entries(ledger: &Path) -> u64 {
    let witness = read(ledger).ok().flatten();
    witness.map_or(0, |witness| witness.entries)
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
    witness.map(Some).map_err(|error| {
        let found = "ledger.head, which says how many entries it had last, cannot be read";
        lost(ledger, &format!("{found}: {error}"))
    })
}

/// A ledger from which what was spent cannot be known.
pub(crate) fn refused(ledger: &Path, problem: String) -> StoreError {
    StoreError::Ledger {
        path: ledger.to_owned(),
        problem,
        help: RECIPE,
    }
}

/// A ledger that is not as it was last.
pub(crate) fn lost(ledger: &Path, found: &str) -> StoreError {
    refused(ledger, format!("is lost: {found}"))
}

/// A ledger of which there is no file.
pub(crate) fn gone(ledger: &Path, but: &str) -> StoreError {
    lost(ledger, &format!("its file is gone, but {but}"))
}

fn text_of(entries: u64) -> String {
    match entries {
        1 => "1 entry".to_owned(),
        several => format!("{several} entries"),
    }
}
