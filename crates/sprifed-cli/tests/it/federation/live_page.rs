//! The coordinator's page in a real browser: what people see before, during and after a study. That it
//! needs no script is tested where it is made.

use std::path::PathBuf;

use super::stage::{Kind, Running, Stage, free_port, json_at, pause, wait_until};
use crate::browser::Browser;

/// The page at `address`, saved as a file: without its script, and with the style of the coordinator.
fn saved(browser: &Browser, stage: &Stage, name: &str, address: &str) -> (PathBuf, String) {
    let document = browser.document(address);
    let (before, rest) = document
        .split_once("<script")
        .expect("the page has a script");
    let (_, after) = rest.split_once("</script>").unwrap();
    let base = format!("<head><base href=\"{address}\">");
    let copy = format!("{before}{after}").replacen("<head>", &base, 1);
    let path = stage.folder.join(format!("{name}.html"));
    std::fs::write(&path, copy).unwrap();
    (path, document)
}

/// What only the page of one kind of study says: before the parties come, and in the end.
struct Words {
    begun: Vec<&'static str>,
    ended: Vec<&'static str>,
}

/// A study with its page: what people see before it, and in the end.
fn begin_and_end(name: &str, kind: Kind, words: &Words) {
    let stage = Stage::new(name, kind);
    let Some(browser) = Browser::find(&stage.folder) else {
        return;
    };
    let log = stage.folder.join("log");
    let page = format!("127.0.0.1:{}", free_port());
    let coordinator = Running::start(stage.coordinate().args(["--page", &page]), &log);
    let listens = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("the page is at"));
    wait_until("the page", listens);
    let address = format!("http://{page}/");

    let (begun, document) = saved(&browser, &stage, "begun", &address);
    assert!(document.contains("None yet."), "{document}");
    browser.check(&begun, &words.begun);

    let mut trustees = Vec::new();
    if kind.trustees {
        let connected = |n: usize| {
            let metrics = browser.document(&format!("{address}metrics"));
            metrics.contains(&format!("sprifed_trustees_connected {n}\n"))
        };
        assert!(connected(0));
        let start = |trustee| Running::start(&mut stage.trustee(trustee), &log);
        trustees.extend((0..3).map(start));
        wait_until("three trustees", || connected(3));
    }
    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    let mut all = || {
        parties
            .iter_mut()
            .chain(&mut trustees)
            .all(Running::is_over)
    };
    wait_until("the end", &mut all);
    let receipt = stage.study().join("result/receipt.json");
    wait_until("the receipt", || receipt.exists());
    // Three signatures may come in after the receipt is written first.
    let signed = || json_at(&receipt)["parties"].as_array().map_or(0, Vec::len) == 3;
    wait_until("the signatures", signed);
    pause(std::time::Duration::from_millis(200));

    let (ended, document) = saved(&browser, &stage, "ended", &address);
    for words in ["x3", "x8", "p0", "p1", "p2", "ε"] {
        assert!(document.contains(words), "no {words:?} in\n{document}");
    }
    assert!(!document.contains("None yet."), "{document}");
    assert!(
        !document.contains("http://") && !document.contains("https://"),
        "{document}"
    );
    browser.check(&ended, &words.ended);
    coordinator.kill();
}

#[test]
fn people_see_the_study_begin_and_end() {
    let kind = Kind {
        records: 60,
        stay: 3600,
        ..Kind::default()
    };
    let words = Words {
        begun: vec![
            "enrolment: parties publish their keys",
            "Planned guarantee",
            "NOT PRIVATE",
            "Sums",
            "0 of 3 connected now",
        ],
        ended: vec![
            "complete",
            "The study ended: ",
            "Final guarantee",
            "NOT PRIVATE",
            "added by the 3 parties, one share each",
            "95 % interval",
            "variance due to privacy",
            "(intercept)",
            "0 of 3 connected now",
            "finished",
        ],
    };
    begin_and_end("live-page", kind, &words);
}

#[test]
fn people_see_a_study_with_trustees_begin_and_end() {
    let kind = Kind {
        records: 60,
        quorum: 1,
        stay: 3600,
        trustees: true,
        ..Kind::default()
    };
    let words = Words {
        begun: vec![
            "enrolment: parties and trustees publish their keys",
            "Planned guarantee",
            "NOT PRIVATE",
            "Choices and sums",
            "Trustees 0 of 3 connected now",
            "t0",
            "Any two of them together see all contributions.",
            "Parties 0 of 3 connected now",
        ],
        ended: vec![
            "complete",
            "The study ended: ",
            "Final guarantee",
            "NOT PRIVATE",
            "95 % interval",
            "(intercept)",
            "Choices and sums",
            "Trustees 0 of 3 connected now",
            "finished",
            "Parties 0 of 3 connected now",
            "finished",
        ],
    };
    begin_and_end("live-page-trustees", kind, &words);
}
