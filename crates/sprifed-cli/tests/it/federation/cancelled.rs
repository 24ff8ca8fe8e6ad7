use std::fs;

use super::stage::{Kind, Running, Stage, sprifed, stored, succeed, wait_until};

fn patient() -> Kind {
    Kind {
        parties: 4,
        records: 60,
        quorum: 3,
        patience: 3600,
        stay: 20,
        simulated: false,
        ..Kind::default()
    }
}

fn cancel(stage: &Stage) {
    succeed(
        sprifed()
            .args(["study", "cancel", "--json"])
            .arg(stage.study()),
    );
}

/// Every process ends with exit code 1 and the reason.
fn all_are_told(parties: Vec<Running>, coordinator: Running, log: &std::path::Path) {
    for running in parties.into_iter().chain([coordinator]) {
        let ended = running.finish();
        let said = fs::read_to_string(log).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{said}");
    }
    let said = fs::read_to_string(log).unwrap();
    let told = said.matches("ended without a model: cancelled by the coordinator");
    assert_eq!(told.count(), 5, "{said}");
}

#[test]
fn parties_that_wait_in_a_study_that_is_cancelled_are_told() {
    let stage = Stage::new("cancel", patient());
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    let state = stage.study().join("state.sqlite");
    wait_until("the keys of three", || stored(&state).len() == 3);
    // The fourth never came; the study would wait for it for a day.
    cancel(&stage);
    wait_until("the end", || {
        fs::read_to_string(&log).is_ok_and(|log| log.contains("\"message\":\"cancelled\""))
    });
    // One that comes too late is told, too.
    parties.push(Running::start(&mut stage.join(3), &log));
    all_are_told(parties, coordinator, &log);
    let receipt = stage.receipt();
    assert_eq!(receipt["receipt"]["ending"], "cancelled by the coordinator");
    succeed(
        sprifed()
            .arg("verify")
            .arg(stage.study().join("result/receipt.json")),
    );
    let status = succeed(sprifed().args(["study", "status"]).arg(stage.party(0)));
    let mut seen = stage.transcript();
    seen.add("status", &String::from_utf8_lossy(&status.stdout));
    insta::assert_snapshot!(seen);
}

#[test]
fn a_study_that_is_cancelled_between_two_sums_costs_its_ceiling() {
    let stage = Stage::new("cancel-late", patient());
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let parties: Vec<Running> = (0..4)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    // Stopped in the middle, cancelled while no coordinator serves it, and started again to tell.
    wait_until("a first sum", || {
        fs::read_to_string(&log).is_ok_and(|log| log.contains("\"closed\":\"uploads of sum 1\""))
    });
    coordinator.kill();
    cancel(&stage);
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    all_are_told(parties, coordinator, &log);
    let stated = stage.receipt()["receipt"]["ledger"]["spent"]
        .as_f64()
        .unwrap();
    assert!(stated > 0.0);
    for party in 0..4 {
        let charged = stage.charged(party);
        assert!(
            charged > 0.0 && charged <= stated + 1e-12,
            "{charged} of {stated}"
        );
        let mut status = sprifed();
        status
            .args(["study", "status", "--json"])
            .arg(stage.party(party));
        let found: serde_json::Value =
            serde_json::from_slice(&succeed(&mut status).stdout).unwrap();
        let total = &found["totals"]["by_unit_and_neighbours"][0]["epsilon"];
        // The coordinator had seen answers when it ended the study.
        assert_eq!(total, Stage::CEILING, "{found}");
    }
}
