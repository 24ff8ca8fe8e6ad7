use std::path::Path;

use rusqlite::Connection;
use sprifed_privacy::{Epsilon, PrivacyUnit, Relation, SpentDelta};
use sprifed_secure_sum::IdentityKey;

use super::*;
use crate::database::StoreError;
use crate::folder::{PartyFolder, StudyFolder};

mod binding;
mod chained;
mod restarted;
mod witnessed;

struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target/sprifed-party")
            .join(format!("lifetime-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn ledger(&self) -> std::path::PathBuf {
        self.0.join(LEDGER)
    }

    fn open(&self) -> LifetimeLedger {
        LifetimeLedger::open(&self.ledger(), &signer(1)).expect("a ledger")
    }

    fn place(&self) -> LedgerPlace {
        LedgerPlace::new(&self.0, signer(1))
    }
}

fn signer(seed: u8) -> IdentityKey {
    IdentityKey::from_stored(&[seed; 32])
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const RECORD: CostKind = kind(PrivacyUnit::Record, Relation::ZeroOut);
const REPLACED: CostKind = kind(PrivacyUnit::Record, Relation::ReplaceOne);
const CLIENT: CostKind = kind(PrivacyUnit::Client, Relation::ZeroOut);

const fn kind(unit: PrivacyUnit, neighbours: Relation) -> CostKind {
    CostKind { unit, neighbours }
}

fn line(study: &str, kind: CostKind, epsilon: f64) -> LifetimeLine {
    LifetimeLine {
        study: study.to_owned(),
        work: Work::Study,
        title: format!("study {study}"),
        kind,
        protection: Protection::Secret,
        cost: cost(epsilon, 0.25),
        data: None,
        standing: Standing::Reserved,
    }
}

fn cost(epsilon: f64, delta: f64) -> Cost {
    Cost {
        epsilon: Epsilon::try_from(epsilon).expect("a legal epsilon"),
        delta: SpentDelta::try_from(delta).expect("a legal delta"),
    }
}

/// What `look` finds in the folder while a transaction, of which a part is already in the file, is under way.
fn half_written<T>(folder: &Folder, numbers: std::ops::Range<u32>, look: impl FnOnce() -> T) -> T {
    let mut connection = Connection::open(folder.ledger()).expect("a file");
    let small = connection.pragma_update(None, "cache_size", 1);
    small.expect("a small cache");
    let transaction = connection.transaction().expect("begun");
    let sql = "INSERT INTO entries (number, entry, signature) VALUES (?1, ?2, '')";
    for number in numbers {
        let written = transaction.execute(sql, (number, "x".repeat(4000)));
        written.expect("written");
    }
    look()
}

#[test]
fn a_study_counts_with_its_most_until_it_is_settled_and_only_once() {
    let folder = Folder::new("once");
    let path = folder.ledger();
    let mut ledger = folder.open();
    for (study, epsilon) in [("a", 3.0), ("b", 2.0)] {
        let line = line(study, RECORD, epsilon);
        ledger.reserve(&line).expect("stored");
    }
    let elsewhere = |ledger: &LifetimeLedger, study| ledger.spent_elsewhere(study, RECORD);
    assert_eq!(elsewhere(&ledger, "c"), cost(5.0, 0.5));
    assert_eq!(elsewhere(&ledger, "a"), cost(2.0, 0.25));
    ledger.settle("a", cost(2.5, 0.25)).expect("stored");
    ledger.settle("a", cost(0.5, 0.0)).expect("stored");
    let again = line("a", RECORD, 0.0);
    ledger.reserve(&again).expect("stored");
    assert!(
        LifetimeLedger::open(&path, &signer(1)).is_err(),
        "one process at a time"
    );
    drop(ledger);
    let ledger = folder.open();
    assert_eq!(elsewhere(&ledger, "c"), cost(4.5, 0.5));
    let settled: Vec<bool> = ledger.lines().iter().map(|l| l.is_settled()).collect();
    assert_eq!(settled, [true, false]);
}

#[test]
fn costs_count_where_they_say_something_and_deltas_are_added() {
    let folder = Folder::new("kinds");
    let mut ledger = folder.open();
    for (study, kind, epsilon) in [
        ("a", RECORD, 1.0),
        ("b", REPLACED, 2.0),
        ("c", CLIENT, 4.0),
        ("d", RECORD, 8.0),
    ] {
        let line = line(study, kind, epsilon);
        ledger.reserve(&line).expect("stored");
    }
    let simulated = LifetimeLine {
        protection: Protection::Unprotected,
        ..line("e", RECORD, 16.0)
    };
    ledger.reserve(&simulated).expect("stored");
    let spent = |kind| ledger.spent_elsewhere("f", kind);
    // Without the simulated one; the client's zeroing counts as two changes of a record.
    let of_record = spent(RECORD);
    assert_eq!(of_record, cost(1.0 + 2.0 + 8.0 + 8.0, 1.0));
    assert_eq!(spent(CLIENT), cost(4.0, 0.25));
    let view = LifetimeLedger::look_into(&folder.ledger()).expect("read");
    let lines = view.lines();
    assert_eq!(lines.last(), Some(&simulated), "it is kept all the same");
    let totals = totals_of(lines);
    let found: Vec<(CostKind, usize)> = totals.iter().map(|t| (t.kind, t.studies)).collect();
    assert_eq!(found, [(RECORD, 4), (REPLACED, 4), (CLIENT, 1)]);
}
