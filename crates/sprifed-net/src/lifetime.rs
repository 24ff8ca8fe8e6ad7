//! What one client has spent in all its studies: the ledger that outlives them.
//!
//! A study is entered with the most it can cost before a record is touched, and settled with what it
//! did cost when its receipt is there. A study that never ends stays at its most.
//!
//! Costs are added up for each kind: a unit of privacy under a relation of neighbours. A study of another
//! kind counts in a total as far as it says something of that kind (see `steps`). A study without secret noise protects nobody, so it is kept in the list and
//! in no total. A line of an earlier version, which does not say its kind, counts in every total.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Row, params};
use sprifed_privacy::{PrivacyUnit, Relation};

use crate::store::{StateLock, StoreError, durable, schema_of};

mod admission;
mod counted;

pub use admission::{Admission, folder_name, today};
pub use counted::CountedJournal;

/// What a cost is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CostKind {
    /// Whose presence is protected.
    pub unit: String,
    /// Which data sets are neighbours.
    pub neighbours: String,
}

/// Whether the noise of a study is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// It is: ε and δ bound what the study tells.
    Secret,
    /// It can be repeated by anybody: nothing bounds what the study tells.
    Unprotected,
}

/// An ε at a δ.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

/// One study in the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct LifetimeLine {
    /// Which study.
    pub study: String,
    /// What it is called.
    pub title: String,
    /// What its cost is about; a line of an earlier version does not say.
    pub kind: Option<CostKind>,
    /// Whether the cost means anything.
    pub protection: Protection,
    /// What is counted: the most possible, or what the receipt says.
    pub cost: Cost,
    /// Whether the study is over.
    pub is_settled: bool,
}

/// All studies of one kind together: epsilons are added, and so are deltas.
#[derive(Debug, Clone, PartialEq)]
pub struct LifetimeTotal {
    /// What the cost is about.
    pub kind: CostKind,
    /// The sums.
    pub cost: Cost,
    /// How many studies are in them.
    pub studies: usize,
}

/// A client's ledger of studies in a SQLite file.
#[derive(Debug)]
pub struct LifetimeLedger {
    connection: Connection,
    _lock: StateLock,
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS studies (
    study TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon >= 0),
    delta REAL NOT NULL CHECK (delta >= 0),
    settled INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS kinds (
    study TEXT PRIMARY KEY REFERENCES studies (study) ON DELETE CASCADE,
    unit TEXT NOT NULL,
    neighbours TEXT NOT NULL,
    is_secret INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS answered (
    study TEXT PRIMARY KEY REFERENCES studies (study) ON DELETE CASCADE,
    entries INTEGER NOT NULL
) STRICT;
";

impl LifetimeLedger {
    /// Opens or creates the ledger; one process at a time.
    ///
    /// # Errors
    /// If another process has it, or the disk refuses.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let (connection, lock) = durable(path)?;
        connection.pragma_update(None, "foreign_keys", "on")?;
        schema_of(&connection, path, "all studies of one client", SCHEMA)?;
        Ok(Self {
            connection,
            _lock: lock,
        })
    }

    /// Opens the ledger; another study of the same client has it for moments only, which are waited for.
    ///
    /// # Errors
    /// If another process has it for long, or the disk refuses.
    pub fn open_patiently(path: &Path) -> Result<Self, StoreError> {
        let mut tries = 200;
        loop {
            match Self::open(path) {
                Err(StoreError::InUse { .. }) if tries > 0 => {
                    tries -= 1;
                    std::thread::sleep(Duration::from_millis(50));
                }
                opened => return opened,
            }
        }
    }

    /// How far the client's own record of `study` was when it last sent something.
    ///
    /// # Errors
    /// If the ledger can not be read.
    pub fn answered(&self, study: &str) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(entries), 0) FROM answered WHERE study = ?1";
        let entries: i64 = self.connection.query_row(sql, [study], |row| row.get(0))?;
        Ok(entries.unsigned_abs())
    }

    /// Counts what the client's own record of `study` has now; never less than before.
    ///
    /// # Errors
    /// If it could not be made durable. Nothing may be sent then.
    pub fn count(&mut self, study: &str, entries: u64) -> Result<(), StoreError> {
        let sql = "INSERT INTO answered VALUES (?1, ?2)
                   ON CONFLICT DO UPDATE SET entries = max(entries, excluded.entries)";
        let entries = i64::try_from(entries).unwrap_or(i64::MAX);
        self.connection.execute(sql, params![study, entries])?;
        Ok(())
    }

    /// What a ledger says, without taking it from the process that has it.
    ///
    /// # Errors
    /// If there is none, or it can not be read.
    pub fn look_into(path: &Path) -> Result<Vec<LifetimeLine>, StoreError> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(path, flags)?;
        let sql = "SELECT count(*) FROM sqlite_master WHERE name = 'kinds'";
        let has_kinds: bool = connection.query_row(sql, [], |row| row.get(0))?;
        lines(&connection, if has_kinds { LINES } else { OLD_LINES })
    }

    /// The cost of all studies of this kind but `study`.
    ///
    /// # Errors
    /// If the ledger can not be read.
    pub fn spent_elsewhere(&self, study: &str, kind: &CostKind) -> Result<Cost, StoreError> {
        let lines = self.lines()?;
        let others = lines.iter().filter(|line| line.study != study);
        Ok(total(others, kind).cost)
    }

    /// Enters `line`; a study that is there already is left as it is.
    ///
    /// # Errors
    /// If it could not be made durable. No record may be touched then.
    pub fn reserve(&mut self, line: &LifetimeLine) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        let sql = "INSERT INTO studies VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        let Cost { epsilon, delta } = line.cost;
        let values = params![line.study, line.title, epsilon, delta, line.is_settled];
        let is_new = transaction.execute(sql, values)? == 1;
        if let (true, Some(kind)) = (is_new, &line.kind) {
            let is_secret = line.protection == Protection::Secret;
            let sql = "INSERT INTO kinds VALUES (?1, ?2, ?3, ?4)";
            let values = params![line.study, kind.unit, kind.neighbours, is_secret];
            transaction.execute(sql, values)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Takes back the reservation of a study in which nothing was sent.
    ///
    /// # Errors
    /// If it could not be made durable.
    pub fn withdraw(&mut self, study: &str) -> Result<(), StoreError> {
        let sql = "DELETE FROM studies WHERE study = ?1 AND settled = 0";
        self.connection.execute(sql, params![study])?;
        Ok(())
    }

    /// Replaces the most that `study` could cost by what it did cost.
    ///
    /// # Errors
    /// If it could not be made durable.
    pub fn settle(&mut self, study: &str, cost: Cost) -> Result<(), StoreError> {
        let sql = "UPDATE studies SET epsilon = ?2, delta = ?3, settled = 1
                   WHERE study = ?1 AND settled = 0";
        let values = params![study, cost.epsilon, cost.delta];
        self.connection.execute(sql, values)?;
        Ok(())
    }

    /// Every study, in the order in which they were entered.
    ///
    /// # Errors
    /// If the ledger can not be read.
    pub fn lines(&self) -> Result<Vec<LifetimeLine>, StoreError> {
        lines(&self.connection, LINES)
    }
}

