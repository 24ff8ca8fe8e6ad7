//! Where the ledger is and who writes into it: one rule for `join`, `fit`, Python and Flower.

use std::fs;
use std::path::{Path, PathBuf};

use sprifed_secure_sum::IdentityKey;
use sprifed_study::Digest;

use super::{LifetimeLedger, LifetimeLine};
use crate::error::NetError;
use crate::journal::SqliteJournal;
use crate::private_files::{create_private, create_private_folder};
use crate::store::StoreError;

/// The file of the ledger in its folder.
pub const LEDGER: &str = "ledger.sqlite";

/// What the folders of studies begin with.
const STUDY: &str = "study-";

/// A file in the folder of a study whose state can not be read without a key: something may have been sent.
const BEGUN: &str = "begun";

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
    /// If the key can not be read or made.
    pub fn of_owner<E: From<NetError>>(
        path: &Path,
        fresh: impl FnOnce() -> Result<[u8; 32], E>,
    ) -> Result<Self, E> {
        let folder = folder_of(path);
        for name in ["identity.key", "ledger.key"] {
            if let Some(signer) = read_key(&folder.join(name))? {
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

    /// Opens the ledger, waiting for others.
    ///
    /// # Errors
    /// If it is not whole, or the disk refuses.
    pub fn open(&self) -> Result<LifetimeLedger, StoreError> {
        LifetimeLedger::open_patiently(&self.file(), &self.signer)
    }

    /// Opens the ledger, if it knows every study whose folder lies in one of `homes` and in which something was sent.
    ///
    /// # Errors
    /// If it does not, is not whole, or the disk refuses. What was spent would be spent again.
    pub fn open_for(&self, homes: &[PathBuf]) -> Result<LifetimeLedger, StoreError> {
        if !matches!(fs::exists(self.file()), Ok(true)) {
            self.refuse_missing("is gone", &unknown_studies(homes, &[])?)?;
        }
        let ledger = self.open()?;
        let found = format!("knows {} studies", ledger.known().len());
        self.refuse_missing(&found, &unknown_studies(homes, ledger.known())?)?;
        Ok(ledger)
    }

    fn refuse_missing(&self, found: &str, missing: &[PathBuf]) -> Result<(), StoreError> {
        let Some(first) = missing.first() else {
            return Ok(());
        };
        Err(StoreError::Ledger {
            path: self.file(),
            problem: format!(
                "{found}, but this party has sent something in {} studies that it should know, `{}` among them; a \
                 ledger that knows every study of this party is required",
                missing.len(),
                first.display()
            ),
            help: "restore the ledger as it was last. If it is lost for good, move these folders away, keep their \
                   receipts, and lower the totals of policy.toml by what they say; nothing was spent now",
        })
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match (path.file_name(), path.parent()) {
        (Some(name), Some(folder)) if name == LEDGER && folder == Path::new("") => ".".into(),
        (Some(name), Some(folder)) if name == LEDGER => folder.to_owned(),
        _ => path.to_owned(),
    }
}

fn read_key(path: &Path) -> Result<Option<IdentityKey>, NetError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(NetError::file("read", path))?,
    };
    // The text is not repeated in the message: it may be most of a key.
    let key = Digest::try_from(text.trim().to_owned()).map_err(|_| NetError::Certificate {
        path: path.to_owned(),
        found: "no key".to_owned(),
        required: "a key of 64 hexadecimal digits",
    })?;
    Ok(Some(IdentityKey::from_stored(&key.0)))
}

/// Where a runtime notes, once the ledger knows of the study in `folder`, that something may have been sent.
#[must_use]
pub fn begun_mark(folder: &Path) -> PathBuf {
    folder.join(BEGUN)
}

/// Folders of studies in `homes` in which something was sent, and of which `lines` know nothing.
///
/// # Errors
/// If one can not be read.
pub fn unknown_studies(
    homes: &[PathBuf],
    lines: &[LifetimeLine],
) -> Result<Vec<PathBuf>, StoreError> {
    let is_known = |folder: &Path| lines.iter().any(|line| line.is_in(folder));
    let mut unknown = Vec::new();
    for home in homes {
        for study in study_folders(home)? {
            if !is_known(&study) && has_begun(&study)? {
                unknown.push(study);
            }
        }
    }
    unknown.sort();
    unknown.dedup();
    Ok(unknown)
}

/// Whether something was sent in the study of this folder: it is in the journal, or a receipt or a mark says so.
fn has_begun(study: &Path) -> Result<bool, StoreError> {
    let has = |name: &str| matches!(fs::exists(study.join(name)), Ok(true));
    if has(BEGUN) || has("receipt.json") {
        return Ok(true);
    }
    let view = if has("state.sqlite") {
        SqliteJournal::look_into(&study.join("state.sqlite"))?
    } else {
        None
    };
    // A key is made after the journal: without a journal it was lost.
    Ok(view.map_or_else(|| has("party.key"), |view| !view.is_unused()))
}

fn study_folders(home: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let unreadable = |error: std::io::Error| StoreError::Unusable {
        path: home.to_owned(),
        reason: error.to_string(),
    };
    let entries = match fs::read_dir(home) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let is_study = entry.file_name().to_string_lossy().starts_with(STUDY);
        if is_study && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
        }
    }
    Ok(found)
}
