use std::time::Duration;

use sprifed_net::{NetError, fingerprint};

use crate::raw::Raw;
use crate::stage::{Stage, all_finish, certificates, number_of, open, run, start};

#[tokio::test(flavor = "multi_thread")]
async fn a_client_trusts_no_coordinator_of_another_authority() {
    let stage = Stage::new("wrong_coordinator", 1);
    let others = certificates(&stage.folder.join("others"), "127.0.0.1", 1);
    let server = open(stage.server()).unwrap();
    let mut config = stage.client(0, server.address());
    let server = run(server);
    config.authorities = others.authority;
    config.persistence.give_up_after = Some(Duration::from_millis(50));
    let error = start(config, stage.opener(0, 0))
        .await
        .unwrap()
        .unwrap_err();
    let NetError::OutOfReach { last, .. } = &error else {
        panic!("{error}");
    };
    assert!(last.contains("certificate"), "{last}");
    assert_eq!(stage.n_stored(0), 0);
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_another_authority_ends_the_handshake() {
    let stage = Stage::new("wrong_client", 1);
    let others = certificates(&stage.folder.join("others"), "127.0.0.1", 1);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let server = run(server);
    for identity in [None, Some(&others.clients[0].0)] {
        let raw = Raw::connect(address, &stage.issued.authority, identity).await;
        // In TLS 1.3 a client learns of it with the first answer.
        let received = match raw {
            Ok(raw) => raw.post("/v1/messages", "joined").await,
            Err(error) => Err(error),
        };
        assert!(received.is_err(), "{identity:?}: {received:?}");
    }
    let client = stage.start_client(0, address, 0);
    server.await.unwrap().unwrap();
    all_finish(vec![client]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_the_authority_that_is_not_in_the_roster_is_told_so() {
    let stage = Stage::new("not_in_roster", 3);
    let mut config = stage.server();
    config.roster.truncate(2);
    let server = open(config).unwrap();
    let address = server.address();
    let server = run(server);
    let stranger = &stage.issued.clients[2].0;
    let raw = Raw::connect(address, &stage.issued.authority, Some(stranger));
    let received = raw
        .await
        .unwrap()
        .post("/v1/messages", "joined")
        .await
        .unwrap();
    let certificate = fingerprint(&stranger.certificate).unwrap().to_string();
    assert!(received.starts_with("HTTP/1.1 403"), "{received}");
    assert!(received.contains(&certificate), "{received}");
    let error = stage
        .start_client(2, address, 0)
        .await
        .unwrap()
        .unwrap_err();
    assert!(matches!(error, NetError::Forbidden(_)), "{error}");
    let clients = (0..2).map(|client| stage.start_client(client, address, 0));
    let clients = clients.collect();
    server.await.unwrap().unwrap();
    all_finish(clients).await;
    stage.check_totals(0..2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_counts_for_the_certificate_whatever_it_says() {
    let stage = Stage::new("as_another", 2);
    let server = open(stage.server()).unwrap();
    let address = server.address();
    let server = run(server);
    let one = stage.start_client(0, address, 0);
    // Client 1 joins in the name of client 0 by every means that a request has.
    let raw = Raw::connect(
        address,
        &stage.issued.authority,
        Some(&stage.issued.clients[1].0),
    );
    let mut raw = raw.await.unwrap();
    raw.say("POST /v1/messages?party=0 HTTP/1.1\r\nhost: client-0\r\nparty: 0\r\nx-forwarded-for: client-0\r\nconnection: close\r\ncontent-length: 6\r\n\r\njoined")
        .await
        .unwrap();
    let received = raw.hear().await.unwrap();
    assert!(received.starts_with("HTTP/1.1 204"), "{received}");
    let two = stage.start_client(1, address, 0);
    server.await.unwrap().unwrap();
    all_finish(vec![one, two]).await;
    // Had it counted for client 0, the study would have refused client 0 itself, or never begun.
    stage.check_totals(0..2);
    assert_eq!(number_of(1), 2);
}
