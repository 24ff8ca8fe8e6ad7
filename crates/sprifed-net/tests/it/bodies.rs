use std::time::Duration;

use crate::raw::Raw;
use crate::stage::{Stage, all_finish, open, run};

const HEAD: &str = "POST /v1/messages HTTP/1.1\r\nhost: x\r\n";

/// One client misbehaves while the others do their part; then it does its own.
async fn the_study_goes_on(name: &str, misbehave: impl AsyncFnOnce(Raw)) {
    let stage = Stage::new(name, 3);
    let mut config = stage.server();
    config.limits.largest_message = 1000;
    config.limits.uploads_at_once = 1;
    config.limits.upload_time = Duration::from_millis(300);
    config.limits.head_time = Duration::from_secs(2);
    let server = open(config).unwrap();
    let address = server.address();
    let server = run(server);
    let clients = (1..3).map(|client| stage.start_client(client, address, 0));
    let mut clients: Vec<_> = clients.collect();
    let identity = &stage.issued.clients[0].0;
    let raw = Raw::connect(address, &stage.issued.authority, Some(identity));
    misbehave(raw.await.unwrap()).await;
    assert_eq!(stage.n_stored(0), 0);
    clients.push(stage.start_client(0, address, 0));
    server.await.unwrap().unwrap();
    all_finish(clients).await;
    stage.check_totals(0..3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_announces_too_much_is_refused_unread() {
    the_study_goes_on("announced", async |mut raw| {
        // Nothing of the body is sent: the answer cannot depend on it.
        raw.say(&format!("{HEAD}content-length: 1000000000000\r\n\r\n"))
            .await
            .unwrap();
        let received = raw.hear().await.unwrap();
        assert!(received.starts_with("HTTP/1.1 413"), "{received}");
        assert!(received.contains("more than 1000 bytes"), "{received}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_grows_too_large_is_refused() {
    the_study_goes_on("grown", async |mut raw| {
        raw.say(&format!("{HEAD}transfer-encoding: chunked\r\n\r\n"))
            .await
            .unwrap();
        let chunk = format!("200\r\n{}\r\n", "x".repeat(0x200));
        raw.say(&chunk.repeat(2)).await.unwrap();
        let received = raw.hear().await.unwrap();
        assert!(received.starts_with("HTTP/1.1 413"), "{received}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_is_no_message() {
    the_study_goes_on("broken_off", async |mut raw| {
        raw.say(&format!("{HEAD}content-length: 7\r\n\r\njoined"))
            .await
            .unwrap();
        drop(raw);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_never_ends_is_given_up() {
    the_study_goes_on("never_ends", async |mut raw| {
        raw.say(&format!("{HEAD}content-length: 7\r\n\r\njoined"))
            .await
            .unwrap();
        let received = raw.hear().await.unwrap();
        assert!(received.starts_with("HTTP/1.1 408"), "{received}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_never_ends_is_given_up() {
    the_study_goes_on("endless_head", async |mut raw| {
        raw.say(HEAD).await.unwrap();
        let received = raw.hear().await;
        let is_answer = received
            .as_ref()
            .is_ok_and(|received| received.starts_with("HTTP/1.1 2"));
        assert!(!is_answer, "{received:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_machine_refuses_changes_nothing() {
    the_study_goes_on("nonsense", async |raw| {
        let received = raw.post("/v1/messages", "number0 5").await.unwrap();
        assert!(received.starts_with("HTTP/1.1 422"), "{received}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_paths_and_methods_do_not_exist() {
    the_study_goes_on("other_paths", async |mut raw| {
        raw.say("GET /v1/messages HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        let received = raw.hear().await.unwrap();
        assert!(received.starts_with("HTTP/1.1 405"), "{received}");
        assert!(received.contains("HTTP/1.1 404"), "{received}");
    })
    .await;
}
