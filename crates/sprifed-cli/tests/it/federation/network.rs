use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::line::{self, Line};
use super::stage::{Kind, Running, Stage, all_succeed, is_slow, pause, wait_until};

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
            // Whoever was cut tries again after a quarter of a second, then after twice as long.
            pause(Duration::from_millis(250));
        }
        parties.iter_mut().all(Running::is_over)
    });
    assert!(says(&log, "no contact; trying again"), "nothing was cut");
    all_succeed(parties, coordinator, &log);
    stage.check_result();
}

#[test]
fn a_party_that_is_too_slow_drops_out_of_the_sum() {
    let kind = Kind {
        parties: 4,
        records: 60,
        quorum: 3,
        patience: 3,
        stay: 2,
        ..Kind::default()
    };
    let stage = Stage::new("slow", kind);
    let log = stage.folder.join("log");
    let line = Line::to(stage.port, line::Kind::Wire);
    let coordinator = Running::start(stage.coordinate().args(["--wait-for-parties", "100"]), &log);
    let slow = Running::start(over(&mut stage.join(3), &line), &log);
    wait_until("the slow party's enrolment", || {
        says(&log, "\"client\":\"p3\"")
    });
    // Longer than the coordinator waits for an upload; for enrolment it has time.
    line.delay(Duration::from_secs(5));
    let parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    all_succeed(parties, coordinator, &log);
    drop(slow);
    let receipt = stage.receipt();
    let sums = receipt["receipt"]["sums"].as_array().unwrap();
    let survivors = &sums[0]["outcome"]["unmasked"]["survivors"];
    assert_eq!(*survivors, serde_json::json!([0, 1, 2]));
    assert_eq!(receipt["receipt"]["ending"], "complete");
    assert!(
        says(
            &log,
            "enrolment: parties share their secrets\",\"missing\":0"
        ),
        "it was there at the beginning"
    );
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
