//! Which records a ledger accounts for: a mark beside the table, and a fingerprint in the ledger.
//!
//! ```text
//! data/north.csv                the table
//! data/.sprifed/north.csv.json  the mark: which ledger accounts for it
//! north/ledger.sqlite           the ledger: "north.csv", fingerprint under the ledger's own key
//! ```
//!
//! Another identity, another party folder, another runtime or a local fit over the same table finds the mark and
//! is refused, unless it uses the ledger that the mark names. A copy of the table under another name is found by its
//! fingerprint, in every ledger that a mark in its folder names and in those that the caller knows of.

use std::fs;
use std::path::{Path, PathBuf};

use hkdf::HkdfExtract;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use sprifed_study::Digest;

use super::{DataSet, LEDGER, LedgerPlace, LedgerView, LifetimeLedger};
use crate::private_files::put_private;
use crate::store::StoreError;

/// The folder of marks beside tables.
const MARKS: &str = ".sprifed";

const FORMAT: &str = "sprifed-data-set-1";

/// The mark beside a table.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mark {
    format: String,
    /// The folder of the ledger.
    ledger: PathBuf,
    /// What names the ledger, wherever it lies.
    id: Digest,
}

/// A table that a ledger accounts for.
#[derive(Debug, Clone)]
pub struct Bound {
    /// What goes into the ledger.
    pub data: DataSet,
    /// Why no mark could be put beside the table, if so. Then another ledger would not be noticed.
    pub unmarked: Option<String>,
}

/// The folder of the ledger that accounts for `table`: the mark beside it says so, or a ledger that is marked beside
/// another table of the folder knows its content, as of a table that was copied or renamed.
///
/// # Errors
/// If a mark or a marked ledger can not be read: it may account for the table.
pub fn ledger_beside(table: &Path) -> Result<Option<PathBuf>, StoreError> {
    let Some(path) = mark_of(table) else {
        return Ok(None);
    };
    if let Some(mark) = read(&path)? {
        return Ok(Some(mark.ledger));
    }
    let known = known_by_content(table, marks_beside(table), &mut Vec::new())?;
    Ok(known.map(|(folder, _)| folder))
}

/// The first of the ledgers in `folders` that knows the content of `table`, and under which name; those in `asked` are
/// not asked again.
fn known_by_content(
    table: &Path,
    folders: Vec<PathBuf>,
    asked: &mut Vec<PathBuf>,
) -> Result<Option<(PathBuf, String)>, StoreError> {
    for folder in folders {
        if asked.contains(&real(&folder)) {
            continue;
        }
        asked.push(real(&folder));
        let view = LifetimeLedger::look_into(&folder.join(LEDGER))?;
        let fingerprint = fingerprint_of(&view, table)?;
        let known = view.lines().iter().filter_map(|line| line.data.as_ref());
        let known = known
            .into_iter()
            .find(|data| data.fingerprint == fingerprint);
        if let Some(known) = known {
            return Ok(Some((folder, known.name.clone())));
        }
    }
    Ok(None)
}

impl LedgerPlace {
    /// Refuses a table that another ledger accounts for, by the mark beside it or by its content; `others` are
    /// folders of ledgers that may know it. Nothing is written.
    ///
    /// # Errors
    /// If another ledger accounts for it, this one is not the one that did, or the table can not be read.
    pub fn require_own(
        &self,
        ledger: &LifetimeLedger,
        table: &Path,
        others: &[PathBuf],
    ) -> Result<(), StoreError> {
        let Some(path) = mark_of(table) else {
            return Ok(());
        };
        if let Some(mark) = read(&path)? {
            self.check(&mark, &path, ledger, table)?;
        }
        let mut asked = vec![real(self.folder())];
        // The marks of other tables may name a ledger from before it was moved, and a configured one may not be there yet.
        let is_there = |folder: &PathBuf| fs::metadata(folder.join(LEDGER)).is_ok();
        let folders = marks_beside(table)
            .into_iter()
            .chain(others.iter().cloned())
            .filter(is_there);
        match known_by_content(table, folders.collect(), &mut asked)? {
            None => Ok(()),
            Some((folder, name)) => {
                let why = format!("it has the content of {name:?}, which is there already");
                Err(elsewhere(table, &folder, &why))
            }
        }
    }

    /// Binds `table` to this ledger: puts the mark beside it, and says what goes into the ledger.
    ///
    /// # Errors
    /// If [another ledger](Self::require_own) accounts for it, or the table can not be read.
    pub fn bind(
        &self,
        ledger: &LifetimeLedger,
        table: &Path,
        others: &[PathBuf],
    ) -> Result<Bound, StoreError> {
        self.require_own(ledger, table, others)?;
        let data = DataSet {
            name: name_of(table),
            fingerprint: fingerprint_of(&ledger.to_view()?, table)?,
        };
        let mark = Mark {
            format: FORMAT.to_owned(),
            ledger: real(self.folder()),
            id: ledger.id(),
        };
        let unmarked = match mark_of(table) {
            Some(path) if read(&path)?.as_ref() != Some(&mark) => write(&path, &mark).err(),
            _ => None,
        };
        Ok(Bound { data, unmarked })
    }

