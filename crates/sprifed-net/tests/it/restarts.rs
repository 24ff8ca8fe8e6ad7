use std::net::SocketAddr;

use sprifed_net::{ClientLoop, Ended, NetError, Server};
use sprifed_party::{PartyError, StoreError};

use crate::client_journal::SqliteJournal;
use crate::crashing::{CRASH, Crash, Crashing};
use crate::stage::{Stage, all_finish, number_of, open, open_store, run};
use crate::toy::{Adding, Saying};

/// Joining and both phases of two sums, each with a message from everyone and its close.
const N_WRITES: usize = 5 * (N_CLIENTS as usize + 1);
const N_CLIENTS: u32 = 3;

fn open_crashing(stage: &Stage, listen: Option<SocketAddr>, crash: Crash) -> Server<Adding> {
    let mut config = stage.server();
    if let Some(address) = listen {
        config.listen = address;
    }
    let store = Box::new(Crashing::new(open_store(&config), crash));
    Server::open_with_store(config, store, || Ok(Adding::new(N_CLIENTS))).unwrap()
}

fn is_crash(error: &NetError) -> bool {
    let (NetError::Store(stored) | NetError::Party(PartyError::Store(stored))) = error else {
        return false;
    };
    matches!(stored, StoreError::Database(reason) if reason == CRASH)
}

async fn survives_a_crash_of_the_coordinator(name: &str, crash: Crash) {
    let stage = Stage::new(name, N_CLIENTS);
    let server = open_crashing(&stage, None, crash);
    let address = server.address();
    let clients = stage.start_clients(address);
    let error = run(server).await.unwrap().unwrap_err();
    assert!(is_crash(&error), "{crash:?}: {error}");
    assert_eq!(error.exit_code(), 3);
    let again = open_crashing(&stage, Some(address), Crash::Never);
    let ended = run(again).await.unwrap().unwrap();
    assert!(matches!(ended, Ended::Finished(_)), "{crash:?}");
    all_finish(clients).await;
    stage.check_totals(0..N_CLIENTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_crashes_before_any_write_goes_on() {
    for write in 0..N_WRITES {
        survives_a_crash_of_the_coordinator("crash_before", Crash::Before(write)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_crashes_after_any_write_goes_on() {
    for write in 0..N_WRITES {
        survives_a_crash_of_the_coordinator("crash_after", Crash::After(write)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_crashes_at_every_write_in_turn_goes_on() {
    let stage = Stage::new("crash_always", N_CLIENTS);
    let mut server = open_crashing(&stage, None, Crash::After(0));
    let address = server.address();
    let clients = stage.start_clients(address);
    let mut n_crashes = 0;
    while let Err(error) = run(server).await.unwrap() {
        assert!(is_crash(&error), "{error}");
        n_crashes += 1;
        server = open_crashing(&stage, Some(address), Crash::After(0));
    }
    assert_eq!(n_crashes, N_WRITES);
    all_finish(clients).await;
    stage.check_totals(0..N_CLIENTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_task_is_dropped_goes_on() {
    let stage = Stage::new("dropped", N_CLIENTS);
    let mut server = open_crashing(&stage, None, Crash::Never);
    let address = server.address();
    let clients = stage.start_clients(address);
    for wait in [1, 3, 10, 20, 30] {
        let running = run(server);
        tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
        running.abort();
        let _ = running.await;
        server = open_crashing(&stage, Some(address), Crash::Never);
    }
    // Clients that left before the last start do not come again, so it would wait for them.
    let server = run(server);
    all_finish(clients).await;
    stage.until_written().await;
    stage.check_totals(0..N_CLIENTS);
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_crashes_around_any_write_goes_on() {
    // Five answers, then the end.
    for write in 0..6 {
        for crash in [Crash::Before(write), Crash::After(write)] {
            let stage = Stage::new("client_crash", N_CLIENTS);
            let server = open(stage.server()).unwrap();
            let address = server.address();
            let server = run(server);
            let others = (1..N_CLIENTS).map(|client| stage.start_client(client, address, 0));
            let others = others.collect();
            let (journal, folder) = stage.places(0);
            let journal = SqliteJournal::open(&journal).unwrap();
            let journal = Box::new(Crashing::new(journal, crash));
            // The second process would say another number, had the first not written it down.
            let machine = Saying::new(number_of(0) + 500_000, 0, journal, folder);
            let crashing = ClientLoop::open(&stage.client(0, address), machine).unwrap();
            let error = crashing.run(std::future::pending()).await.unwrap_err();
            assert!(is_crash(&error), "{crash:?}: {error}");
            let again = stage.start_client(0, address, 0);
            all_finish(vec![again]).await;
            all_finish(others).await;
            stage.until_written().await;
            stage.check_totals(0..N_CLIENTS);
            server.abort();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_study_that_is_over_tells_those_who_missed_its_end() {
    let stage = Stage::new("missed_end", N_CLIENTS);
    let server = open_crashing(&stage, None, Crash::After(N_WRITES - 1));
    let address = server.address();
    let clients = stage.start_clients(address);
    assert!(is_crash(&run(server).await.unwrap().unwrap_err()));
    assert!(clients.iter().all(|client| !client.is_finished()));
    let again = run(open_crashing(&stage, Some(address), Crash::Never));
    all_finish(clients).await;
    assert!(matches!(again.await.unwrap().unwrap(), Ended::Finished(_)));
    stage.check_totals(0..N_CLIENTS);
}
