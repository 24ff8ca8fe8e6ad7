//! A new ledger in the place of a lost one, which forgets nothing that is known.
//!
//! ```text
//! entries of the lost ledger that can be read ─┐
//! folders of begun studies, with receipts ─────┼─▶ opened, restarted, carried-over …  one file, put in place whole
//! what its owner states to have spent ─────────┘
//! ```
//!
//! An entry counts by its own signature, whether or not those before it can be read; how many could not is said.
//! Studies are carried over as left: whether their state is as it was last cannot be known any more, and with other
//! masks old confirmations would count for a second vector of the same sum (THREAT_MODEL.md, A12).

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use sprifed_privacy::{PrivacyUnit, Relation};
use sprifed_study::Digest;

use super::chain::{Chain, SignedEntry, opened};
use super::data_set::data_set;
use super::stored::{
    CONTENT, SCHEMA, existing_ledger, fingerprint_key, fresh_fingerprint_key, now, put_entry,
    put_fingerprint_key, read_entries, text_of_now,
};
use super::{
    Cost, CostKind, DataSet, Event, LedgerPlace, LedgerView, LifetimeLine, Protection, Reservation,
    Work, look_for_ledger, witness,
};
use crate::database::{StateLock, StoreError, connect, schema_of};
use crate::private_files::rename_durably;

/// What is known of a lost ledger beside what can still be read of it.
#[derive(Debug, Clone, Default)]
pub struct Restart {
    /// Folders in which parties that count in this ledger keep their studies.
    pub homes: Vec<PathBuf>,
    /// Tables that it accounted for: the new ledger is marked beside them.
    pub tables: Vec<PathBuf>,
    /// Studies that were begun, with the most that each can have cost.
    pub studies: Vec<LifetimeLine>,
    /// What everything else has cost together, and for which unit and relation.
    pub stated: Option<(CostKind, Cost)>,
}

/// A ledger that was begun in the place of a lost one.
#[derive(Debug)]
pub struct Restarted {
    /// What it says.
    pub view: LedgerView,
    /// How many entries of the lost ledger could not be read: what they said is not in the new one.
    pub unread: u64,
}

/// What could be read of a lost ledger.
#[derive(Default)]
struct Salvaged {
    id: Option<Digest>,
    chain: Chain,
    /// How many entries it has, and how many of them could be read.
    found: u64,
    used: u64,
    fingerprint_key: Option<[u8; 32]>,
}

impl LedgerPlace {
    /// Begins a new ledger in the place of a lost one. What lies there is kept under another name.
    ///
    /// # Errors
    /// If the ledger is whole, another process has it, or the disk refuses. Then it is as it was.
    pub fn restart(&self, known: &Restart) -> Result<Restarted, StoreError> {
        let file = self.file();
        let _lock = StateLock::take(&file)?;
        self.refuse_whole(known)?;
        let salvaged = self.salvage()?;
        let had = salvaged.found.max(witness::entries(&file));
        let unread = had.saturating_sub(salvaged.used);
        let view = self.successor(&salvaged, known)?;
        let fresh = file.with_extension("new");
        write(&fresh, &view)?;
        keep_aside(&file).map_err(unwritable(&file))?;
        // A kill in between leaves a ledger that is lost as before.
        witness::note(&file, &view.chain)?;
        rename_durably(&fresh, &file).map_err(unwritable(&file))?;
        for table in &known.tables {
            self.mark(&view, table)?;
        }
        Ok(Restarted { view, unread })
    }

    fn refuse_whole(&self, known: &Restart) -> Result<(), StoreError> {
        let (view, is_whole) = match look_for_ledger(self.folder(), &known.homes) {
            Ok(Some(view)) => (view, true),
            Ok(None) | Err(StoreError::Ledger { .. }) => (LedgerView::default(), false),
            Err(other) => return Err(other),
        };
        let mut is_lost = !is_whole;
        for table in &known.tables {
            is_lost |= self.has_lost(&view, table)?;
        }
        if is_lost {
            return Ok(());
        }
        Err(StoreError::Ledger {
            path: self.file(),
            problem: "is whole: nothing is lost, so there is nothing to restart".to_owned(),
            help: "use it as it is. If a command said that it is lost, name the table with --data, or the folder of the \
                   other party with --party, for which it said so; nothing was changed",
        })
    }