    fn check(
        &self,
        mark: &Mark,
        path: &Path,
        ledger: &LifetimeLedger,
        table: &Path,
    ) -> Result<(), StoreError> {
        let is_here = real(&mark.ledger) == real(self.folder());
        let is_same = mark.id == ledger.id();
        if is_here && is_same {
            return Ok(());
        }
        let is_there = matches!(fs::exists(mark.ledger.join(LEDGER)), Ok(true));
        if !is_here && is_same && !is_there {
            // The folder was moved.
            return Ok(());
        }
        if !is_here && is_there {
            let why = if is_same {
                "this one is a copy of it"
            } else {
                "this one knows nothing of what was spent there"
            };
            return Err(elsewhere(table, &mark.ledger, why));
        }
        Err(StoreError::Ledger {
            path: mark.ledger.join(LEDGER),
            problem: format!(
                "accounts for `{}`, as `{}` says, but {}",
                table.display(),
                path.display(),
                if is_here {
                    "another ledger has taken its place"
                } else {
                    "is gone"
                }
            ),
            help: "restore that ledger as it was last. If it is lost for good, keep all receipts, lower the totals of \
                   policy.toml by what they say, and delete the mark; nothing was spent now",
        })
    }
}

fn elsewhere(table: &Path, ledger: &Path, why: &str) -> StoreError {
    StoreError::Ledger {
        path: table.to_owned(),
        problem: format!(
            "is accounted for in the ledger of `{}`: {why}",
            ledger.display()
        ),
        help: "count in that ledger: give its folder as the ledger, or set SPRIFED_LEDGER to it. Nothing was spent now",
    }
}

fn fingerprint_of(view: &LedgerView, table: &Path) -> Result<Digest, StoreError> {
    let unreadable = |error: std::io::Error| StoreError::Unusable {
        path: table.to_owned(),
        reason: error.to_string(),
    };
    let file = fs::File::open(table).map_err(unreadable)?;
    fingerprint(&view.fingerprint_key, file).map_err(unreadable)
}

/// HMAC-SHA-256 of everything that `content` gives.
pub(super) fn fingerprint(
    key: &[u8; 32],
    mut content: impl std::io::Read,
) -> std::io::Result<Digest> {
    let mut hash = HkdfExtract::<Sha256>::new(Some(key));
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n_read = content.read(&mut buffer)?;
        if n_read == 0 {
            break;
        }
        hash.input_ikm(buffer.get(..n_read).unwrap_or_default());
    }
    Ok(Digest(hash.finalize().0.into()))
}

fn name_of(table: &Path) -> String {
    let name = real(table);
    name.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Where the mark of `table` lies, links followed; nowhere if there is no such table.
fn mark_of(table: &Path) -> Option<PathBuf> {
    let table = fs::canonicalize(table).ok()?;
    let name = table.file_name()?.to_string_lossy().into_owned();
    Some(table.parent()?.join(MARKS).join(format!("{name}.json")))
}

/// The ledgers that marks beside `table` name.
fn marks_beside(table: &Path) -> Vec<PathBuf> {
    let folder = mark_of(table).and_then(|mark| mark.parent().map(Path::to_owned));
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
    let paths = entries.into_iter().flatten().flatten();
    paths
        .filter_map(|entry| read(&entry.path()).ok().flatten())
        .map(|mark| mark.ledger)
        .collect()
}

fn read(path: &Path) -> Result<Option<Mark>, StoreError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|error| StoreError::Unusable {
            path: path.to_owned(),
            reason: error.to_string(),
        })?,
    };
    let mark: Result<Mark, _> = serde_json::from_slice(&bytes);
    match mark {
        Ok(mark) if mark.format == FORMAT => Ok(Some(mark)),
        _ => Err(StoreError::Ledger {
            path: path.to_owned(),
            problem: "does not say which ledger accounts for the table beside it".to_owned(),
            help: "restore the file, or delete it if the table has its ledger; nothing was spent now",
        }),
    }
}

fn write(path: &Path, mark: &Mark) -> Result<(), String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let text = serde_json::to_vec(mark).unwrap_or_default();
    fs::create_dir_all(folder)
        .map_err(|error| error.to_string())
        .and_then(|()| put_private(path, &text).map_err(|error| error.to_string()))
}

/// The path without links and dots, as far as it exists.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
