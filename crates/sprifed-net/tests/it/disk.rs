use sprifed_net::{NetError, Server, SqliteJournal, SqliteStore, StoreError};

use crate::stage::{Stage, all_finish, open, open_store, run};
use crate::toy::Adding;

#[tokio::test(flavor = "multi_thread")]
async fn a_second_coordinator_on_the_same_state_is_refused() {
    let stage = Stage::new("two_servers", 1);
    let first = open(stage.server()).unwrap();
    let error = open(stage.server()).unwrap_err();
    assert!(matches!(error, NetError::Store(StoreError::InUse { .. })), "{error}");
    assert_eq!(error.exit_code(), 3);
    drop(first);
    open(stage.server()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_on_the_same_journal_is_refused() {
    let stage = Stage::new("two_clients", 1);
    let path = stage.folder.join("client.sqlite");
    let _first = SqliteJournal::open(&path, "adding").unwrap();
    let error = SqliteJournal::open(&path, "adding").unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_another_study_is_refused() {
    let stage = Stage::new("other_study", 1);
    drop(open(stage.server()).unwrap());
    let mut config = stage.server();
    config.study = "multiplying".to_owned();
    let error = open(config).unwrap_err();
    assert!(matches!(error, NetError::Store(StoreError::OtherStudy { .. })), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_the_coordinator_before_anything_is_sent() {
    let stage = Stage::new("disk_full", 2);
    let config = stage.server();
    let store = SqliteStore::open(&config.state, &config.study).unwrap();
    store.limit_growth(8).unwrap();
    let server =
        Server::open_with_store(config, Box::new(store), || Ok(Adding::new(2))).unwrap();
    let address = server.address();
    // Their numbers need more pages than there are; what they join with does not.
    let clients = [0, 1].map(|client| stage.start_client(client, address, 200_000));
    let error = run(server).await.unwrap().unwrap_err();
    assert!(matches!(error, NetError::Store(StoreError::DiskFull)), "{error}");
    assert_eq!(error.exit_code(), 3);
    // With room again the study ends as if nothing had been.
    let mut config = stage.server();
    config.listen = address;
    drop(open_store(&config));
    let server = open(config).unwrap();
    run(server).await.unwrap().unwrap();
    all_finish(clients.into_iter().collect()).await;
    stage.check_totals(0..2);
}
