//! Messages that are repeated, reordered, cut off or damaged, sent with a party's own certificate.

#![expect(clippy::disallowed_types, reason = "a test of processes")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::line::{self, Line};
use super::stage::{Kind, Running, Stage, all_succeed, pause, stored, wait_until};

/// Says `request` with the certificate of a party, and hears the status of the answer.
#[expect(clippy::disallowed_methods, reason = "a test of processes")]
fn ask(stage: &Stage, party: u32, request: &[u8]) -> u16 {
    let folder = stage.study().join(format!("for-p{party}"));
    let (certificate, key) = stage.tls_of(party);
    let certificates = |path: &Path| {
        let found = CertificateDer::pem_file_iter(path).unwrap();
        found.collect::<Result<Vec<_>, _>>().unwrap()
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates(&folder.join("authority.pem")));
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let config =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_client_auth_cert(certificates(&certificate), key)
            .unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, stage.port)).unwrap();
    let mut stream = StreamOwned::new(connection, socket);
    stream.write_all(request).unwrap();
    let mut received = Vec::new();
    // A refused body is not read, so the connection may end roughly.
    let _ = stream.read_to_end(&mut received);
    let received = String::from_utf8_lossy(&received).into_owned();
    let status = received
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok());
    status.unwrap_or_else(|| panic!("no answer: {received:?}"))
}

pub(super) fn post(stage: &Stage, party: u32, body: &[u8]) -> u16 {
    let n_bytes = body.len();
    let mut request = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {n_bytes}\r\n\r\n"
    )
    .into_bytes();
    request.extend_from_slice(body);
    loop {
        match ask(stage, party, &request) {
            // The party itself is just sending one.
            429 => pause(Duration::from_millis(10)),
            status => return status,
        }
    }
}

#[test]
fn replayed_reordered_and_damaged_messages_are_refused_and_the_study_goes_on() {
    let kind = Kind {
        records: 60,
        ..Kind::default()
    };
    let stage = Stage::new("raw", kind);
    let log = stage.folder.join("log");
    let state = stage.study().join("state.sqlite");
    let forgetful = Running::start(&mut stage.coordinate(), &log);
    let party = Running::start(&mut stage.join(0), &log);
    wait_until("the first message", || !stored(&state).is_empty());
    let (_, first) = stored(&state).swap_remove(0);
    // A coordinator that has received nothing yet: what it refuses, it refuses for what it is.
    party.kill();
    forgetful.kill();
    for file in [
        "begun",
        "state.sqlite",
        "state.sqlite-wal",
        "state.sqlite-shm",
    ] {
        let _ = fs::remove_file(stage.study().join(file));
    }
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    wait_until("the coordinator's state", || state.exists());
    wait_until("the coordinator", || {
        let said = fs::read_to_string(&log).unwrap();
        said.matches("waiting for parties").count() == 2
    });
    for length in [0, 1, first.len() / 2, first.len() - 1] {
        assert_eq!(post(&stage, 0, &first[..length]), 422, "{length} bytes");
    }
    for place in (0..first.len()).step_by(first.len().div_ceil(24)) {
        let mut damaged = first.clone();
        damaged[place] ^= 1;
        assert_eq!(post(&stage, 0, &damaged), 422, "byte {place} was changed");
    }
    assert_eq!(post(&stage, 1, &first), 422, "in another's name");
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n";
    assert_eq!(ask(&stage, 0, head.as_bytes()), 413);
    assert_eq!(stored(&state), [], "nothing was stored");
    assert_eq!(post(&stage, 0, &first), 204, "as it was");
    assert_eq!(post(&stage, 0, &first), 422, "a second time");
    assert_eq!(stored(&state), [(0, first.clone())]);

    // Party 2 is slow, so that every phase lasts long enough to disturb it.
    let line = Line::to(stage.port, line::Kind::Wire);
    line.delay(Duration::from_millis(60));
    let mut parties: Vec<Running> = (0..2)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    let address = format!("localhost:{}", line.port);
    let mut command = stage.join(2);
    parties.push(Running::start(command.args(["--address", &address]), &log));
    let (mut seen, mut n_replayed) = (BTreeSet::from([(0, first.clone())]), 0);
    wait_until("the study's end", || {
        let new: Vec<_> = stored(&state)
            .into_iter()
            .filter(|m| !seen.contains(m))
            .collect();
        if !new.is_empty() && n_replayed < 150 {
            seen.extend(new);
            // Everything that was ever stored, oldest and newest, of this phase and of others.
            for (party, message) in seen.iter().take(25).filter(|(party, _)| *party < 2) {
                let status = post(&stage, *party, message);
                assert!(status == 422, "a message was taken twice: {status}");
                n_replayed += 1;
            }
        }
        parties.iter_mut().all(Running::is_over)
    });
    assert!(n_replayed > 20, "only {n_replayed} messages were repeated");
    all_succeed(parties, coordinator, &log);
    stage.check_result();
    let said = fs::read_to_string(&log).unwrap();
    for party in ["p0", "p1"] {
        let named = format!("\"message\":\"message refused\",\"party\":\"{party}\"");
        assert!(said.contains(&named), "{party} is not named");
    }
    assert!(
        said.contains("\"message not read\",\"party\":\"p0\""),
        "{said}"
    );
}
