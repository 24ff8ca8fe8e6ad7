//! Commands that are run a second time, when there is nothing left to do.

use std::fs;

use serde_json::Value;

use super::ledger::{finished, small};
use super::stage::{Stage, code_of, output_of, refused_as, sprifed, succeed};

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
    let mut seen = stage.transcript();
    let exists = "sprifed::study::identity-exists";
    seen.add("again", &refused_as(again.arg(&folder), 2, exists));
    assert_eq!(files(), before);
    // A file of an identity that is there without its key is not overwritten either.
    fs::remove_file(folder.join("identity.key")).unwrap();
    let before = files();
    seen.add("without its key", &refused_as(&mut again, 2, exists));
    insta::assert_snapshot!(seen);
    assert_eq!(files(), before);
}

#[test]
fn a_check_after_the_end_says_that_it_has_ended_and_what_it_cost() {
    let stage = finished("check-again", small(false));
    let mut check = sprifed();
    check.arg("join").arg(stage.study().join("for-p0"));
    check.arg("--identity").arg(stage.party(0));
    check.arg("--data").arg(stage.table(0)).arg("--check");
    let ended = output_of(&mut check);
    let words = String::from_utf8(ended.stdout).unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{words}{said}");
    assert_eq!(code_of(&said), "sprifed::study::over");
    let answer = output_of(check.arg("--json")).stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["allowed"], false);
    assert_eq!(answer["ended"]["epsilon"], Stage::CEILING);
    assert_eq!(answer["ended"]["delta"], 1e-6);
    let mut seen = stage.transcript();
    seen.hide(answer["words"].as_str().unwrap(), "[twelve words]");
    seen.add("check", &words);
    seen.add("why it is refused", &said);
    insta::assert_snapshot!(seen);
    // `join` delivers the receipt again, as before, and states what the ledger counts: the ceiling.
    let delivered = succeed(&mut stage.join(0)).stdout;
    let delivered: Value = serde_json::from_slice(&delivered).unwrap();
    assert!(stage.charged(0) < Stage::CEILING);
    assert_eq!(delivered["charged_epsilon"], Stage::CEILING);
}

#[test]
fn a_policy_with_a_mistake_is_told_the_line() {
    let stage = Stage::new("policy-line", small(true));
    let path = stage.party(0).join("policy.toml");
    let whole = fs::read_to_string(&path).unwrap();
    let mut seen = stage.transcript();
    for (right, wrong) in [
        ("smallest-quorum", "smalest-quorum"),
        ("smallest-quorum = 3", "smallest-quorum = \"3\""),
    ] {
        fs::write(&path, whole.replacen(right, wrong, 1)).unwrap();
        let said = refused_as(stage.join(0).arg("--check"), 2, "sprifed::policy::mistake");
        seen.add(wrong, &said);
    }
    insta::assert_snapshot!(seen);
}
