use std::fs;
use std::time::Duration;

use sprifed_net::{ClientEnded, Ended, NetError};

use crate::stage::{Stage, all_finish, number_of, open, run, start};

#[tokio::test(flavor = "multi_thread")]
async fn five_clients_add_their_numbers() {
    let stage = Stage::new("five", 5);
    let server = open(stage.server()).unwrap();
    let clients = stage.start_clients(server.address());
    let ended = run(server).await.unwrap().unwrap();
    let file = stage.folder.join("coordinator/totals.txt");
    assert_eq!(ended, Ended::Finished(vec![file]));
    all_finish(clients).await;
    stage.check_totals(0..5);
    let of_client = fs::read_to_string(stage.folder.join("client-3/totals.txt")).unwrap();
    let of_coordinator = fs::read_to_string(stage.folder.join("coordinator/totals.txt")).unwrap();
    assert_eq!(of_client.replace(';', "\n"), of_coordinator);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_comes_is_a_dropout() {
    let stage = Stage::new("straggler", 4);
    let mut config = stage.server();
    config.patience.setup = Duration::from_secs(2);
    config.patience.farewell = Duration::from_secs(1);
    let server = open(config).unwrap();
    let address = server.address();
    let clients: Vec<_> = [0, 1, 3]
        .into_iter()
        .map(|client| stage.start_client(client, address, 0))
        .collect();
    let server = run(server);
    server.await.unwrap().unwrap();
    all_finish(clients).await;
    stage.check_totals([0, 1, 3].into_iter());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_falls_silent_is_a_dropout() {
    let stage = Stage::new("silent", 3);
    let mut config = stage.server();
    config.patience.per_phase = Duration::from_secs(2);
    config.patience.farewell = Duration::from_secs(1);
    let server = open(config).unwrap();
    let address = server.address();
    let clients = vec![
        stage.start_client(0, address, 0),
        stage.start_client(1, address, 0),
    ];
    let config = stage.client(2, address);
    let joins_only = tokio::spawn(async move {
        let factory = |_| Ok(JoinsOnly::default());
        sprifed_net::ClientLoop::open(config, factory)?
            .run(std::future::pending())
            .await
    });
    run(server).await.unwrap().unwrap();
    joins_only.abort();
    all_finish(clients).await;
    stage.check_totals(0..2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_with_the_same_certificate_takes_over() {
    let stage = Stage::new("twins", 2);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let server = run(server);
    let first = stage.start_client(0, address, 0);
    // It polls for the next notice when its answer is stored, since nobody else joins.
    while stage.n_stored(0) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut config = stage.client(0, address);
    config.state = stage.folder.join("twin.sqlite");
    config.artefacts = stage.folder.join("twin");
    let twin = start(config, number_of(0), 0);
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
    assert!(matches!(again, ClientEnded::Finished { success: true, .. }));
}

/// Joins and then says nothing more.
#[derive(Debug, Default)]
struct JoinsOnly {
    says: Option<sprifed_net::ClientEffect>,
}

impl sprifed_net::ClientMachine for JoinsOnly {
    fn receive(&mut self, notice: &[u8]) -> Result<(), sprifed_net::Refused> {
        if notice == b"join" {
            self.says = Some(sprifed_net::ClientEffect::Send(b"joined".to_vec()));
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<sprifed_net::ClientEffect> {
        self.says.take()
    }
}
