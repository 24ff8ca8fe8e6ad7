//! What is refused before a study is made or served.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use sprifed_party::{Invitation, Reach};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Digest};

use super::stage::{Kind, PURPOSE, Running, Stage, json_at, sprifed, stored, succeed, wait_until};

fn refusal(command: &mut Command) -> (Option<i32>, String) {
    let output = super::stage::output_of(command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

fn init(stage: &Stage, parties: [&str; 3], address: &str) -> Command {
    let mut init = sprifed();
    init.args(["study", "init"]).arg(stage.folder.join("new"));
    for party in parties {
        init.arg("--party")
            .arg(stage.folder.join(party).join("party.json"));
    }
    init.arg("--schema").arg(stage.folder.join("schema.toml"));
    init.arg("--columns").arg(stage.table(0));
    init.args(["--sparsity", "2", "--epsilon", "90", "--simulate-noise"]);
    init.args(["--procedure", "sieve", "--address", address]);
    init.args(["--purpose", PURPOSE]);
    init
}

#[test]
fn a_study_is_made_whole_or_not_at_all() {
    let stage = Stage::new("half", Kind::default());
    let all = ["p0", "p1", "p2"];
    for address in ["localhost", "localhost:0", "https://localhost:1", "a b:1"] {
        let (code, said) = refusal(&mut init(&stage, all, address));
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("is no address"), "{said}");
        assert!(!stage.folder.join("new").exists());
    }
    // Its certificate would take the place of the authority's, which is found out late.
    let mut identity = sprifed();
    identity.args(["study", "identity", "authority", "--records", "10"]);
    succeed(identity.arg("--out").arg(stage.folder.join("authority")));
    let clash = ["p0", "p1", "authority"];
    let (code, said) = refusal(&mut init(&stage, clash, "localhost:1"));
    assert!(code != Some(0), "{said}");
    assert!(!stage.folder.join("new").exists(), "{said}");
    let made = succeed(&mut init(&stage, all, "[::1]:8443"));
    let words = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(words.contains("sieve over 12 features"), "{words}");
}

#[test]
fn a_study_with_simulated_noise_promises_nothing() {
    let stage = Stage::new("promises", Kind::default());
    let parties = ["p0", "p1", "p2"];
    let made = succeed(&mut init(&stage, parties, "localhost:1")).stdout;
    let status = succeed(sprifed().args(["study", "status"]).arg(stage.study())).stdout;
    let mut shown = sprifed();
    shown
        .args(["study", "status"])
        .arg(stage.study())
        .arg("--json");
    let shown: Value = serde_json::from_slice(&succeed(&mut shown).stdout).unwrap();
    let guarantee = shown["guarantee"].as_str().unwrap().to_owned();
    for words in [made, status, guarantee.into_bytes()] {
        let words = String::from_utf8(words).unwrap();
        assert!(words.contains("NOT PRIVATE: "), "{words}");
        assert!(words.contains("protects no record"), "{words}");
        for promise in ["against every reader", "changes the probability"] {
            assert!(!words.contains(promise), "{words}");
        }
    }
    // The same study with secret noise says whom its guarantee holds against.
    let kind = Kind {
        simulated: false,
        ..Kind::default()
    };
    let stage = Stage::new("promises-kept", kind);
    let made = succeed(&mut stage.init_command("again")).stdout;
    let words = String::from_utf8(made).unwrap();
    assert!(
        words.contains("delta = 1e-6 for each record (zero-out)"),
        "{words}"
    );
    assert!(!words.contains("NOT PRIVATE"), "{words}");
}

#[test]
fn a_delta_that_the_protocol_uses_up_is_refused_with_the_least() {
    let stage = Stage::new("delta", Kind::default());
    let mut init = init(&stage, ["p0", "p1", "p2"], "localhost:1");
    let (code, said) = refusal(init.args(["--delta", "1e-30"]));
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("delta is 1e-30, but it must be above 5.422e-20"),
        "{said}"
    );
    assert!(!stage.folder.join("new").exists());
}

