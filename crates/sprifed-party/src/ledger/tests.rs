use std::path::Path;

use rusqlite::Connection;
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

fn kind(unit: &str, neighbours: &str) -> CostKind {
    CostKind {
        unit: unit.to_owned(),
        neighbours: neighbours.to_owned(),
    }
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

const fn cost(epsilon: f64, delta: f64) -> Cost {
    Cost { epsilon, delta }
}

#[test]
fn a_study_counts_with_its_most_until_it_is_settled_and_only_once() {
    let folder = Folder::new("once");
    let (path, record) = (folder.ledger(), kind("record", "zero-out"));
    let mut ledger = folder.open();
    for (study, epsilon) in [("a", 3.0), ("b", 2.0)] {
        let line = line(study, record.clone(), epsilon);
        ledger.reserve(&line).expect("stored");
    }
    let elsewhere = |ledger: &LifetimeLedger, study| ledger.spent_elsewhere(study, &record);
    assert_eq!(elsewhere(&ledger, "c"), cost(5.0, 0.5));
    assert_eq!(elsewhere(&ledger, "a"), cost(2.0, 0.25));
    ledger.settle("a", cost(2.5, 0.25)).expect("stored");
    ledger.settle("a", cost(0.5, 0.0)).expect("stored");
    let again = line("a", record.clone(), 0.0);
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
    let (record, replaced, client) = (
        kind("record", "zero-out"),
        kind("record", "replace-one"),
        kind("client", "zero-out"),
    );
    for (study, kind, epsilon) in [
        ("a", &record, 1.0),
        ("b", &replaced, 2.0),
        ("c", &client, 4.0),
        ("d", &record, 8.0),
    ] {
        let line = line(study, kind.clone(), epsilon);
        ledger.reserve(&line).expect("stored");
    }
    let simulated = LifetimeLine {
        protection: Protection::Unprotected,
        ..line("e", record.clone(), 16.0)
    };
    ledger.reserve(&simulated).expect("stored");
    let spent = |kind| ledger.spent_elsewhere("f", kind);
    // Without the simulated one; the client's zeroing counts as two changes of a record.
    let of_record = spent(&record);
    assert!((of_record.epsilon - (1.0 + 2.0 + 8.0 + 8.0)).abs() < 1e-12);
    assert!(
        (of_record.delta - (0.75 + 1.0)).abs() < 1e-12,
        "{of_record:?}"
    );
    assert_eq!(spent(&client), cost(4.0, 0.25));
    let view = LifetimeLedger::look_into(&folder.ledger()).expect("read");
    let lines = view.lines();
    assert_eq!(lines.last(), Some(&simulated), "it is kept all the same");
    let totals = totals_of(lines);
    let found: Vec<(&CostKind, usize)> = totals.iter().map(|t| (&t.kind, t.studies)).collect();
    assert_eq!(found, [(&client, 1), (&replaced, 4), (&record, 4)]);
}

#[test]
fn a_study_counts_in_every_total_of_which_it_says_something() {
    let lines = [
        line("a", kind("record", "zero-out"), 1.0),
        line("b", kind("record", "replace-one"), 0.5),
        line("c", kind("client", "zero-out"), 0.25),
    ];
    let of = |unit: &str, neighbours: &str| total(&lines, &kind(unit, neighbours)).cost.epsilon;
    // A replacement says as much as a zeroing; a client's zeroing and its opposite change a record.
    assert!((of("record", "zero-out") - (1.0 + 0.5 + 0.5)).abs() < 1e-12);
    assert!((of("record", "replace-one") - (2.0 + 0.5 + 0.5)).abs() < 1e-12);
    assert!((of("client", "zero-out") - 0.25).abs() < 1e-12);
    assert!((of("client", "replace-one") - 0.5).abs() < 1e-12);
    let twice = Cost {
        epsilon: 1.0,
        delta: 1e-6,
    }
    .over(2);
    assert!((twice.delta - 1e-6 * (1.0 + 1_f64.exp())).abs() < 1e-15);
}
