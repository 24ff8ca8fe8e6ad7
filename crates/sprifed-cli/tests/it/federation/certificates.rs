use std::fs;
use std::io::Write as _;

use sprifed_net::{CertificateOrder, fingerprint, issue};

use super::stage::{Kind, Running, Stage, all_succeed, json_at};

#[test]
fn coordinator_and_party_may_bring_certificates_of_their_own() {
    let kind = Kind {
        records: 60,
        ..Kind::default()
    };
    let stage = Stage::new("own-certificates", kind);
    let own = issue(&CertificateOrder {
        folder: stage.folder.join("own"),
        coordinator_hosts: vec!["localhost".to_owned()],
        clients: vec!["hospital".to_owned()],
        valid_days: 3,
    })
    .unwrap();
    // The coordinator's certificate is of another authority, which every party is told.
    for party in 0..3 {
        let path = stage.study().join(format!("for-p{party}/authority.pem"));
        fs::copy(&own.authority, path).unwrap();
    }
    // Party 1 has its own, which the coordinator enters into its roster.
    let mine = &own.clients[0].0;
    let folder = stage.study().join("for-p1");
    fs::copy(&mine.certificate, folder.join("tls.pem")).unwrap();
    fs::copy(&mine.key, folder.join("tls.key")).unwrap();
    let path = stage.study().join("roster.json");
    let mut roster = json_at(&path);
    let digits = fingerprint(&mine.certificate).unwrap().to_string();
    roster["certificates"][1] = serde_json::json!(with_colons(&digits));
    fs::write(&path, roster.to_string()).unwrap();
    let trusted = stage.study().join("tls/authority.pem");
    let mut trusted = fs::File::options().append(true).open(trusted).unwrap();
    trusted
        .write_all(&fs::read(&own.authority).unwrap())
        .unwrap();

    let log = stage.folder.join("log");
    let mut coordinate = stage.coordinate();
    coordinate
        .arg("--tls-certificate")
        .arg(&own.coordinator.certificate);
    coordinate.arg("--tls-key").arg(&own.coordinator.key);
    let coordinator = Running::start(&mut coordinate, &log);
    let parties = (0..3).map(|party| Running::start(&mut stage.join(party), &log));
    all_succeed(parties.collect(), coordinator, &log);
    stage.check_result();
}

/// As `openssl x509 -fingerprint -sha256` prints it.
fn with_colons(digits: &str) -> String {
    let pairs = digits.as_bytes().chunks(2);
    let pairs = pairs.map(|pair| String::from_utf8_lossy(pair).to_uppercase());
    pairs.collect::<Vec<_>>().join(":")
}
