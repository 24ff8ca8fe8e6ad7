use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use sprifed_study::{CoordinatorEffect, StudyCoordinator, StudyPhase, Unopened};

use super::*;
use crate::ledger::Standing;
use crate::records::PartyRecords;
use crate::store::SqliteStore;
use crate::table::PartyTable;
use crate::test_study::{self, COORDINATOR_SEED, SEED, TestParty, entropy};

/// A table that looks, when it is opened, whether the charge for it is stored and counted.
#[derive(Clone)]
struct Watched {
    table: PartyTable,
    folder: StudyFolder,
    ledger: LedgerPlace,
    study: String,
    n_opened: Arc<AtomicUsize>,
}

impl RecordStore for Watched {
    type Records = PartyRecords;

    fn opened(&self) -> Option<&PartyRecords> {
        self.table.opened()
    }

    fn open(&self) -> Result<&PartyRecords, Unopened> {
        self.n_opened.fetch_add(1, Ordering::SeqCst);
        let stored = self.folder.look_into().expect("read").expect("begun");
        let last = stored.lines.last();
        assert!(
            matches!(last, Some(JournalLine::Charged { .. })),
            "{last:?}"
        );
        let ledger = self.ledger.open().expect("a ledger");
        let counted = ledger.answered(&self.study).expect("read");
        assert_eq!(counted, stored.lines.len() as u64);
        let line = ledger.line(&self.study).expect("entered");
        assert_eq!(line.standing, Standing::Reserved);
        self.table.open()
    }
}

fn files(receipt: &PartyReceipt, _: &Transcript) -> Artefacts {
    vec![(RECEIPT.to_owned(), receipt.to_json())]
}

fn seat(party: &TestParty) -> Seat {
    Seat {
        agreed: Arc::clone(&party.agreed),
        me: ClientId(party.place),
        identity: party.party.identity().expect("a key"),
        seed: Some(SEED),
        folder: party.folder.clone(),
        software: "a test".to_owned(),
        files,
    }
}

/// A party that runs as long as the study.
fn by_network(
    party: &TestParty,
    n_opened: &Arc<AtomicUsize>,
) -> PartyRuntime<SqliteStore, Watched> {
    let store = party.with_application(&party.folder.database(), |application| {
        let admitted = application.apply().expect("admitted");
        party.folder.begin(&party.invitation()).expect("a folder");
        let mut store = SqliteStore::open(&party.folder, party.agreed.digest()).expect("a store");
        admitted
            .enter(&mut store, Some(SEED), entropy)
            .expect("entered");
        store
    });
    let seat = seat(party);
    let records = Watched {
        table: PartyTable::in_file(&party.data, &party.agreed, seat.me),
        folder: party.folder.clone(),
        ledger: party.ledger.clone(),
        study: seat.study(),
        n_opened: Arc::clone(n_opened),
    };
    let ledger = Some(party.ledger.clone());
    PartyRuntime::new(seat, records, store, ledger).expect("a runtime")
}

/// What a party that is woken for each request answers.
fn by_request(party: &TestParty, number: u64, orders: &[Vec<u8>]) -> (Vec<Vec<u8>>, bool) {
    let mut runtime = party.with_application(&party.folder.sealed(), |application| {
        let admitted = application.apply().expect("admitted");
        party.folder.begin(&party.invitation()).expect("a folder");
        let store = SealedStore::open(&party.folder, &[1; 32], party.agreed.digest(), entropy);
        let mut store = store.expect("a store");
        admitted
            .enter(&mut store, Some(SEED), entropy)
            .expect("entered");
        let seat = seat(party);
        let table = PartyTable::in_file(&party.data, &party.agreed, seat.me);
        let ledger = Some(party.ledger.clone());
        PartyRuntime::new(seat, table, store, ledger).expect("a runtime")
    });
    runtime.begin_request(number).expect("a new number");
    assert_eq!(runtime.restart().expect("as it was"), None);
    let mut said = drain(&mut runtime, orders.is_empty());
    for order in orders {
        runtime.receive(order).expect("accepted");
        let (more, ended) = drain(&mut runtime, true);
        said.0.extend(more);
        said.1 |= ended;
    }
    said
}

/// What a runtime wants carried, and whether it is over.
fn drain<S: PartyStore, R: RecordStore + Clone>(
    runtime: &mut PartyRuntime<S, R>,
    polls: bool,
) -> (Vec<Vec<u8>>, bool) {
    let (mut said, mut is_over) = (Vec::new(), false);
    while let Some(outgoing) = polls.then(|| runtime.poll().expect("stored")).flatten() {
        match outgoing {
            Outgoing::Send(message) => said.push(message),
            Outgoing::Ended(_) => is_over = true,
        }
    }
    (said, is_over)
}

