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

use super::chain::Signatures;
use super::{DataSet, JoinedTable, LEDGER, LedgerPlace, LedgerView, LifetimeLedger, witness};
use crate::database::StoreError;
use crate::private_files::put_private;

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

impl Bound {
    /// The same with a second table, whose rows are joined to it.
    #[must_use]
    pub fn joined_with(self, second: Self) -> Self {
        let DataSet {
            name, fingerprint, ..
        } = second.data;
        Self {
            data: DataSet {
                joined: Some(JoinedTable { name, fingerprint }),
                ..self.data
            },
            unmarked: self.unmarked.or(second.unmarked),
        }
    }
}

impl LedgerView {
    /// Every table that something was entered over: its name and its fingerprint.
    fn tables(&self) -> impl Iterator<Item = (&str, Digest)> {
        let data = self.lines().iter().filter_map(|line| line.data.as_ref());
        data.flat_map(DataSet::tables)
    }

    /// The tables of `data` that are not what they were whenever something was entered over a table of that name.
    pub fn changed<'a>(&self, data: &'a DataSet) -> Vec<&'a str> {
        let is_changed = |(name, fingerprint): &(&str, Digest)| {
            let mut earlier = self.tables().filter(|(known, _)| known == name).peekable();
            earlier.peek().is_some() && earlier.all(|(_, known)| known != *fingerprint)
        };
        data.tables()
            .filter(is_changed)
            .map(|(name, _)| name)
            .collect()
    }
}

/// The folder of the ledger that accounts for `table`: the mark beside it says so, or a ledger that is marked beside
/// another table of the folder knows its content, as of a table that was copied or renamed.
///
/// # Errors
/// If a mark or a marked ledger cannot be read: it may account for the table.
pub fn ledger_beside(table: &Path) -> Result<Option<PathBuf>, StoreError> {
    let Some(path) = mark_of(table) else {
        return Ok(None);
    };
    if let Some(mark) = read(&path)? {
        return Ok(Some(mark.ledger));
    }
    let candidates = marks_beside(table)?.into_iter().map(Candidate::of);
    let known = known_by_content(table, candidates, &mut Vec::new())?;
    Ok(known.map(|(folder, _)| folder))
}

/// A ledger that may know a table.
struct Candidate {
    folder: PathBuf,
    /// The mark beside another table that names it; without one, there need not be a ledger yet.
    named_by: Option<PathBuf>,
}

impl Candidate {
    fn of((path, mark): (PathBuf, Mark)) -> Self {
        Self {
            folder: mark.ledger,
            named_by: Some(path),
        }
    }

    /// What it says, if it was begun.
    fn view(&self, table: &Path) -> Result<Option<LedgerView>, StoreError> {
        let file = self.folder.join(LEDGER);
        let view = LifetimeLedger::view(&file, Signatures::Last);
        let Some(mark) = &self.named_by else {
            return view;
        };
        match view {
            Ok(None) => Err(may_know(table, witness::gone(&file, &named(mark)))),
            Err(error) => Err(may_know(table, error)),
            view => view,
        }
    }
}

fn named(mark: &Path) -> String {
    format!("`{}` names it", mark.display())
}

/// A refusal of a ledger or mark beside `table`, which says why it is a refusal of the table too.
fn may_know(table: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Ledger {
            path,
            problem,
            help,
        } => StoreError::Ledger {
            path,
            problem: format!(
                "{problem}. It is marked beside `{}`, so it may know that table, too. If it and the table that it was for \
                 are permanently gone, delete their mark",
                table.display()
            ),
            help,
        },
        other => other,
    }
}

/// The first of the ledgers that knows the content of `table`, and under which name; those in `asked` are not asked
/// again.
fn known_by_content(
    table: &Path,
    candidates: impl IntoIterator<Item = Candidate>,
    asked: &mut Vec<PathBuf>,
) -> Result<Option<(PathBuf, String)>, StoreError> {
    for candidate in candidates {
        let folder = real(&candidate.folder);
        if asked.contains(&folder) {
            continue;
        }
        asked.push(folder);
        let Some(view) = candidate.view(table)? else {
            continue;
        };
        let fingerprint = fingerprint_of(&view.fingerprint_key, table)?;
        let known = view
            .tables()
            .find(|(_, known)| *known == fingerprint)
            .map(|(name, _)| name.to_owned());
        if let Some(name) = known {
            return Ok(Some((candidate.folder, name)));
        }
    }
    Ok(None)
}

/// Whose table it is, by the mark beside it.
enum Claim {
    /// That of the ledger that asks.
    Own,
    /// That of another ledger.
    Elsewhere(StoreError),
    /// That of a ledger that is lost.
    Lost(StoreError),
}

