//! A coordinator that never stops sending: it fills no memory of a client.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sprifed_net::NetError;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::stage::{Stage, start};

/// Where a liar stops, so that a client which reads everything ends too.
const ENOUGH: u64 = 256 << 20;

/// What a client may have taken: its limit, and what the system holds between two processes.
const BUFFERED: u64 = 24 << 20;

/// What a liar answers: a head, and whether a body without an end follows.
type Lie = fn(path: &str) -> (&'static str, bool);

/// Serves lies with the coordinator's certificate; counts the bytes of bodies that were taken from it.
async fn serve(stage: &Stage, lie: Lie) -> (SocketAddr, Arc<AtomicU64>) {
    let identity = &stage.issued.coordinator;
    let chain = CertificateDer::pem_slice_iter(&fs::read(&identity.certificate).unwrap())
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    let key = PrivateKeyDer::from_pem_slice(&fs::read(&identity.key).unwrap()).unwrap();
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let host = stage.server().listen;
    let listener = TcpListener::bind(host).await.unwrap();
    let address = listener.local_addr().unwrap();
    let taken = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&taken);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(acceptor.clone(), stream, lie, Arc::clone(&count)));
        }
    });
    (address, taken)
}

/// Answers requests of one connection until a body without an end was cut off.
async fn answer(acceptor: TlsAcceptor, stream: TcpStream, lie: Lie, taken: Arc<AtomicU64>) {
    let Ok(mut stream) = acceptor.accept(stream).await else {
        return;
    };
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let length = head
            .split_once("content-length: ")
            .and_then(|(_, rest)| rest.lines().next()?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        if stream.read_exact(&mut body).await.is_err() {
            return;
        }
        let path = head.split(' ').nth(1).unwrap();
        let (words, is_endless) = lie(path);
        if stream.write_all(words.as_bytes()).await.is_err() {
            return;
        }
        let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
        while is_endless && taken.load(Ordering::Relaxed) < ENOUGH {
            if stream.write_all(chunk.as_bytes()).await.is_err() {
                return;
            }
            taken.fetch_add(0x10000, Ordering::Relaxed);
        }
        if is_endless || stream.flush().await.is_err() {
            return;
        }
    }
}

/// A client that meets this liar ends, and takes no more than its limit.
async fn is_given_up(name: &str, lie: Lie) {
    let stage = Stage::new(name, 1);
    let (address, taken) = serve(&stage, lie).await;
    let mut config = stage.client(0, address);
    config.persistence.give_up_after = Some(Duration::from_secs(5));
    let ended = start(config, stage.opener(0, 0)).await.unwrap();
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken < BUFFERED, "{taken} bytes were taken: {ended:?}");
    let Err(error @ NetError::EndlessAnswer { .. }) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(error.exit_code(), 1);
}

const ENDLESS: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_an_end_is_not_read() {
    is_given_up("endless_session", |_| (ENDLESS, true)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explanation_without_an_end_is_not_read() {
    is_given_up("endless_explanation", |_| {
        let head = "HTTP/1.1 503 Service Unavailable\r\ntransfer-encoding: chunked\r\n\r\n";
        (head, true)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notice_without_an_end_is_not_read() {
    is_given_up("endless_notice", |path| {
        if path.starts_with("/v1/notices") {
            let head = "HTTP/1.1 200 OK\r\nsprifed-notice: 1\r\ntransfer-encoding: chunked\r\n\r\n";
            (head, true)
        } else if path == "/v1/return" {
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 23\r\n\r\n{\"start\":1,\"session\":1}";
            (head, false)
        } else {
            ("HTTP/1.1 204 No Content\r\n\r\n", false)
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_announces_too_much_is_not_read() {
    is_given_up("announced_too_much", |_| {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n";
        (head, true)
    })
    .await;
}
