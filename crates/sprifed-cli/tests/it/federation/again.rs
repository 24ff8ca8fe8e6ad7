//! Commands that are run a second time, when there is nothing left to do.

use std::fs;

use serde_json::Value;

use super::ledger::{finished, refused, small};
use super::stage::{Stage, output_of, sprifed, succeed};

#[test]
fn an_identity_is_made_once() {
    let stage = Stage::new("identity-again", small(true));
    let folder = stage.party(0);
    let files = || -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(&folder).unwrap().map(Result::unwrap);
        let mut files: Vec<_> = entries
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                (name, fs::read(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        files
    };
    let before = files();
    let mut again = sprifed();
    again.args(["study", "identity", "p0", "--records", "60", "--out"]);
    let said = refused(again.arg(&folder), 2);
    let words = format!(
        "{} already has an identity; nothing was changed",
        folder.display()
    );
    assert!(said.contains(&words), "{said}");
    assert_eq!(files(), before);
    // A file of an identity that is there without its key is not overwritten either.
    fs::remove_file(folder.join("identity.key")).unwrap();
    let before = files();
    let said = refused(&mut again, 2);
    assert!(said.contains("tls.key"), "{said}");
    assert!(said.contains("nothing was changed"), "{said}");
    assert_eq!(files(), before);
}

#[test]
fn a_check_after_the_end_says_that_it_has_ended_and_what_it_cost() {
    let stage = finished("check-again", small(false));
    let charged = stage.charged(0);
    let mut check = sprifed();
    check.arg("join").arg(stage.study().join("for-p0"));
    check.arg("--identity").arg(stage.party(0));
    check.arg("--data").arg(stage.table(0)).arg("--check");
    let ended = output_of(&mut check);
    let words = String::from_utf8(ended.stdout).unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{words}{said}");
    let first = words.lines().next().unwrap();
    assert!(first.starts_with("Ended"), "{words}");
    assert!(
        first.contains("this party's part in this study has ended"),
        "{words}"
    );
    assert!(
        first.contains(&sprifed_privacy::shown_cost(charged)),
        "{words}"
    );
    assert!(!words.contains("Allowed      yes"), "{words}");
    assert!(said.contains("sprifed::study::over"), "{said}");
    let answer = output_of(check.arg("--json")).stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["allowed"], false);
    assert!((answer["ended"]["epsilon"].as_f64().unwrap() - charged).abs() < 1e-12);
    assert_eq!(answer["ended"]["delta"], 1e-6);
    // `join` delivers the receipt again, as before.
    succeed(&mut stage.join(0));
}

#[test]
fn a_policy_with_a_mistake_is_told_the_line() {
    let stage = Stage::new("policy-line", small(true));
    let path = stage.party(0).join("policy.toml");
    let whole = fs::read_to_string(&path).unwrap();
    for (right, wrong, words) in [
        ("smallest-quorum", "smalest-quorum", "`smalest-quorum`"),
        (
            "smallest-quorum = 3",
            "smallest-quorum = \"3\"",
            "a whole number",
        ),
    ] {
        fs::write(&path, whole.replacen(right, wrong, 1)).unwrap();
        let said = refused(stage.join(0).arg("--check"), 2);
        assert!(said.contains("policy.toml` line 9"), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(said.contains("nothing was spent"), "{said}");
    }
}