    /// The new chain.
    fn successor(&self, salvaged: &Salvaged, known: &Restart) -> Result<LedgerView, StoreError> {
        let old = &salvaged.chain;
        let mut chain = Chain::default();
        let mut add = |event: Event| {
            let signed = chain.next(event, text_of_now(), self.signer());
            let broken = |problem| witness::refused(&self.file(), format!("would be: {problem}"));
            chain.append(signed).map_err(broken)?;
            Ok::<_, StoreError>(chain.head())
        };
        add(opened(now().nanosecond()))?;
        let replaces = salvaged.id;
        let begun = add(Event::Restarted { replaces })?;
        for line in carried_over(&old.lines, &known.studies) {
            add(Event::CarriedOver(Reservation::of(&line)))?;
        }
        let stated = known.stated.iter().map(|(kind, cost)| {
            let title = "what the owner states to have spent before";
            carried_fit(begun, "stated cost", title, *kind, *cost, None)
        });
        for reservation in stated {
            add(Event::CarriedOver(reservation))?;
        }
        let fingerprint_key = salvaged
            .fingerprint_key
            .unwrap_or_else(|| fresh_fingerprint_key(self.signer()));
        for table in &known.tables {
            let data = data_set(&fingerprint_key, table)?;
            let (name, kind) = (data.name.clone(), weakest());
            let title = format!("the table {name:?}, taken over");
            let taken = carried_fit(begun, &name, &title, kind, Cost::NOTHING, Some(data));
            add(Event::CarriedOver(taken))?;
        }
        if let Some(limit) = old.limit {
            add(Event::Limited { limit })?;
        }
        Ok(LedgerView {
            chain,
            fingerprint_key,
        })
    }

    /// What can be read of the lost ledger.
    fn salvage(&self) -> Result<Salvaged, StoreError> {
        let read = |connection: &Connection| {
            let entries = read_entries(connection)?;
            let found = entries.len() as u64;
            let entries = entries.into_iter().filter_map(|entry| entry.ok().flatten());
            let entries: Vec<SignedEntry> = entries.collect();
            let id = entries.first().and_then(Chain::id_of);
            let (chain, used) = Chain::salvage(entries, self.signer());
            Ok(Salvaged {
                id,
                chain,
                found,
                used,
                fingerprint_key: Some(fingerprint_key(connection)?).filter(|key| *key != [0; 32]),
            })
        };
        let found =
            existing_ledger(&self.file()).and_then(|found| found.as_ref().map(read).transpose());
        match found {
            Err(StoreError::Damaged(_)) => Ok(Salvaged::default()),
            found => Ok(found?.unwrap_or_default()),
        }
    }
}

/// Every line of the lost ledger, and every begun study that is not in it, each once. A study that the lost ledger had
/// not settled counts with what is known of it now.
fn carried_over(lost: &[LifetimeLine], begun: &[LifetimeLine]) -> Vec<LifetimeLine> {
    let known_now = |line: &LifetimeLine| {
        let found = begun.iter().find(|found| found.study == line.study);
        match found.filter(|_| !line.is_settled()) {
            None => line.clone(),
            Some(found) => LifetimeLine {
                data: line.data.clone(),
                ..found.clone()
            },
        }
    };
    let mut lines: Vec<LifetimeLine> = lost.iter().map(known_now).collect();
    for found in begun {
        if lines.iter().all(|line| line.study != found.study) {
            lines.push(found.clone());
        }
    }
    lines
}

/// The change of which every guarantee says something.
fn weakest() -> CostKind {
    CostKind {
        unit: PrivacyUnit::Record,
        neighbours: Relation::ZeroOut,
    }
}

/// A line that no study or fit made, in the ledger that begins with `begun`.
fn carried_fit(
    begun: Digest,
    label: &str,
    title: &str,
    kind: CostKind,
    cost: Cost,
    data: Option<DataSet>,
) -> Reservation {
    let hash = Sha256::new_with_prefix(b"sprifed: carried over")
        .chain_update(begun.0)
        .chain_update(label);
    Reservation {
        study: Digest(hash.finalize().into()).to_string(),
        work: Work::Fit,
        title: title.to_owned(),
        kind,
        protection: Protection::Secret,
        cost,
        data,
    }
}

/// Writes a ledger file of its own.
fn write(path: &Path, view: &LedgerView) -> Result<(), StoreError> {
    // One that a kill left half written.
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(unwritable(path)(error));
        }
        _ => {}
    }
    let mut connection = connect(path)?;
    schema_of(&connection, path, CONTENT, SCHEMA)?;
    let transaction = connection.transaction()?;
    put_fingerprint_key(&transaction, &view.fingerprint_key)?;
    for (number, signed) in (0..).zip(&view.chain.entries) {
        put_entry(&transaction, number, signed)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Copies what lies at `path` to the first free name `ledger.lost-N.sqlite`. What a power cut left beside it would undo
/// changes of the file that takes its place, so it goes there too.
fn keep_aside(path: &Path) -> std::io::Result<()> {
    let mut number = 1;
    let kept = loop {
        let kept = path.with_extension(format!("lost-{number}.sqlite"));
        if !fs::exists(&kept)? {
            break kept;
        }
        number += 1;
    };
    if fs::exists(path)? {
        fs::copy(path, &kept)?;
    }
    let journal = beside(path);
    if fs::exists(&journal)? {
        fs::rename(&journal, beside(&kept))?;
    }
    Ok(())
}

/// The rollback journal of a database.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    name.into()
}

fn unwritable(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError + '_ {
    |error| StoreError::Unusable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}