/// The total of each kind that `lines` name.
#[must_use]
pub fn totals_of(lines: &[LifetimeLine]) -> Vec<LifetimeTotal> {
    let named = lines
        .iter()
        .filter(|line| line.protection == Protection::Secret);
    let kinds: std::collections::BTreeSet<&CostKind> =
        named.filter_map(|line| line.kind.as_ref()).collect();
    kinds.into_iter().map(|kind| total(lines, kind)).collect()
}

fn total<'a>(lines: impl IntoIterator<Item = &'a LifetimeLine>, kind: &CostKind) -> LifetimeTotal {
    let mut total = LifetimeTotal {
        kind: kind.clone(),
        cost: Cost::default(),
        studies: 0,
    };
    for line in lines {
        let steps = line
            .kind
            .as_ref()
            .map_or(Some(1), |found| steps(found, kind));
        if let (Some(steps), Protection::Secret) = (steps, line.protection) {
            let cost = line.cost.over(steps);
            total.cost.epsilon += cost.epsilon;
            total.cost.delta += cost.delta;
            total.studies += 1;
        }
    }
    total
}

/// How many changes that a study of kind `found` protects make up one change of kind `wanted`; none if no
/// number of them is known.
///
/// A record is zeroed out by replacing it with what answers like nothing, so one replacement is enough
/// (sensitivities under replace-one are never smaller); a replacement is a zeroing and its
/// opposite. A change of one record is a change of its client: one replacement, or two zeroings. What a
/// study of records says of a whole client depends on how many it has, which is not known here.
fn steps(found: &CostKind, wanted: &CostKind) -> Option<u32> {
    let is_zeroing = |kind: &CostKind| kind.neighbours == Relation::ZeroOut.words();
    if found.unit == wanted.unit {
        let two = is_zeroing(found) && !is_zeroing(wanted);
        return Some(if two { 2 } else { 1 });
    }
    let covers = found.unit == PrivacyUnit::Client.words();
    covers.then_some(if is_zeroing(found) { 2 } else { 1 })
}

impl Cost {
    /// What it is over k changes, one after the other: k ε at δ (1 + e^ε + … + e^((k-1) ε)).
    fn over(self, steps: u32) -> Self {
        let each = (0..steps).map(|step| (f64::from(step) * self.epsilon).exp());
        Self {
            epsilon: f64::from(steps) * self.epsilon,
            delta: (each.sum::<f64>() * self.delta).min(1.0),
        }
    }
}

const LINES: &str =
    "SELECT studies.study, title, epsilon, delta, settled, unit, neighbours, is_secret
    FROM studies LEFT JOIN kinds ON studies.study = kinds.study ORDER BY studies.rowid";

/// Of a file that no newer version has opened yet.
const OLD_LINES: &str = "SELECT study, title, epsilon, delta, settled, NULL, NULL, NULL
    FROM studies ORDER BY rowid";

fn lines(connection: &Connection, sql: &str) -> Result<Vec<LifetimeLine>, StoreError> {
    let mut statement = connection.prepare(sql)?;
    let lines = statement.query_map([], line)?;
    Ok(lines.collect::<Result<_, _>>()?)
}

fn line(row: &Row<'_>) -> Result<LifetimeLine, rusqlite::Error> {
    let (unit, neighbours): (Option<String>, Option<String>) = (row.get(5)?, row.get(6)?);
    let kind = unit.zip(neighbours);
    let is_secret: Option<bool> = row.get(7)?;
    Ok(LifetimeLine {
        study: row.get(0)?,
        title: row.get(1)?,
        kind: kind.map(|(unit, neighbours)| CostKind { unit, neighbours }),
        protection: match is_secret {
            Some(false) => Protection::Unprotected,
            // Of an earlier version: counted, as it was then.
            Some(true) | None => Protection::Secret,
        },
        cost: Cost {
            epsilon: row.get(2)?,
            delta: row.get(3)?,
        },
        is_settled: row.get(4)?,
    })
}

#[cfg(test)]
mod tests;
