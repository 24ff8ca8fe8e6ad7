use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::stage::{Stage, all_finish, open, run, until};

async fn ask(address: std::net::SocketAddr, method: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).await.unwrap();
    let (head, body) = heard.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_the_study_and_nothing_can_be_changed_there() {
    let stage = Stage::new("page", 3);
    let mut config = stage.server();
    config.page = Some("127.0.0.1:0".parse().unwrap());
    config.patience.farewell = std::time::Duration::from_secs(1);
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
    assert!(body.contains("0 of 3 connected"), "{body}");
    assert!(
        !body.contains("http://") && !body.contains("https://"),
        "{body}"
    );
    assert!(
        body.contains("<noscript><meta http-equiv=\"refresh\""),
        "{body}"
    );

    // Two take part to the end; the study can not end before the third has joined.
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
        body.contains("sprifed_clients{state=\"invited\"} 1\n"),
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
    assert!(
        body.contains("feature-1") && body.contains("-0.7500"),
        "{body}"
    );
    assert!(body.contains("<h2>Report</h2>"), "{body}");
    for method in ["POST", "PUT", "DELETE"] {
        let (head, _) = ask(page, method, "/status.json").await;
        assert!(head.starts_with("HTTP/1.1 405"), "{head}");
    }
    server.abort();
}
