use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sprifed_secure_sum::IdentityKey;
use sprifed_study::Digest;
use sprifed_tables::read_csv;

use super::*;
use crate::federation::Draft;

const SCHEMA: &str = "[response]\nname = \"y\"\nlower = -6\nupper = 6\n[features]\nlower = -2\nupper = 2\ncenter = 0\n\
                      scale = 1\n";
const FEATURES: [&str; 6] = ["x0", "x1", "x2", "x3", "x4", "x5"];
const RECORDS: usize = 20;

/// A study in which each party has at most [`RECORDS`] records.
fn study() -> Arc<Agreed> {
    let public = |seed: u8| Digest(IdentityKey::from_stored(&[seed; 32]).public()).to_string();
    let parties: Vec<_> = (1..=5)
        .map(|seed| {
            json!({"name": format!("party-{seed}"), "identity": public(seed), "records": RECORDS, "simulated": true})
        })
        .collect();
    let terms = json!({
        "title": "a test", "purpose": "tests", "parties": parties,
        "data": {"schema": SCHEMA, "features": FEATURES},
        "sparsity": 1, "epsilon": 50.0, "delta": 1e-6, "procedure": "honest-omp", "intercept": "absent",
        "neighbours": "zero-out", "quorum": 4, "colluders": 1, "noise": "simulated",
    });
    let draft: Draft = serde_json::from_value(terms).expect("terms");
    let coordinator = Digest(IdentityKey::from_stored(&[9; 32]).public());
    let agreement = draft.agreement(coordinator, Digest([3; 32]));
    Arc::new(Agreed::new(agreement.expect("an agreement")).expect("agreed"))
}

/// A table of `n_records` records, and how often it was read.
fn table(n_records: usize) -> (PartyTable, Arc<AtomicUsize>) {
    let n_reads = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&n_reads);
    let header = format!("{},y\n", FEATURES.join(","));
    let rows = (0..n_records).map(|row| format!("0,0.5,-0.5,{},1,-1,0.25\n", row % 2));
    let text = header + &rows.collect::<String>();
    let table = PartyTable::new("own.csv", &study(), ClientId(0), move |schema| {
        counter.fetch_add(1, Ordering::SeqCst);
        read_csv(text.as_bytes(), schema)
    });
    (table, n_reads)
}

#[test]
fn a_table_is_read_when_it_is_asked_for_and_once() {
    let (table, n_reads) = table(RECORDS);
    assert!(table.opened().is_none() && table.problem().is_none());
    assert_eq!(n_reads.load(Ordering::SeqCst), 0, "nothing asked for it");
    for table in [&table, &table.clone()] {
        let opened = table.open().expect("opened");
        let size = (opened.n_units(), opened.n_features());
        assert_eq!(size, (RECORDS, FEATURES.len()));
    }
    assert!(table.opened().is_some() && table.problem().is_none());
    assert_eq!(n_reads.load(Ordering::SeqCst), 1);
}

#[test]
fn the_party_itself_learns_why_its_table_can_not_be_used() {
    let (large, _) = table(RECORDS + 1);
    let empty = PartyTable::new("own.csv", &study(), ClientId(0), |schema| {
        read_csv(&b"x0\n"[..], schema)
    });
    for (table, words) in [(large, "21 privacy units"), (empty, "`y`")] {
        assert_eq!(table.open().map(drop), Err(Unopened));
        assert!(table.opened().is_none());
        let problem = table.problem().expect("a problem");
        assert!(problem.message.contains(words), "{problem}");
    }
}