#[test]
fn a_study_runs_to_its_end_over_both_stores_and_each_charge_comes_before_its_records() {
    let agreed = test_study::agreed(Provenance::Simulated);
    let parties: Vec<TestParty> = (0..5)
        .map(|place| TestParty::new("runs", place, &agreed))
        .collect();
    let n_opened = Arc::new(AtomicUsize::new(0));
    let (sealed, others) = parties.split_last().expect("five");
    let mut runtimes: Vec<_> = others
        .iter()
        .map(|party| by_network(party, &n_opened))
        .collect();
    let identity = PartyKey::simulated(COORDINATOR_SEED, 0).identity();
    let coordinator = StudyCoordinator::open(Arc::clone(&agreed), identity, "a test");
    let mut coordinator = coordinator.expect("a coordinator");
    let mut number = 0;
    let mut ended = BTreeMap::new();
    let mut orders: BTreeMap<u32, Vec<Vec<u8>>> = (0..5).map(|place| (place, vec![])).collect();
    for runtime in &mut runtimes {
        assert_eq!(runtime.restart().expect("begun"), None);
    }
    while coordinator.phase() != StudyPhase::Ended {
        for (place, orders) in std::mem::take(&mut orders) {
            let (said, is_over) = match runtimes.get_mut(place as usize) {
                None => {
                    number += 1;
                    by_request(sealed, number, &orders)
                }
                Some(runtime) => {
                    for order in &orders {
                        runtime.receive(order).expect("accepted");
                    }
                    drain(runtime, true)
                }
            };
            for message in said {
                coordinator
                    .receive(ClientId(place), &message)
                    .expect("accepted");
            }
            if is_over {
                ended.insert(place, ());
            }
        }
        if coordinator.waits_for().is_empty() {
            coordinator.close_phase();
        }
        while let Some(effect) = coordinator.poll() {
            if let CoordinatorEffect::Send(to, order) = effect {
                orders.entry(to.0).or_default().push(order.to_vec());
            }
        }
    }
    assert_eq!(ended.len(), 5, "{ended:?}");
    assert!(n_opened.load(Ordering::SeqCst) >= 4);
    for party in &parties {
        let receipt = fs::read(party.folder.receipt()).expect("a receipt");
        serde_json::from_slice::<PartyReceipt>(&receipt).expect("a receipt");
        let ledger = party.ledger.open().expect("a ledger");
        let line = ledger.line(&agreed.digest().to_string()).expect("entered");
        assert_eq!(line.standing, Standing::Settled);
    }
    // A party whose part is over says so again without a coordinator.
    drop(runtimes);
    fs::remove_file(others[0].folder.receipt()).expect("removed");
    let finished = by_network(&others[0], &n_opened).restart().expect("over");
    assert!(finished.is_some());
    assert!(others[0].folder.receipt().exists());
}

#[test]
fn an_older_copy_of_the_state_is_refused() {
    let agreed = test_study::agreed(Provenance::Simulated);
    let party = TestParty::new("older", 0, &agreed);
    let n_opened = Arc::new(AtomicUsize::new(0));
    let mut runtime = by_network(&party, &n_opened);
    let state = party.folder.database();
    let before = fs::read(&state).expect("a file");
    runtime.restart().expect("begun");
    let (said, _) = drain(&mut runtime, true);
    assert_eq!(said.len(), 1, "its keys, which are in its journal");
    drop(runtime);
    fs::write(&state, before).expect("put back");
    let store = SqliteStore::open(&party.folder, agreed.digest()).expect("a store");
    let table = PartyTable::in_file(&party.data, &agreed, ClientId(0));
    let refused = PartyRuntime::new(seat(&party), table, store, Some(party.ledger.clone()));
    let refused = refused.map(drop).expect_err("an older copy");
    assert!(
        matches!(
            refused,
            PartyError::Store(StoreError::PutBack {
                found: 0,
                required: 1,
                ..
            })
        ),
        "{refused}"
    );
}

#[test]
fn a_request_that_was_answered_is_refused_and_what_was_said_is_said_again() {
    let agreed = test_study::agreed(Provenance::Simulated);
    let party = TestParty::new("again", 0, &agreed);
    let (first, _) = by_request(&party, 5, &[]);
    let (second, _) = by_request(&party, 6, &[]);
    assert_eq!(first, second, "the coordinator may have lost it");
    let store = SealedStore::open(&party.folder, &[1; 32], agreed.digest(), entropy);
    let refused = store.expect("a store").begin_request(6);
    assert!(matches!(
        refused,
        Err(PartyError::OldRequest { found: 6, last: 6 })
    ));
}
