use std::fs;

use sprifed_net::{CertificateOrder, issue};

use super::stage::{Kind, Running, Stage, all_succeed, succeed};

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
        clients: Vec::new(),
        valid_days: 3,
    })
    .unwrap();
    // The coordinator's certificate is of another authority, which every invitation says.
    fs::remove_dir_all(stage.study()).unwrap();
    let mut init = stage.init_command("study");
    succeed(init.arg("--authority").arg(&own.authority));
    stage.write_policies();
    // Party 1 has its own, of a third authority, which the coordinator enters into its roster.
    stage.bring_certificate(1, "hospital");

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
