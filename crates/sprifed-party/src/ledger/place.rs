//! Where the ledger is and who writes into it: one rule for `join`, `fit`, Python and Flower.

use std::fs;
use std::path::{Path, PathBuf};

use sprifed_secure_sum::IdentityKey;
use sprifed_study::Digest;

use super::chain::Signatures;
use super::{LedgerView, LifetimeLedger, witness};
use crate::database::StoreError;
use crate::error::PartyError;
use crate::folder::{PartyFolder, StudyFolder, read_key_if_there};
use crate::private_files::{create_private, create_private_folder};

/// The file of the ledger in its folder.
pub const LEDGER: &str = "ledger.sqlite";

/// The folder of a ledger, and the key with which entries are signed.
#[derive(Debug, Clone)]
pub struct LedgerPlace {
    folder: PathBuf,
    signer: IdentityKey,
}

impl LedgerPlace {
    /// The ledger at `path`, which is a folder or the file `ledger.sqlite` in it.
    #[must_use]
    pub fn new(path: &Path, signer: IdentityKey) -> Self {
        Self {
            folder: folder_of(path),
            signer,
        }
    }

    /// The ledger at `path` with the key of its own folder: that of a party (`identity.key`), or one that is made
    /// from `fresh` secret bits for this ledger alone (`ledger.key`).
    ///
    /// # Errors
    /// If the key cannot be read or made.
    pub fn of_owner<E: From<PartyError>>(
        path: &Path,
        fresh: impl FnOnce() -> Result<[u8; 32], E>,
    ) -> Result<Self, E> {
        let folder = folder_of(path);
        for name in ["identity.key", "ledger.key"] {
            if let Some(secret) = read_key_if_there(&folder.join(name))? {
                let signer = IdentityKey::from_stored(&secret);
                return Ok(Self { folder, signer });
            }
        }
        create_private_folder(&folder)?;
        let bits = fresh()?;
        let text = format!("{}\n", Digest(bits));
        create_private(&folder.join("ledger.key"), text.as_bytes())?;
        let signer = IdentityKey::from_stored(&bits);
        Ok(Self { folder, signer })
    }

    /// Where the ledger lies.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) const fn signer(&self) -> &IdentityKey {
        &self.signer
    }

    /// The file of the ledger.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.join(LEDGER)
    }

    /// Opens the ledger, waiting for others, if it knows every study whose folder lies beside it and in which something
    /// was sent.
    ///
    /// # Errors
    /// If it does not, it is lost or not whole, or the disk refuses. What was spent would be spent again.
    pub fn open(&self) -> Result<LifetimeLedger, StoreError> {
        self.open_for(&[])
    }

    /// The same, if it also knows every such study whose folder lies in one of `homes`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_for(&self, homes: &[PathBuf]) -> Result<LifetimeLedger, StoreError> {
        witness::require_file(&self.file())?;
        // Before one is made.
        if fs::metadata(self.file()).map_or(0, |file| file.len()) == 0 {
            refuse_unknown(&self.folder, homes, None)?;
        }
        let ledger = LifetimeLedger::open_patiently(&self.file(), &self.signer)?;
        refuse_unknown(&self.folder, homes, Some(&ledger))?;
        Ok(ledger)
    }
}

/// What the ledger at `path` says, which is a folder or the file `ledger.sqlite` in it; nothing if none was begun there.
/// Nothing is written, and the ledger is not taken from the process that has it.
///
/// # Errors
/// If it is lost or not whole, or does not know every study whose folder lies beside it or in one of `homes` and in which
/// something was sent.
pub fn look_for_ledger(path: &Path, homes: &[PathBuf]) -> Result<Option<LedgerView>, StoreError> {
    let folder = folder_of(path);
    let view = LifetimeLedger::view(&folder.join(LEDGER), Signatures::Last)?;
    refuse_unknown(&folder, homes, view.as_ref())?;
    Ok(view)
}

/// Refuses a ledger in `folder` that does not know every study of `homes` and of its own folder.
fn refuse_unknown(
    folder: &Path,
    homes: &[PathBuf],
    view: Option<&LedgerView>,
) -> Result<(), StoreError> {
    let homes = [&PartyFolder::new(folder).homes(), homes].concat();
    let lines = view.map_or(&[][..], LedgerView::lines);
    let is_unknown = |study: &StudyFolder| !lines.iter().any(|line| study.is_of(&line.study));
    let unknown = begun_studies(&homes, is_unknown)?;
    let Some(first) = unknown.first() else {
        return Ok(());
    };
    let but = format!(
        "this party has sent something in {} that it should know: `{}`{}",
        n_studies(unknown.len()),
        first.path().display(),
        if unknown.len() > 1 { " and others" } else { "" }
    );
    let file = folder.join(LEDGER);
    Err(match view {
        None => witness::gone(&file, &but),
        Some(_) => witness::lost(
            &file,
            &format!("it knows {}, but {but}", n_studies(lines.len())),
        ),
    })
}

fn n_studies(number: usize) -> String {
    match number {
        1 => "1 study".to_owned(),
        several => format!("{several} studies"),
    }
}

pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match (path.file_name(), path.parent()) {
        (Some(name), Some(folder)) if name == LEDGER && folder == Path::new("") => ".".into(),
        (Some(name), Some(folder)) if name == LEDGER => folder.to_owned(),
        _ => path.to_owned(),
    }
}

/// Folders of studies in `homes` in which something was sent, as far as `is_meant` says so.
///
/// # Errors
/// If one cannot be read.
pub fn begun_studies(
    homes: &[PathBuf],
    is_meant: impl Fn(&StudyFolder) -> bool,
) -> Result<Vec<StudyFolder>, StoreError> {
    let mut begun = Vec::new();
    for home in homes {
        for study in StudyFolder::all_in(home)? {
            if is_meant(&study) && study.has_begun()? {
                begun.push(study);
            }
        }
    }
    begun.sort();
    begun.dedup();
    Ok(begun)
}