impl LedgerPlace {
    /// Refuses a table that another ledger than this one, which says `view`, accounts for, by the mark beside it or by
    /// its content; `others` are folders of ledgers that may know it. Nothing is written.
    ///
    /// # Errors
    /// If another ledger accounts for it or may do so, this one is not the one that did, or the table cannot be read.
    pub fn require_own(
        &self,
        view: &LedgerView,
        table: &Path,
        others: &[PathBuf],
    ) -> Result<(), StoreError> {
        match self.claim(view, table)? {
            Claim::Own => {}
            Claim::Elsewhere(refused) | Claim::Lost(refused) => return Err(refused),
        }
        let mut asked = vec![real(self.folder())];
        // A mark from before this ledger was moved or restarted names it, too.
        let is_other = |(_, mark): &(PathBuf, Mark)| !view.answers_for(mark.id);
        let marked = marks_beside(table)?.into_iter().filter(is_other);
        let others = others.iter().map(|folder| Candidate {
            folder: folder.clone(),
            named_by: None,
        });
        let candidates = marked.map(Candidate::of).chain(others);
        match known_by_content(table, candidates, &mut asked)? {
            None => Ok(()),
            Some((folder, name)) => {
                let why = format!("it has the content of {name:?}, which is there already");
                Err(elsewhere(table, &folder, &why))
            }
        }
    }

    /// Whether the mark beside `table` names a ledger that is lost, and that may have been here.
    ///
    /// # Errors
    /// If another ledger accounts for the table.
    pub(super) fn has_lost(&self, view: &LedgerView, table: &Path) -> Result<bool, StoreError> {
        match self.claim(view, table)? {
            Claim::Own => Ok(false),
            Claim::Lost(_) => Ok(true),
            Claim::Elsewhere(refused) => Err(refused),
        }
    }

    /// Binds `table` to this ledger: puts the mark beside it, and says what goes into the ledger.
    ///
    /// # Errors
    /// If [another ledger](Self::require_own) accounts for it, or the table cannot be read.
    pub fn bind(
        &self,
        ledger: &LifetimeLedger,
        table: &Path,
        others: &[PathBuf],
    ) -> Result<Bound, StoreError> {
        self.require_own(ledger, table, others)?;
        let data = data_set(&ledger.fingerprint_key, table)?;
        let unmarked = self.mark(ledger, table)?;
        Ok(Bound { data, unmarked })
    }

    /// Puts the mark of this ledger, which says `view`, beside `table`; returns why that was not possible.
    ///
    /// # Errors
    /// If the mark that is there cannot be read.
    pub(super) fn mark(
        &self,
        view: &LedgerView,
        table: &Path,
    ) -> Result<Option<String>, StoreError> {
        let mark = Mark {
            format: FORMAT.to_owned(),
            ledger: real(self.folder()),
            id: view.id(),
        };
        Ok(match mark_of(table) {
            Some(path) if read(&path)?.as_ref() != Some(&mark) => write(&path, &mark).err(),
            _ => None,
        })
    }

    fn claim(&self, view: &LedgerView, table: &Path) -> Result<Claim, StoreError> {
        let Some(path) = mark_of(table) else {
            return Ok(Claim::Own);
        };
        let Some(mark) = read(&path)? else {
            return Ok(Claim::Own);
        };
        let is_here = real(&mark.ledger) == real(self.folder());
        let is_there = matches!(fs::exists(mark.ledger.join(LEDGER)), Ok(true));
        // What lies nowhere else was moved here.
        let is_same = view.answers_for(mark.id);
        if is_same && (is_here || !is_there) {
            return Ok(Claim::Own);
        }
        if !is_here && is_there {
            let why = if is_same {
                "this one is a copy of it"
            } else {
                "this one knows nothing of what was spent there"
            };
            return Ok(Claim::Elsewhere(elsewhere(table, &mark.ledger, why)));
        }
        let file = mark.ledger.join(LEDGER);
        let table = table.display();
        let accounts = format!("it accounts for `{table}`, as `{}` says", path.display());
        Ok(Claim::Lost(if is_here && view.n_entries() > 0 {
            witness::lost(
                &file,
                &format!("{accounts}, but another ledger has taken its place"),
            )
        } else {
            witness::gone(&file, &accounts)
        }))
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

/// What stands for `table` in a ledger whose fingerprints have this key.
pub(super) fn data_set(key: &[u8; 32], table: &Path) -> Result<DataSet, StoreError> {
    Ok(DataSet {
        name: name_of(table),
        fingerprint: fingerprint_of(key, table)?,
        joined: None,
    })
}

fn fingerprint_of(key: &[u8; 32], table: &Path) -> Result<Digest, StoreError> {
    let unreadable = |error: std::io::Error| StoreError::Unusable {
        path: table.to_owned(),
        reason: error.to_string(),
    };
    let file = fs::File::open(table).map_err(unreadable)?;
    fingerprint(key, file).map_err(unreadable)
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

/// The marks in the folder of `table`, and where each lies.
fn marks_beside(table: &Path) -> Result<Vec<(PathBuf, Mark)>, StoreError> {
    let Some(folder) = mark_of(table).and_then(|mark| mark.parent().map(Path::to_owned)) else {
        return Ok(Vec::new());
    };
    let unreadable = |error: std::io::Error| StoreError::Unusable {
        path: folder.clone(),
        reason: error.to_string(),
    };
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut marks = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let mark = read(&path).map_err(|error| may_know(table, error))?;
            marks.extend(mark.map(|mark| (path, mark)));
        }
    }
    Ok(marks)
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
