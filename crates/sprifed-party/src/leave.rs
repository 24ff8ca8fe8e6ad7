//! A party leaves an unfinished study permanently, and has the rest of its budget back.
//!
//! First the journal says that the party has left, so that it answers nothing more; then the ledger counts what was
//! charged instead of the most possible. Broken off between the two, the same call finishes it.

use std::fs;

use sprifed_study::{Agreed, JournalLine, charged_by};

use crate::error::PartyError;
use crate::folder::{PartyFolder, StudyFolder};
use crate::ledger::{Cost, LedgerPlace, LifetimeLine, Standing};
use crate::private_files::is_there;
use crate::runtime::refuse_older;
use crate::store::{PartyStore, SqliteStore};

/// A study that a party has left.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The study as the ledger knew it.
    pub line: LifetimeLine,
    /// What the ledger counts for it.
    pub cost: Cost,
}

/// Leaves the study in `folder`, in which `party` takes part over the network.
///
/// # Errors
/// If the ledger does not know the study, it is over, or its state is not as it was last. Nothing is changed then.
pub fn leave(
    party: &PartyFolder,
    folder: &StudyFolder,
    ledger: &LedgerPlace,
) -> Result<Departure, PartyError> {
    let (_, agreed) = folder.read_invitation()?;
    let study = agreed.digest().to_string();
    let path = folder.database();
    if fs::metadata(&path).is_ok_and(|file| file.len() == 0) {
        return Err(PartyError::Emptied { path });
    }
    let opened = ledger.open_for(&party.homes())?;
    let (line, counted) = (opened.line(&study).cloned(), opened.answered(&study)?);
    drop(opened);
    let mut store = SqliteStore::open(folder, agreed.digest())?;
    let line = line.ok_or_else(|| PartyError::NotJoined {
        folder: folder.path().to_owned(),
    })?;
    // Of a study that the ledger calls left nothing more is counted; its secrets may still be there.
    let has_left = line.standing == Standing::Left;
    if !has_left {
        refuse_older(&store, counted)?;
    }
    if store.end()?.is_some() || is_there(&folder.receipt()) {
        let is_settled = line.is_settled();
        let title = line.title;
        return Err(PartyError::Over { title, is_settled });
    }
    let lines = store.lines()?;
    let cost = if has_left {
        line.cost
    } else {
        charged(&agreed, &lines, &store)?
    };
    if !lines.contains(&JournalLine::Left) {
        store.append(&JournalLine::Left)?;
        if !has_left {
            ledger.open()?.count(&study, store.progress())?;
        }
    }
    // It answers nothing more: what hid its part is not needed any more.
    store.forget(&without_uploads(&lines), None)?;
    store.erase_secret()?;
    ledger.open()?.leave(&study, cost)?;
    Ok(Departure { line, cost })
}

/// What the study costs; one in which nothing was answered costs nothing.
fn charged(
    agreed: &Agreed,
    lines: &[JournalLine],
    store: &SqliteStore,
) -> Result<Cost, PartyError> {
    let charged = charged_by(agreed, lines).map_err(|declined| PartyError::Contradiction {
        path: store.path(),
        found: declined.to_string(),
    })?;
    Ok(agreed.cost_of(charged.spent().map(|spent| spent.epsilon())))
}

/// The places of uploads in a journal, and what they hold from now on.
fn without_uploads(lines: &[JournalLine]) -> Vec<(u64, JournalLine)> {
    let lines = (0..).zip(lines);
    let uploads = lines.filter_map(|(place, line)| match line {
        JournalLine::Uploaded { sum, .. } => {
            let (sum, message) = (*sum, Vec::new());
            Some((place, JournalLine::Uploaded { sum, message }))
        }
        _ => None,
    });
    uploads.collect()
}