#[test]
fn a_roster_has_one_certificate_for_each_party() {
    let stage = Stage::new("roster", Kind::default());
    let path = stage.study().join("roster.json");
    let good = json_at(&path);
    let certificates = good["certificates"].as_array().unwrap();
    let repeated = |numbers: &[usize]| -> Value {
        let chosen = numbers.iter().map(|number| certificates[*number].clone());
        json!({ "certificates": chosen.collect::<Vec<_>>() })
    };
    let mut unknown = good.clone();
    unknown["revoked"] = json!([]);
    for (roster, word) in [
        (repeated(&[0, 1]), "2 certificates"),
        (repeated(&[]), "0 certificates"),
        (repeated(&[0, 1, 2, 2]), "4 certificates"),
        (repeated(&[0, 1, 1]), "the same certificate"),
        (unknown, "revoked"),
    ] {
        fs::write(&path, roster.to_string()).unwrap();
        let (code, said) = refusal(stage.coordinate().args(["--wait-for-parties", "1"]));
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(word), "{said}");
    }
    // It was not begun, and so nothing is missing.
    assert!(!stage.study().join("begun").exists());
    succeed(sprifed().args(["study", "status"]).arg(stage.study()));
}

#[test]
fn a_party_is_told_the_procedure_that_was_agreed_on() {
    let stage = Stage::new("label", Kind::default());
    // The plan's own name is free text, which a coordinator may sign.
    let path = stage.study().join("for-p0/invitation.json");
    let mut document = json_at(&path);
    document["agreement"]["plan"]["procedure"] = json!("harmless counting");
    let agreement = serde_json::from_value(document["agreement"].take()).unwrap();
    let key = fs::read_to_string(stage.study().join("coordinator.key")).unwrap();
    let key = Digest::try_from(key.trim().to_owned()).unwrap();
    let agreed = Agreed::new(agreement).unwrap();
    let reach = Reach {
        address: "localhost:1".to_owned(),
        authority: fs::read_to_string(stage.study().join("for-p0/authority.pem")).unwrap(),
    };
    let invitation = Invitation::sign(&agreed, &IdentityKey::from_stored(&key.0), reach);
    fs::write(&path, invitation.to_json()).unwrap();
    let mut check = stage.join(0);
    let shown = succeed(check.arg("--check")).stdout;
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!(shown["allowed"], true);
    let mut check = sprifed();
    check.arg("join").arg(stage.study().join("for-p0"));
    check.arg("--identity").arg(stage.party(0));
    let words = succeed(check.arg("--data").arg(stage.table(0)).arg("--check")).stdout;
    let words = String::from_utf8_lossy(&words).into_owned();
    assert!(words.contains("sieve over 12 features"), "{words}");
    assert!(!words.contains("harmless counting"), "{words}");

    let path = stage.party(0).join("policy.toml");
    let policy = fs::read_to_string(&path).unwrap();
    fs::write(&path, policy.replace("\"sieve\"", "\"grad\"")).unwrap();
    let (code, said) = refusal(stage.join(0).arg("--check"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("one of [\"grad\"]"), "{said}");
}

#[test]
fn a_coordinator_that_is_interrupted_says_so() {
    let stage = Stage::new("interrupted", Kind::default());
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    // It listens a moment before it minds signals; a client with an answer was served.
    let _party = Running::start(&mut stage.join(0), &stage.folder.join("party.log"));
    let state = stage.study().join("state.sqlite");
    wait_until("a message", || !stored(&state).is_empty());
    coordinator.interrupt();
    let ended = coordinator.finish();
    assert!(ended.status.success());
    let answer: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(answer, json!({ "interrupted": true, "schema_version": 1 }));
    assert!(fs::read_to_string(&log).unwrap().contains("start again"));
}

#[test]
fn a_coordinator_whose_state_was_emptied_does_not_begin_the_study_anew() {
    let stage = Stage::new("emptied", Kind::default());
    let coordinator = Running::start(&mut stage.coordinate(), &stage.folder.join("log"));
    let _party = Running::start(&mut stage.join(0), &stage.folder.join("party.log"));
    let state = stage.study().join("state.sqlite");
    wait_until("a message", || !stored(&state).is_empty());
    coordinator.kill();
    for beside in ["state.sqlite-wal", "state.sqlite-shm"] {
        let _ = fs::remove_file(stage.study().join(beside));
    }
    fs::write(&state, "").unwrap();
    let (code, said) = refusal(&mut stage.coordinate());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("is gone or was emptied"), "{said}");
    assert_eq!(fs::read(&state).unwrap(), b"", "nothing was written");
}
