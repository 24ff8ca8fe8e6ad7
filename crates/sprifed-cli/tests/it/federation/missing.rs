//! A party that dies is waited for once, not in every later sum, and is taken back when it reports again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::line::{self, Line};
use super::stage::{Kind, Running, Stage, all_succeed, sprifed, succeed, wait_until};

/// How many lines of the log hold all of `words`.
fn lines(log: &Path, words: &[&str]) -> usize {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let holds = |line: &&str| words.iter().all(|words| line.contains(words));
    text.lines().filter(holds).count()
}

/// How often the coordinator waited for `party` until the timeout.
fn timeouts(log: &Path, party: &str) -> usize {
    let name = format!("\"party\":\"{party}\"");
    lines(log, &["dropped out: no answer in time", &name])
}

/// A study of five parties of which the last was killed in its first sum.
struct Bereaved {
    stage: Stage,
    log: PathBuf,
    line: Line,
    coordinator: Running,
    parties: Vec<Running>,
}

fn bereaved(name: &str) -> Bereaved {
    let kind = Kind {
        parties: 5,
        records: 60,
        quorum: 4,
        patience: 8,
        ..Kind::default()
    };
    let stage = Stage::new(name, kind);
    let log = stage.folder.join("log");
    // Every phase waits for party 3, so that the study is not over before party 4 is killed.
    let line = Line::to(stage.port, line::Kind::Wire);
    line.delay(Duration::from_millis(80));
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let address = format!("localhost:{}", line.port);
    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    parties.push(Running::start(
        stage.join(3).args(["--address", &address]),
        &log,
    ));
    let last = Running::start(&mut stage.join(4), &log);
    wait_until("the first sum", || {
        lines(&log, &["\"phase\":\"uploads of sum 1\""]) > 0
    });
    last.kill();
    Bereaved {
        stage,
        log,
        line,
        coordinator,
        parties,
    }
}

/// The parties in each released sum.
fn survivors(stage: &Stage) -> Vec<Vec<u64>> {
    let receipt = stage.receipt();
    let sums = receipt["receipt"]["sums"].as_array().unwrap().iter();
    sums.map(|sum| {
        let survivors = &sum["outcome"]["unmasked"]["survivors"];
        serde_json::from_value(survivors.clone()).unwrap()
    })
    .collect()
}

#[test]
fn a_party_that_dies_costs_one_timeout_and_the_receipt_says_which_sums_lack_its_records() {
    let Bereaved {
        stage,
        log,
        line,
        coordinator,
        parties,
    } = bereaved("one-timeout");
    all_succeed(parties, coordinator, &log);
    drop(line);
    let sums = survivors(&stage);
    let n_without = sums.iter().filter(|sum| !sum.contains(&4)).count();
    assert!(n_without >= 2, "{sums:?}");
    assert_eq!(timeouts(&log, "p4"), 1, "{sums:?}");
    let path = stage.study().join("result/receipt.json");
    let words = succeed(sprifed().arg("verify").arg(&path)).stdout;
    let words = String::from_utf8(words).unwrap();
    let first = sums.len() - n_without + 1;
    let said = format!("4 of 5 parties (without p4) in sums {first}-{}", sums.len());
    assert!(words.contains(&said), "{words}");
}

#[test]
fn a_party_that_reports_again_is_waited_for_again() {
    let Bereaved {
        stage,
        log,
        line,
        coordinator,
        mut parties,
    } = bereaved("received-again");
    wait_until("the timeout", || timeouts(&log, "p4") == 1);
    // Nothing goes on without party 3.
    line.cut();
    let before = lines(&log, &["\"party\":\"p4\"", "returned"]);
    parties.push(Running::start(&mut stage.join(4), &log));
    wait_until("the return of party 4", || {
        lines(&log, &["\"party\":\"p4\"", "returned"]) > before
    });
    line.mend();
    all_succeed(parties, coordinator, &log);
    // Whether its vector is in the sum in which it was killed depends on the moment.
    let sums = survivors(&stage);
    assert!(sums.last().unwrap().contains(&4), "{sums:?}");
    assert_eq!(timeouts(&log, "p4"), 1, "{sums:?}");
}
