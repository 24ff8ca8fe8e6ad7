//! Secret files: whole or absent, and of one user only.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::stage::{Kind, Running, Stage, output_of, sprifed, wait_until};

#[test]
fn a_kill_in_the_middle_of_a_key_leaves_no_key() {
    let folder = std::env::temp_dir().join(format!("sprifed-half-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let mut identity = sprifed();
    identity.args(["study", "identity", "north", "--records", "9", "--out"]);
    identity.arg(&folder);
    // The system kills a process that writes beyond its limit, here at its first byte.
    #[expect(clippy::disallowed_methods, reason = "a test of processes")]
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 0; exec \"$@\"", "sh"]);
    limited
        .arg(identity.get_program())
        .args(identity.get_args());
    let ended = output_of(&mut limited);
    assert_eq!(ended.status.code(), None, "it was not killed: {ended:?}");
    assert!(!folder.join("identity.key").exists(), "half a key was left");
    let ended = output_of(&mut identity);
    assert!(ended.status.success(), "{ended:?}");
    let _ = fs::remove_dir_all(folder);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Every file and folder below `folder`.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    visit(folder);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, visit);
        } else {
            visit(&path);
        }
    }
}

/// Asserts that folders and secrets below `folder` are of one user only, and counts the secrets.
fn count_secrets(folder: &Path) -> usize {
    let mut n_keys = 0;
    walk(folder, &mut |path| {
        let is_given_away = path.to_string_lossy().contains("/for-");
        let is_secret = path
            .extension()
            .is_some_and(|end| end == "key" || end == "sqlite");
        assert!(!(is_secret && is_given_away), "{}", path.display());
        n_keys += usize::from(is_secret);
        if path.is_dir() {
            assert_eq!(mode(path), 0o700, "{}", path.display());
        } else if is_secret {
            assert_eq!(mode(path), 0o600, "{}", path.display());
        }
    });
    n_keys
}

/// Runs one role without a coordinator, so that it makes its folder of the study with its key and journal.
fn begin(stage: &Stage, command: &mut Command) {
    let log = stage.folder.join("log");
    let running = Running::start(command, &log);
    wait_until("the first attempt", || {
        fs::read_to_string(&log).is_ok_and(|log| log.contains("no contact"))
    });
    running.kill();
}

#[test]
fn secrets_are_their_owners_only() {
    let kind = Kind {
        records: 60,
        simulated: false,
        ..Kind::default()
    };
    let stage = Stage::new("modes", kind);
    begin(&stage, &mut stage.join(0));
    let n_keys: usize = [stage.party(0), stage.study()]
        .iter()
        .map(|folder| count_secrets(folder))
        .sum();
    // Identity, TLS, party.key, ledger and journal; authority, coordinator twice.
    assert!(n_keys >= 8, "{n_keys} secrets");
}

#[test]
fn secrets_of_trustees_are_their_owners_only() {
    let kind = Kind {
        records: 60,
        quorum: 1,
        trustees: true,
        ..Kind::default()
    };
    let stage = Stage::new("trustee-modes", kind.secret());
    // The key of the next study waits in `offers`.
    let offered = count_secrets(&stage.trustee_folder(0));
    assert!(offered >= 3, "{offered} secrets");
    begin(&stage, &mut stage.trustee(0));
    // It moved into the folder of the study, which has a journal too.
    let begun = count_secrets(&stage.trustee_folder(0));
    assert!(begun > offered, "{begun} secrets after {offered}");
}
