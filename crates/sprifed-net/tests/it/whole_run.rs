use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use sprifed_net::{ClientEnded, ClientLoop, ClientMachine, Ended, NetError, Patience, Refused};
use sprifed_party::{Finished, Outgoing, PartyError};
use tokio::task::JoinHandle;

use crate::stage::{Stage, all_finish, open, open_store, run, start, until};
use crate::toy::{N_SUMS, Saying};

#[tokio::test(flavor = "multi_thread")]
async fn five_clients_add_their_numbers() {
    let stage = Stage::new("five", 5);
    let server = open(stage.server()).unwrap();
    let clients = stage.start_clients(server.address());
    let ended = run(server).await.unwrap().unwrap();
    let files = ["totals.txt", "survivors.txt"];
    let files = files.map(|name| stage.folder.join("coordinator").join(name));
    assert_eq!(ended, Ended::Finished(files.to_vec()));
    all_finish(clients).await;
    stage.check_totals(0..5);
    let of_client = fs::read_to_string(stage.folder.join("client-3/totals.txt")).unwrap();
    let of_coordinator = fs::read_to_string(stage.folder.join("coordinator/totals.txt")).unwrap();
    assert_eq!(of_client.replace(';', "\n"), of_coordinator);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_comes_is_a_dropout() {
    let stage = Stage::new("straggler", 4);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let clients = [0, 1, 3].map(|client| stage.start_client(client, address, 0));
    let server = run(server);
    until(|| [0, 1, 3].iter().all(|client| stage.n_stored(*client) == 1)).await;
    let patience = Patience {
        setup: Duration::from_millis(10),
        ..stage.server().patience
    };
    let server = restarted(&stage, server, address, patience).await;
    all_finish(clients.into_iter().collect()).await;
    stage.until_written().await;
    stage.check_totals([0, 1, 3].into_iter());
    assert_eq!(stage.survivors(), "0 1 3");
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_falls_silent_is_a_dropout() {
    let stage = Stage::new("silent", 3);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let clients = [0, 1].map(|client| stage.start_client(client, address, 0));
    let (config, machine) = (stage.client(2, address), stage.opener(2, 0));
    let silent = tokio::spawn(async move {
        let client = ClientLoop::open(&config, SilentAtTheEnd(machine()?))?;
        client.run(std::future::pending()).await
    });
    let server = run(server);
    // The number of the last sum and its confirmation.
    until(|| {
        [0, 1]
            .iter()
            .all(|client| stage.n_stored_in(N_SUMS, *client) == 2)
    })
    .await;
    let patience = Patience {
        per_phase: Duration::from_millis(10),
        ..stage.server().patience
    };
    let server = restarted(&stage, server, address, patience).await;
    all_finish(clients.into_iter().collect()).await;
    all_finish(vec![silent]).await;
    stage.until_written().await;
    stage.check_totals(0..3);
    assert_eq!(stage.survivors(), "0 1");
    server.abort();
}

/// Stops the server and starts it again with little patience, now that all is stored that it should
/// wait for.
async fn restarted(
    stage: &Stage,
    server: JoinHandle<Result<Ended, NetError>>,
    address: SocketAddr,
    patience: Patience,
) -> JoinHandle<Result<Ended, NetError>> {
    server.abort();
    let _ = server.await;
    let mut config = stage.server();
    config.listen = address;
    config.patience = patience;
    drop(open_store(&config));
    run(open(config).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_with_the_same_certificate_takes_over() {
    let stage = Stage::new("twins", 2);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let server = run(server);
    let first = stage.start_client(0, address, 0);
    // It polls for the next notice when its answer is stored, since no other party joins.
    until(|| stage.n_stored(0) == 1).await;
    let config = stage.client(0, address);
    let twin = start(config, stage.opener(TWIN, 0));
    let ended = first.await.unwrap();
    assert!(matches!(ended, Err(NetError::Superseded)), "{ended:?}");
    let other = stage.start_client(1, address, 0);
    server.await.unwrap().unwrap();
    all_finish(vec![twin, other]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn told_to_stop_both_sides_stop_and_go_on_later() {
    let stage = Stage::new("interrupted", 2);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let client = stage.start_client(0, address, 0);
    let running = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.send(()).unwrap();
    assert_eq!(running.await.unwrap().unwrap(), Ended::Interrupted);
    let mut config = stage.server();
    config.listen = address;
    let again = open(config).unwrap();
    let late = stage.start_client(1, address, 0);
    run(again).await.unwrap().unwrap();
    all_finish(vec![client, late]).await;
    stage.check_totals(0..2);
    // A client whose part is over says so again without a coordinator.
    let again = stage.start_client(0, address, 0).await.unwrap().unwrap();
    assert!(matches!(again, ClientEnded::Finished(ended) if ended.success));
}

/// Keeps its state apart from that of client 0.
const TWIN: u32 = 7;

/// Confirms nothing of the last sum.
#[derive(Debug)]
struct SilentAtTheEnd(Saying);

impl ClientMachine for SilentAtTheEnd {
    fn restart(&mut self) -> Result<Option<Finished>, PartyError> {
        self.0.restart()
    }

    fn receive(&mut self, notice: &[u8]) -> Result<(), Refused> {
        if notice == format!("confirm {}", N_SUMS - 1).as_bytes() {
            return Ok(());
        }
        self.0.receive(notice)
    }

    fn poll(&mut self) -> Result<Option<Outgoing>, PartyError> {
        self.0.poll()
    }
}

/// Does not believe how the study ended.
#[derive(Debug)]
struct DisbelievingTheEnd(Saying);

impl ClientMachine for DisbelievingTheEnd {
    fn restart(&mut self) -> Result<Option<Finished>, PartyError> {
        self.0.restart()
    }

    fn receive(&mut self, notice: &[u8]) -> Result<(), Refused> {
        if notice.starts_with(b"over ") {
            return Err(Refused::for_good("these are not the totals"));
        }
        self.0.receive(notice)
    }

    fn poll(&mut self) -> Result<Option<Outgoing>, PartyError> {
        self.0.poll()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_refuses_for_good_ends_and_may_go_on_later() {
    let stage = Stage::new("disbelieving", 2);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let other = stage.start_client(0, address, 0);
    let (config, machine) = (stage.client(1, address), stage.opener(1, 0));
    let disbelieving = tokio::spawn(async move {
        let client = ClientLoop::open(&config, DisbelievingTheEnd(machine()?))?;
        client.run(std::future::pending()).await
    });
    run(server).await.unwrap().unwrap();
    all_finish(vec![other]).await;
    let error = disbelieving.await.unwrap().unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(matches!(&error, NetError::RefusedByClient(refused) if refused.is_final));
    assert!(
        error.to_string().contains("these are not the totals"),
        "{error}"
    );
    // What it persisted is there: told again, it can believe it.
    let mut config = stage.server();
    config.listen = address;
    let again = run(open(config).unwrap());
    let client = stage.start_client(1, address, 0).await.unwrap().unwrap();
    assert!(matches!(client, ClientEnded::Finished(ended) if ended.success));
    stage.check_totals(0..2);
    again.abort();
}
