use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::line::{self, Line};
use super::stage::{Kind, Running, Stage, all_succeed, is_slow, pause, stored, wait_until};

/// `command` over `line`.
fn over<'a>(command: &'a mut Command, line: &Line) -> &'a mut Command {
    command.args(["--address", &format!("localhost:{}", line.port)])
}

fn says(log: &Path, words: &str) -> bool {
    std::fs::read_to_string(log).is_ok_and(|log| log.contains(words))
}

#[test]
fn a_network_that_is_cut_and_returns_loses_nothing() {
    let kind = Kind {
        records: 60,
        ..Kind::default()
    };
    let stage = Stage::new("cut", kind);
    let log = stage.folder.join("log");
    let line = Line::to(stage.port, line::Kind::Wire);
    // Slow enough that the cuts fall into the study, wherever the machine is fast.
    line.delay(Duration::from_millis(25));
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(over(&mut stage.join(party), &line), &log))
        .collect();
    let (mut n_cuts, most_cuts) = (0, if is_slow() { 40 } else { 6 });
    wait_until("the study's end", || {
        if n_cuts < most_cuts {
            n_cuts += 1;
            pause(Duration::from_millis(30 * (n_cuts % 7)));
            line.cut();
            pause(Duration::from_millis(20));
            line.mend();
            // A party that was cut tries again after a quarter of a second, then after twice as long.
            pause(Duration::from_millis(250));
        }
        parties.iter_mut().all(Running::is_over)
    });
    assert!(says(&log, "no contact; trying again"), "nothing was cut");
    all_succeed(parties, coordinator, &log);
    stage.check_result();
}

#[test]
fn a_party_that_is_too_slow_drops_out_and_the_others_go_on() {
    let kind = Kind {
        parties: 4,
        records: 60,
        quorum: 3,
        // No party is ever hurried, however slow the machine.
        patience: 3600,
        ..Kind::default()
    };
    let stage = Stage::new("slow", kind);
    let log = stage.folder.join("log");
    let line = Line::to(stage.port, line::Kind::Wire);
    let coordinator = Running::start(
        stage.coordinate().args(["--wait-for-parties", "3600"]),
        &log,
    );
    let slow = Running::start(over(&mut stage.join(3), &line), &log);
    let state = stage.study().join("state.sqlite");
    let senders = || stored(&state).into_iter().map(|(party, _)| party);
    wait_until("the slow party's keys", || senders().next().is_some());
    line.cut();
    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    // Keys and shares of the three, only keys of the slow one.
    wait_until("the others' shares", || senders().count() == 7);
    assert_eq!(senders().filter(|party| *party == 3).count(), 1);
    // A party that is missing now is too slow, by whatever clock.
    coordinator.kill();
    let coordinator = Running::start(stage.coordinate().args(["--wait-for-parties", "1"]), &log);
    wait_until("the last sum", || {
        says(&log, "\"phase\":\"parties sign the receipt\"")
    });
    // It is late for the sums, not for the receipt.
    line.mend();
    parties.push(slow);
    all_succeed(parties, coordinator, &log);
    let enrolled = |words: &str| says(&log, &format!("\"closed\":\"enrolment: parties {words}"));
    assert!(enrolled("publish their keys\",\"missing\":0"));
    assert!(enrolled("share their secrets\",\"missing\":1"));
    let receipt = stage.receipt();
    assert_eq!(receipt["receipt"]["ending"], "complete");
    for sum in receipt["receipt"]["sums"].as_array().unwrap() {
        let survivors = &sum["outcome"]["unmasked"]["survivors"];
        assert_eq!(*survivors, serde_json::json!([0, 1, 2]));
    }
}

#[test]
fn a_party_behind_a_proxy_takes_part() {
    let kind = Kind {
        records: 60,
        ..Kind::default()
    };
    let stage = Stage::new("proxy", kind);
    let log = stage.folder.join("log");
    let line = Line::to(stage.port, line::Kind::Proxy);
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let proxy = format!("http://127.0.0.1:{}", line.port);
    let mut parties = vec![Running::start(
        stage.join(0).args(["--proxy", &proxy]),
        &log,
    )];
    parties.extend((1..3).map(|party| Running::start(&mut stage.join(party), &log)));
    all_succeed(parties, coordinator, &log);
    stage.check_result();
    let asked = line.asked();
    let required = format!("CONNECT localhost:{} ", stage.port);
    assert!(
        !asked.is_empty() && asked.iter().all(|asked| asked.starts_with(&required)),
        "{asked:?}"
    );
}
