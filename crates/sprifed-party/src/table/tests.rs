use std::sync::atomic::{AtomicUsize, Ordering};

use sprifed_noise::Provenance;
use sprifed_recovery::Sites;
use sprifed_tables::read_csv;

use super::*;
use crate::test_study::{self, FEATURES, RECORDS};

fn study() -> Arc<Agreed> {
    test_study::agreed(Provenance::Simulated)
}

/// A table of `n_records` records, and how often it was read.
fn table(n_records: u32) -> (PartyTable, Arc<AtomicUsize>) {
    let n_reads = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&n_reads);
    let text = test_study::table(n_records);
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
        assert_eq!(size, (RECORDS as usize, FEATURES.len()));
    }
    assert!(table.opened().is_some() && table.problem().is_none());
    assert_eq!(n_reads.load(Ordering::SeqCst), 1);
}

#[test]
fn the_party_itself_learns_why_its_table_cannot_be_used() {
    let (large, _) = table(RECORDS + 1);
    let empty = PartyTable::new("own.csv", &study(), ClientId(0), |schema| {
        read_csv(&b"x0\n"[..], schema)
    });
    for (table, words) in [(large, "21 privacy units"), (empty, "`y`")] {
        assert_eq!(table.open().map(drop), Err(Unopened));
        assert!(table.opened().is_none());
        let problem = table.problem().expect("a problem");
        assert!(problem.to_string().contains(words), "{problem}");
    }
}

#[test]
fn a_party_says_behind_its_features_that_its_records_are_of_its_site() {
    let agreement = test_study::with_site_effects(test_study::agreement(Provenance::Simulated));
    let agreed = Arc::new(Agreed::new(agreement.clone()).expect("agreed"));
    let text = test_study::table(RECORDS);
    let table = PartyTable::new("own.csv", &agreed, ClientId(3), move |schema| {
        read_csv(text.as_bytes(), schema)
    });
    let (records, _) = table.read().expect("read");
    assert_eq!(records.n_features(), FEATURES.len() + 5);
    for unit in 0..records.n_units() {
        records.visit_unit(unit, &mut |record| {
            assert_eq!(record.features[FEATURES.len()..], [0.0, 0.0, 0.0, 1.0, 0.0]);
        });
    }
    // No other list of sites is agreed to: neither fewer, nor other numbers of records.
    for sites in [
        &[][..],
        &[RECORDS; 4],
        &[RECORDS, RECORDS, RECORDS, RECORDS, 19],
    ] {
        let mut other = agreement.clone();
        other.setting.sites = Sites::new(sites).expect("sites");
        let refused = Agreed::new(other).expect_err("refused").to_string();
        assert!(refused.contains("the list of sites"), "{refused}");
    }
}
