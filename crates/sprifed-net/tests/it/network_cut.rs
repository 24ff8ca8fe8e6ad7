use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::stage::{Stage, all_finish, open, run};

/// Forwards bytes while the line is up; when it goes down every connection is cut in mid-sentence.
async fn line(listener: TcpListener, coordinator: SocketAddr, mut is_up: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (mut client, _) = accepted.unwrap();
                if *is_up.borrow() {
                    connections.spawn(async move {
                        let mut server = TcpStream::connect(coordinator).await?;
                        tokio::io::copy_bidirectional(&mut client, &mut server).await
                    });
                }
            }
            changed = is_up.changed() => {
                if changed.is_err() {
                    return;
                }
                if !*is_up.borrow() {
                    connections.shutdown().await;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_is_cut_again_and_again_loses_nothing() {
    let stage = Stage::new("network_cut", 3);
    let mut config = stage.server();
    // What a cut leaves behind on the coordinator's side ends with its socket, at once on one machine.
    config.limits.connections_per_client = 64;
    let server = open(config).unwrap();
    let coordinator = server.address();
    let listener = TcpListener::bind((coordinator.ip(), 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (line_is, is_up) = watch::channel(true);
    let line = tokio::spawn(line(listener, coordinator, is_up));
    let server = run(server);
    let clients: Vec<_> = (0..3)
        .map(|client| stage.start_client(client, address, 500_000))
        .collect();
    for up in [3, 20, 50, 10, 80, 5, 120, 40, 30, 60] {
        tokio::time::sleep(Duration::from_millis(up)).await;
        line_is.send(false).unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        line_is.send(true).unwrap();
    }
    all_finish(clients).await;
    stage.until_written().await;
    stage.check_totals(0..3);
    server.abort();
    line.abort();
}
