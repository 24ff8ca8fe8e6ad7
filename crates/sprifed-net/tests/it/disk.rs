use sprifed_net::{ClientLoop, NetError, Server};
use sprifed_party::{PartyError, StoreError};

use crate::client_journal::SqliteJournal;
use crate::crashing::{Crash, Crashing};
use crate::stage::{Stage, all_finish, number_of, open, open_store, run};
use crate::toy::{Adding, Saying};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_coordinator_on_the_same_state_is_refused() {
    let stage = Stage::new("two_servers", 1);
    let first = open(stage.server()).unwrap();
    let error = open(stage.server()).unwrap_err();
    assert!(
        matches!(error, NetError::Store(StoreError::InUse { .. })),
        "{error}"
    );
    assert_eq!(error.exit_code(), 3);
    drop(first);
    open(stage.server()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_another_study_is_refused() {
    let stage = Stage::new("other_study", 1);
    drop(open(stage.server()).unwrap());
    let mut config = stage.server();
    config.study = "multiplying".to_owned();
    let error = open(config).unwrap_err();
    assert!(
        matches!(error, NetError::Store(StoreError::OtherStudy { .. })),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_the_coordinator_before_anything_is_sent() {
    let stage = Stage::new("disk_full", 2);
    let config = stage.server();
    // Two have joined; the close of that phase does not fit.
    let store = Crashing::new(open_store(&config), Crash::Full(2));
    let server = Server::open_with_store(config, Box::new(store), || Ok(Adding::new(2))).unwrap();
    let address = server.address();
    let clients = stage.start_clients(address);
    let error = run(server).await.unwrap().unwrap_err();
    assert!(
        matches!(error, NetError::Store(StoreError::DiskFull)),
        "{error}"
    );
    assert_eq!(error.exit_code(), 3);
    // Neither was asked for a number: all they wrote down is that they joined.
    assert_eq!([stage.n_entries(0), stage.n_entries(1)], [1, 1]);
    // With room again the study ends as if nothing had been.
    let mut config = stage.server();
    config.listen = address;
    drop(open_store(&config));
    run(open(config).unwrap()).await.unwrap().unwrap();
    all_finish(clients).await;
    stage.check_totals(0..2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_a_client_before_anything_is_sent() {
    let stage = Stage::new("client_disk_full", 1);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let server = run(server);
    let (journal, folder) = stage.places(0);
    let journal = SqliteJournal::open(&journal).unwrap();
    let journal = Box::new(Crashing::new(journal, Crash::Full(1)));
    let machine = Saying::new(number_of(0), 0, journal, folder);
    let full = ClientLoop::open(&stage.client(0, address), machine).unwrap();
    let error = full.run(std::future::pending()).await.unwrap_err();
    assert!(
        matches!(
            error,
            NetError::Party(PartyError::Store(StoreError::DiskFull))
        ),
        "{error}"
    );
    assert_eq!(error.exit_code(), 3);
    // It joined; its number, which it could not write down, was not sent.
    assert_eq!([stage.n_stored(0), stage.n_stored_in(1, 0)], [1, 0]);
    let again = stage.start_client(0, address, 0);
    server.await.unwrap().unwrap();
    all_finish(vec![again]).await;
    stage.check_totals(0..1);
}

#[tokio::test(flavor = "multi_thread")]
async fn state_that_was_changed_is_refused() {
    let stage = Stage::new("changed", 2);
    let mut config = stage.server();
    config.patience.farewell = std::time::Duration::ZERO;
    let server = open(config.clone()).unwrap();
    let clients = stage.start_clients(server.address());
    run(server).await.unwrap().unwrap();
    drop(open_store(&config));
    let state = rusqlite::Connection::open(&config.state).unwrap();
    let n_changed = state
        .execute("UPDATE events SET bytes = x'00' WHERE kind = 'message'", [])
        .unwrap();
    assert!(n_changed > 0);
    drop(state);
    let error = open(config).unwrap_err();
    assert!(matches!(error, NetError::Study(_)), "{error}");
    assert!(
        error.to_string().contains("stored event 1 does not fit"),
        "{error}"
    );
    clients.iter().for_each(tokio::task::JoinHandle::abort);
}
