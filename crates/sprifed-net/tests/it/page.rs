use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::raw::Raw;
use crate::stage::{Stage, all_finish, open, run, until};

/// Says `request` and hears all that is answered; nothing, if the connection is closed at once.
async fn hear(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut received = Vec::new();
    if stream.write_all(request.as_bytes()).await.is_ok() {
        let _ = stream.read_to_end(&mut received).await;
    }
    String::from_utf8(received).unwrap()
}

async fn ask(address: SocketAddr, method: &str, path: &str) -> (String, String) {
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let received = hear(address, &request).await;
    let (head, body) = received.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Asks until the answer holds `words`.
///
/// # Panics
/// If it does not for twenty seconds.
async fn until_said(address: SocketAddr, path: &str, words: &str) {
    let mut body = String::new();
    for _ in 0..2000 {
        (_, body) = ask(address, "GET", path).await;
        if body.contains(words) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{words} is not in {body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_the_study_and_nothing_can_be_changed_there() {
    let stage = Stage::new("page", 3);
    let mut config = stage.server();
    config.page = Some("127.0.0.1:0".parse().unwrap());
    config.patience.farewell = Duration::from_secs(1);
    let server = open(config).unwrap();
    let address = server.address();
    let page = server.page_address().unwrap();
    let server = run(server);

    let (head, body) = ask(page, "GET", "/").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(
        head.contains("content-security-policy: default-src 'none'"),
        "{head}"
    );
    assert!(!head.to_lowercase().contains("set-cookie"), "{head}");
    assert!(body.contains("Adding &lt;numbers&gt; &amp; more"), "{body}");
    assert!(body.contains("0 of 3 connected now"), "{body}");
    assert!(body.contains("Planned guarantee"), "{body}");
    assert!(
        !body.contains("http://") && !body.contains("https://"),
        "{body}"
    );
    assert!(
        body.contains("<noscript><meta http-equiv=\"refresh\""),
        "{body}"
    );

    // Two take part to the end; the study cannot end before the third has joined.
    let mut clients: Vec<_> = (0..2)
        .map(|client| stage.start_client(client, address, 0))
        .collect();
    until(|| stage.n_stored(0) + stage.n_stored(1) == 2).await;
    let (_, body) = ask(page, "GET", "/status.json").await;
    assert!(body.contains("\"connected\":[true,true,false]"), "{body}");
    // Counted when it is stored and the answer is on its way.
    let mut body = String::new();
    while !body.contains("sprifed_messages_accepted_total 2\n") {
        (_, body) = ask(page, "GET", "/metrics").await;
    }
    assert!(
        body.contains("sprifed_parties{state=\"invited\"} 1\n"),
        "{body}"
    );
    clients.push(stage.start_client(2, address, 0));
    all_finish(clients).await;
    server.await.unwrap().unwrap();

    let mut config = stage.server();
    config.page = Some("127.0.0.1:0".parse().unwrap());
    let server = open(config).unwrap();
    let page = server.page_address().unwrap();
    let server = run(server);
    let (_, body) = ask(page, "GET", "/fragment").await;
    for words in [
        "<span class=\"badge done\">complete</span>",
        "feature-1",
        "-0.7500",
        "95 % interval",
        "-1.500 to 1.750",
        "(intercept)",
        "0.1250",
        "Final guarantee",
        "numbers are added in the clear",
        "<p class=\"ending\">",
    ] {
        assert!(body.contains(words), "no {words:?} in {body}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        let (head, _) = ask(page, method, "/status.json").await;
        assert!(head.starts_with("HTTP/1.1 405"), "{head}");
    }
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_answers_under_its_own_address_only() {
    let stage = Stage::new("page_names", 1);
    let mut config = stage.server();
    config.page = Some("127.0.0.1:0".parse().unwrap());
    let server = open(config).unwrap();
    let page = server.page_address().unwrap();
    let server = run(server);
    let port = page.port();
    for path in [
        "/",
        "/status.json",
        "/fragment",
        "/metrics",
        "/page.js",
        "/no-such",
    ] {
        for head in [
            format!("GET {path} HTTP/1.1\r\nhost: rebound.example:{port}\r\n"),
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n"),
            format!(
                "GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\nhost: rebound.example:{port}\r\n"
            ),
            format!(
                "GET http://rebound.example:{port}{path} HTTP/1.1\r\nhost: localhost:{port}\r\n"
            ),
            format!(
                "GET http://localhost:{port}{path} HTTP/1.1\r\nhost: rebound.example:{port}\r\n"
            ),
            format!("GET {path} HTTP/1.0\r\n"),
        ] {
            let received = hear(page, &format!("{head}connection: close\r\n\r\n")).await;
            let is_refused = ["HTTP/1.1 421", "HTTP/1.0 421", "HTTP/1.1 400"]
                .iter()
                .any(|status| received.starts_with(status));
            assert!(is_refused, "{head}{received}");
            assert!(!received.contains("Adding"), "{head}{received}");
        }
    }
    for name in ["localhost", "127.0.0.1", "[::1]"] {
        let head = format!("GET /status.json HTTP/1.1\r\nhost: {name}:{port}\r\n");
        let received = hear(page, &format!("{head}connection: close\r\n\r\n")).await;
        assert!(received.starts_with("HTTP/1.1 200"), "{name}: {received}");
    }
    let (_, metrics) = ask(page, "GET", "/metrics").await;
    assert!(
        metrics.contains("sprifed_page_refused_total 36\n"),
        "{metrics}"
    );
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_of_the_page_are_counted_and_so_many_at_once() {
    let stage = Stage::new("page_readers", 1);
    let mut config = stage.server();
    config.page = Some("127.0.0.1:0".parse().unwrap());
    config.limits.page_connections = 2;
    let server = open(config).unwrap();
    let page = server.page_address().unwrap();
    let server = run(server);
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {page}\r\nconnection: close\r\n\r\n");
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(page).await.unwrap();
        // Served, so it has its place, and kept open.
        let request = format!("GET /page.js HTTP/1.1\r\nhost: {page}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.read_exact(&mut [0; 15]).await.unwrap();
        held.push(stream);
    }
    assert_eq!(hear(page, &request).await, "", "a third reader");
    held.pop();
    let mut received = String::new();
    while received.is_empty() {
        received = hear(page, &request).await;
    }
    assert!(
        received.contains("sprifed_page_connections_total 3\n"),
        "{received}"
    );
    assert!(
        !received.contains("sprifed_page_connections_refused_total 0\n"),
        "{received}"
    );
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_party_is_connected_after_the_end() {
    let stage = Stage::new("page_connected", 3);
    let mut config = stage.server();
    config.page = Some("127.0.0.1:0".parse().unwrap());
    config.patience.per_phase = Duration::from_secs(2);
    let server = open(config).unwrap();
    let (address, page) = (server.address(), server.page_address().unwrap());
    let server = run(server);
    // The third joins, is seen, and breaks off: it misses every sum.
    let third = Raw::connect(
        address,
        &stage.issued.authority,
        Some(&stage.issued.clients[2].0),
    );
    let mut third = third.await.unwrap();
    third.say("POST /v1/return HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\nPOST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 6\r\n\r\njoined")
        .await
        .unwrap();
    until_said(page, "/status.json", "\"connected\":[false,false,true]").await;
    until(|| stage.n_stored(2) == 1).await;
    drop(third);
    until_said(page, "/status.json", "\"connected\":[false,false,false]").await;
    all_finish(
        (0..2)
            .map(|client| stage.start_client(client, address, 0))
            .collect(),
    )
    .await;
    stage.until_written().await;
    until_said(page, "/status.json", "\"connected\":[false,false,false]").await;
    let (_, body) = ask(page, "GET", "/").await;
    assert!(body.contains("0 of 3 connected now"), "{body}");
    assert!(
        body.contains("<li class=\"dropped_out\">") && body.contains("dropped out"),
        "{body}"
    );
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_computes_for_long_is_quiet_and_not_called_connected() {
    let stage = Stage::new("page_computing", 1);
    let mut config = stage.server();
    config.page = Some("127.0.0.1:0".parse().unwrap());
    config.limits.head_time = Duration::from_millis(300);
    let server = open(config).unwrap();
    let (address, page) = (server.address(), server.page_address().unwrap());
    let server = run(server);
    let client = &stage.issued.clients[0].0;
    let client = Raw::connect(address, &stage.issued.authority, Some(client));
    let mut client = client.await.unwrap();
    client
        .say("POST /v1/return HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
        .await
        .unwrap();
    // Until the coordinator closes the connection, because nothing more is asked.
    client.hear().await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (_, body) = ask(page, "GET", "/status.json").await;
    assert!(body.contains("\"connected\":[false]"), "{body}");
    let (_, body) = ask(page, "GET", "/").await;
    assert!(body.contains("0 of 1 connected now"), "{body}");
    assert!(
        body.contains("<span class=\"dot quiet\" title=\"no connection now, perhaps computing\">"),
        "{body}"
    );
    server.abort();
}
