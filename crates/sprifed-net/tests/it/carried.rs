//! A study of which one client connects, while the messages of the other are carried by the test.

use std::net::SocketAddr;
use std::time::Duration;

use sprifed_net::{CarriedStudy, CoordinatorMachine as _, NetError, PartyId, Refused};
use sprifed_party::StoreError;
use tokio::runtime::Runtime;

use crate::stage::{Stage, until};
use crate::toy::{Adding, N_SUMS};

/// Whose messages the test carries; the client 1 connects.
const CARRIED: PartyId = PartyId(0);

fn open(stage: &Stage) -> Result<CarriedStudy<Adding>, NetError> {
    let mut config = stage.server();
    config.roster[0].certificate = None;
    let place = (config.state.as_path(), config.study.as_str());
    CarriedStudy::open(place, config.roster, config.limits, || Ok(Adding::new(2)))
}

fn listen(stage: &Stage, study: &mut CarriedStudy<Adding>, address: SocketAddr) -> SocketAddr {
    let config = stage.server();
    let listening = study.listen(address, &config.identity, &config.authorities);
    listening.unwrap()
}

/// Everything that the carried client is told, answered.
fn carry(study: &CarriedStudy<Adding>) {
    for (party, notices) in study.notices().unwrap() {
        assert_eq!(party, CARRIED);
        for notice in notices {
            let notice = String::from_utf8(notice.to_vec()).unwrap();
            let answer = match notice.split_once(' ') {
                None => "joined".to_owned(),
                Some(("number", sum)) => format!("number{sum} 70"),
                Some(("confirm", sum)) => format!("confirmed{sum}"),
                Some(_) => continue,
            };
            study.receive(CARRIED, answer.as_bytes()).unwrap().unwrap();
        }
    }
    assert!(study.notices().unwrap().is_empty(), "told once");
}

#[test]
fn a_carried_client_and_one_that_connects_are_in_one_study_that_goes_on_when_it_is_opened_again() {
    let stage = Stage::new("carried", 2);
    let clients = Runtime::new().unwrap();
    let mut study = open(&stage).unwrap();
    let address = listen(&stage, &mut study, stage.server().listen);
    assert_eq!(study.address(), Some(address));
    let connecting = {
        let _inside = clients.enter();
        stage.start_client(1, address, 0)
    };
    let mut n_phases = 0;
    while !study.look(|machine| machine.phase().is_end).unwrap() {
        assert!(matches!(
            open(&stage).unwrap_err(),
            NetError::Store(StoreError::InUse { .. })
        ));
        study.returned(CARRIED).unwrap();
        carry(&study);
        // What is refused changes nothing.
        let refused: Refused = study.receive(CARRIED, b"joined").unwrap().unwrap_err();
        assert_eq!(refused.reason, "a second answer");
        let has_answered = || {
            study
                .look(|machine| machine.waits_for().is_empty())
                .unwrap()
        };
        clients.block_on(until(has_answered));
        study.close_phase().unwrap();
        n_phases += 1;
        if n_phases % 2 == 0 {
            drop(study);
            study = open(&stage).unwrap();
            listen(&stage, &mut study, address);
        }
    }
    assert_eq!(n_phases, 1 + 2 * N_SUMS);
    study.farewell(Duration::from_secs(60));
    assert_eq!(study.address(), None);
    clients.block_on(connecting).unwrap().unwrap();
    let files = study.artefacts().unwrap().unwrap();
    let text = |name: &str| {
        let (_, bytes) = files.iter().find(|(found, _)| found == name).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    };
    assert_eq!(text("survivors.txt"), "0 1");
    let totals = text("totals.txt");
    assert_eq!(totals.lines().count(), N_SUMS as usize);
    assert!(
        totals.lines().all(|line| line.contains(" 0=70 1=")),
        "{totals}"
    );
}

#[test]
fn the_certificate_of_a_carried_client_is_not_served() {
    let stage = Stage::new("carried-stranger", 2);
    let clients = Runtime::new().unwrap();
    let mut study = open(&stage).unwrap();
    let address = listen(&stage, &mut study, stage.server().listen);
    let stranger = {
        let _inside = clients.enter();
        stage.start_client(0, address, 0)
    };
    let refused = clients.block_on(stranger).unwrap().unwrap_err();
    assert!(matches!(refused, NetError::Forbidden(_)), "{refused}");
}
