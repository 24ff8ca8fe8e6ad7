//! The coordinator's page in a real browser: what people see before and after. That it needs no script is
//! tested where it is made.
//!
//! Needs Chromium on the PATH, or where `SPRIFED_CHROMIUM` says. Without it the test says that it was
//! skipped; with `SPRIFED_REQUIRE_CHROMIUM=1` it fails.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::{Kind, Running, Stage, free_port, json_at, pause, succeed, wait_until};

/// The browser, if there is one.
fn chromium() -> Option<PathBuf> {
    let given = std::env::var_os("SPRIFED_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
    let browser = given.into_iter().chain(found).find(|path| path.is_file());
    let required = std::env::var_os("SPRIFED_REQUIRE_CHROMIUM").is_some_and(|value| value == "1");
    assert!(
        browser.is_some() || !required,
        "Chromium is required, but it is not on the PATH; install it or set SPRIFED_CHROMIUM"
    );
    browser
}

/// A browser with a profile of its own that talks to nobody else.
#[expect(
    clippy::disallowed_methods,
    reason = "a test of the page as a person sees it"
)]
fn browse(browser: &Path, folder: &Path, name: &str) -> Command {
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
    ]);
    let profile = folder.join(format!("browser-{name}"));
    command.arg(format!("--user-data-dir={}", profile.display()));
    command
}

/// The document as the browser has it in the end.
fn document(browser: &Path, folder: &Path, name: &str, address: &str) -> String {
    let mut command = browse(browser, folder, name);
    let output = succeed(command.args(["--dump-dom", address]));
    String::from_utf8(output.stdout).unwrap()
}

/// Width and height of a picture in the PNG format.
fn size_of(picture: &[u8]) -> (u32, u32) {
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn people_see_the_study_begin_and_end() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: the live page was not looked at, because there is no Chromium");
        return;
    };
    let kind = Kind {
        records: 60,
        stay: 3600,
        ..Kind::default()
    };
    let stage = Stage::new("live-page", kind);
    let log = stage.folder.join("log");
    let page = format!("127.0.0.1:{}", free_port());
    let coordinator = Running::start(stage.coordinate().args(["--page", &page]), &log);
    let listens = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("the page is at"));
    wait_until("the page", listens);
    let address = format!("http://{page}/");
    let folder = &stage.folder;

    let begun = document(&browser, folder, "begun", &address);
    assert!(begun.contains("0 of 3 connected"), "{begun}");
    assert!(begun.contains("None yet."), "{begun}");

    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    wait_until("the end", || parties.iter_mut().all(Running::is_over));
    let receipt = stage.study().join("result/receipt.json");
    wait_until("the receipt", || receipt.exists());
    // Three signatures may come in after the receipt is written first.
    let signed = || json_at(&receipt)["parties"].as_array().map_or(0, Vec::len) == 3;
    wait_until("the signatures", signed);
    pause(std::time::Duration::from_millis(200));

    let ended = document(&browser, folder, "ended", &address);
    for words in ["NOT PRIVATE", "p0", "p1", "p2", "x3", "x8", "Report", "ε"] {
        assert!(ended.contains(words), "no {words:?} in\n{ended}");
    }
    assert!(!ended.contains("None yet."), "{ended}");
    assert!(
        !ended.contains("http://") && !ended.contains("https://"),
        "{ended}"
    );
    for (name, width, height) in [("desk", 1200, 1400), ("phone", 500, 1600)] {
        let picture = folder.join(format!("{name}.png"));
        let mut command = browse(&browser, folder, name);
        command.arg(format!("--window-size={width},{height}"));
        command.arg(format!("--screenshot={}", picture.display()));
        succeed(command.arg(&address));
        let picture = std::fs::read(&picture).unwrap();
        assert_eq!(size_of(&picture), (width, height));
        assert!(picture.len() > 20_000, "{name}: nothing is drawn");
    }
    coordinator.kill();
}
