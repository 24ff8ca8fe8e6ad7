//! What is refused before a study is made or served.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use sprifed_party::{Invitation, Reach};
use sprifed_secure_sum::IdentityKey;
use sprifed_study::{Agreed, Digest};

use super::stage::{
    Kind, PURPOSE, Running, Stage, json_at, output_of, refused_as, sprifed, stored, succeed,
    wait_until,
};

fn init(stage: &Stage, parties: &[&str], address: &str) -> Command {
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

/// The words of a new study that people compare, in what `study init` says.
fn compared_words(said: &str) -> &str {
    let mut lines = said.lines();
    let line = lines.find_map(|line| line.trim_start().strip_prefix("in words"));
    line.unwrap().trim()
}

#[test]
fn a_study_is_made_whole_or_not_at_all() {
    let stage = Stage::new("half", Kind::default());
    let all = ["p0", "p1", "p2"];
    for address in ["localhost", "localhost:0", "https://localhost:1", "a b:1"] {
        let mut init = init(&stage, &all, address);
        refused_as(&mut init, 2, "sprifed::study::address");
        assert!(!stage.folder.join("new").exists());
    }
    // Its certificate would take the place of the authority's, which is found out late.
    let mut identity = sprifed();
    identity.args(["study", "identity", "authority", "--records", "10"]);
    succeed(identity.arg("--out").arg(stage.folder.join("authority")));
    let clash = ["p0", "p1", "authority"];
    let clashed = output_of(&mut init(&stage, &clash, "localhost:1"));
    assert!(!clashed.status.success());
    assert!(!stage.folder.join("new").exists(), "{clashed:?}");
    succeed(&mut init(&stage, &all, "[::1]:8443"));
    assert!(stage.folder.join("new/invitation.json").exists());
}

#[test]
fn a_study_of_one_party_is_refused_with_the_option_that_names_parties() {
    let stage = Stage::new("alone", Kind::default());
    let said = refused_as(
        &mut init(&stage, &["p0"], "localhost:1"),
        2,
        "sprifed::privacy::illegal-participation",
    );
    assert!(!stage.folder.join("new").exists());
    let mut seen = stage.transcript();
    seen.add("one party", &said);
    insta::assert_snapshot!(seen);
}

#[test]
fn the_features_of_a_study_are_those_of_its_schema() {
    let stage = Stage::new("included", Kind::default());
    let header = fs::read_to_string(stage.table(0)).unwrap();
    let header = header.lines().next().unwrap();
    let features: Vec<&str> = header.split(',').filter(|name| *name != "y").collect();
    let schema = stage.folder.join("schema.toml");
    let bounds = fs::read_to_string(&schema).unwrap();
    let chosen = &features[..3];
    let written = format!("{bounds}include = {chosen:?}\nbounds = \"bounds.csv\"\n");
    fs::write(&schema, written).unwrap();
    let lines = format!("column,lower,upper\n{},0,7\n", features[0]);
    fs::write(stage.folder.join("bounds.csv"), &lines).unwrap();
    succeed(&mut init(&stage, &["p0", "p1", "p2"], "localhost:1"));
    let invitation = json_at(&stage.folder.join("new/invitation.json"));
    let agreement = &invitation["agreement"];
    assert_eq!(agreement["data"]["features"], json!(chosen));
    assert_eq!(agreement["setting"]["n_features"], 3);
    assert_eq!(
        agreement["data"]["bounds"],
        json!(lines),
        "the parties sign the bounds"
    );
    // Thinned by position; an option that has no effect is refused.
    fs::remove_dir_all(stage.folder.join("new")).unwrap();
    fs::write(&schema, &bounds).unwrap();
    let mut thinned = init(&stage, &["p0", "p1", "p2"], "localhost:1");
    succeed(thinned.args(["--thin", "3"]));
    let invitation = json_at(&stage.folder.join("new/invitation.json"));
    let every_third: Vec<&str> = features.iter().copied().step_by(3).collect();
    assert_eq!(
        invitation["agreement"]["data"]["features"],
        json!(every_third)
    );
    fs::remove_dir_all(stage.folder.join("new")).unwrap();
    let mut always = init(&stage, &["p0", "p1", "p2"], "localhost:1");
    succeed(always.args(["--always", features[1], "--exactly", "--robust"]));
    let invitation = json_at(&stage.folder.join("new/invitation.json"));
    let agreement = &invitation["agreement"];
    assert_eq!(agreement["data"]["always"], json!([features[1]]));
    assert_eq!(
        agreement["data"]["features"][0],
        json!(features[1]),
        "first of all"
    );
    assert_eq!(agreement["setting"]["always"], 1);
    assert_eq!(agreement["setting"]["choice"], "exactly");
    assert_eq!(agreement["setting"]["robust"], true);
}

#[test]
fn a_study_with_simulated_noise_promises_nothing() {
    let stage = Stage::new("promises", Kind::default());
    let parties = ["p0", "p1", "p2"];
    let made = succeed(&mut init(&stage, &parties, "localhost:1")).stdout;
    let status = succeed(sprifed().args(["study", "status"]).arg(stage.study())).stdout;
    let mut shown = sprifed();
    shown
        .args(["study", "status"])
        .arg(stage.study())
        .arg("--json");
    let shown: Value = serde_json::from_slice(&succeed(&mut shown).stdout).unwrap();
    let guarantee = shown["guarantee"].as_str().unwrap().to_owned();
    let mut seen = stage.transcript();
    let made = String::from_utf8(made).unwrap();
    seen.hide(compared_words(&made), "[twelve words]");
    for (case, words) in [
        ("init", made),
        ("status", String::from_utf8(status).unwrap()),
        ("guarantee", guarantee),
    ] {
        seen.add(case, &words);
        for promise in ["against every reader", "changes the probability"] {
            assert!(!words.contains(promise), "{words}");
        }
    }
    // The same study with secret noise says whom its guarantee holds against.
    let stage = Stage::new("promises-kept", Kind::default().secret());
    let made = succeed(&mut stage.init_command("again")).stdout;
    let words = String::from_utf8(made).unwrap();
    assert!(!words.contains("NOT PRIVATE"), "{words}");
    seen.hide(stage.folder.display().to_string(), "[stage]");
    seen.hide(compared_words(&words), "[twelve words]");
    seen.add("init with secret noise", &words);
    insta::assert_snapshot!(seen);
}

#[test]
fn a_delta_that_the_protocol_uses_up_is_refused_with_the_least() {
    let stage = Stage::new("delta", Kind::default());
    let mut init = init(&stage, &["p0", "p1", "p2"], "localhost:1");
    init.args(["--delta", "1e-30"]);
    let said = refused_as(&mut init, 2, "sprifed::plan::impossible");
    let mut seen = stage.transcript();
    seen.add("init", &said);
    insta::assert_snapshot!(seen);
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
    let mut seen = stage.transcript();
    for (case, roster) in [
        ("one too few", repeated(&[0, 1])),
        ("none", repeated(&[])),
        ("one too many", repeated(&[0, 1, 2, 2])),
        ("one of them twice", repeated(&[0, 1, 1])),
        ("an unknown field", unknown),
    ] {
        fs::write(&path, roster.to_string()).unwrap();
        let mut coordinate = stage.coordinate();
        coordinate.args(["--wait-for-parties", "1"]);
        let said = refused_as(&mut coordinate, 2, "sprifed::study::unusable-file");
        seen.add(case, &said);
    }
    insta::assert_snapshot!(seen);
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
    assert!(!words.contains("harmless counting"), "{words}");
    let mut seen = stage.transcript();
    seen.hide(shown["words"].as_str().unwrap(), "[twelve words]");
    seen.add("check", &words);

    let path = stage.party(0).join("policy.toml");
    let policy = fs::read_to_string(&path).unwrap();
    fs::write(&path, policy.replace("\"sieve\"", "\"grad\"")).unwrap();
    let said = refused_as(stage.join(0).arg("--check"), 1, "sprifed::policy::refused");
    seen.add("a policy with another procedure", &said);
    insta::assert_snapshot!(seen);
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
    refused_as(&mut stage.coordinate(), 1, "sprifed::study::state-lost");
    assert_eq!(fs::read(&state).unwrap(), b"", "nothing was written");
}
