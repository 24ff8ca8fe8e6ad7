use std::fs;

use super::stage::{
    Kind, Running, Stage, all_succeed, code_of, json_at, output_of, refusal_in, refused,
    refused_as, sprifed, succeed,
};

#[test]
fn a_policy_refuses_before_a_record_is_opened() {
    let stage = Stage::new("policy", Kind::default());
    let path = stage.party(0).join("policy.toml");
    let policy = fs::read_to_string(&path).unwrap();
    // The table is not even there.
    let table = fs::read(stage.table(0)).unwrap();
    fs::remove_file(stage.table(0)).unwrap();
    let cases = [
        (
            "largest-epsilon-per-study = 200.0",
            "largest-epsilon-per-study = 1.0",
        ),
        (
            "largest-epsilon-in-total = 200.0",
            "largest-epsilon-in-total = 2.0",
        ),
        ("smallest-quorum = 3", "smallest-quorum = 4"),
        (
            "largest-colluder-share = 0.0",
            "largest-colluder-share = 0.5",
        ),
        ("procedures = [\"sieve\"]", "procedures = [\"grad\"]"),
        ("units = [\"record\"]", "units = [\"client\"]"),
        (
            "allow-simulated-noise = true",
            "allow-simulated-noise = false",
        ),
        ("coordinators = [", "coordinators = [] #"),
        ("[\"testing what matters\"]", "[\"care\"]"),
        ("\"x*\"", "\"x1\", \"x2\""),
        ("\"y\", ", ""),
        ("2999-12-31", "2001-01-31"),
        ("p1 = ", "# p1 = "),
    ];
    let forbidden = "sprifed::policy::refused";
    let mut seen = stage.transcript();
    for (found, changed) in cases {
        assert!(policy.contains(found), "{found}");
        fs::write(&path, policy.replace(found, changed)).unwrap();
        let said = refused_as(&mut stage.join(0), 1, forbidden);
        if changed == "2001-01-31" {
            seen.hide_after("today's date is ", &said);
        }
        seen.add(format!("{changed:?} for {found:?}"), &said);
    }
    refused_as(stage.join(0).arg("--check"), 1, forbidden);
    fs::write(&path, policy).unwrap();
    // A table that cannot be read is said too.
    let said = refused_as(stage.join(0).arg("--check"), 1, forbidden);
    seen.add("no table", &said);
    insta::assert_snapshot!(seen);
    fs::write(stage.table(0), table).unwrap();
    succeed(stage.join(0).arg("--check"));
}

#[test]
fn an_edited_invitation_is_refused() {
    let stage = Stage::new("edited", Kind::default());
    let path = stage.study().join("for-p0/invitation.json");
    let good = fs::read_to_string(&path).unwrap();
    // Another study of the same machine, and so another authority.
    stage.init("other");
    let authority = stage.study().join("for-p0/authority.pem");
    let others = stage.folder.join("other/for-p0/authority.pem");
    let in_json = |path| serde_json::json!(fs::read_to_string(path).unwrap()).to_string();
    let address = format!("\"localhost:{}\"", stage.port);
    let unusable = "sprifed::study::unusable-file";
    let mut seen = stage.transcript();
    for (found, changed) in [
        ("\"repeats\": 0", "\"repeats\": 1"),
        ("\"title\": \"study\"", "\"title\": \"other\""),
        ("\"sparsity\": 2", "\"sparsity\": 3"),
        ("what matters", "what pays"),
        (&address, "\"localhost:1\""),
        (&in_json(&authority), &in_json(&others)),
    ] {
        assert!(good.contains(found), "{found}");
        fs::write(&path, good.replace(found, changed)).unwrap();
        for check in [true, false] {
            let mut join = stage.join(0);
            if check {
                join.arg("--check");
            }
            let said = refused_as(&mut join, 2, unusable);
            let changed = changed.lines().next().unwrap();
            seen.add(format!("{changed:.24}, check: {check}"), &said);
        }
    }
    fs::write(&path, good).unwrap();
    // The authority that TLS trusts is the signed one, or nothing is sent.
    fs::copy(&others, &authority).unwrap();
    let said = refused_as(&mut stage.join(0), 2, unusable);
    seen.add("another authority", &said);
    insta::assert_snapshot!(seen);
}

#[test]
fn strangers_and_impostors_are_turned_away_and_the_study_goes_on() {
    let stage = Stage::new("strangers", Kind::default());
    // Another study of the same coordinator's machine: its certificates are not this one's.
    stage.init("other");
    // A certificate without a party's name, so that only the coordinator can tell who is behind it.
    stage.bring_certificate(0, "nameless");
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let other = stage.folder.join("other/for-p0");
    let mine = stage.study().join("for-p0");
    let stolen = stage.folder.join("stolen");
    fs::create_dir_all(&stolen).unwrap();
    for (from, name) in [
        (&mine, "invitation.json"),
        (&mine, "authority.pem"),
        (&other, "tls.pem"),
    ] {
        fs::copy(from.join(name), stolen.join(name)).unwrap();
    }
    let mut stranger = sprifed();
    stranger
        .arg("join")
        .arg(&stolen)
        .arg("--identity")
        .arg(stage.party(0));
    stranger.arg("--data").arg(stage.table(0)).args([
        "--give-up-after",
        "3",
        "--simulate-noise",
        "11",
    ]);
    assert!(!output_of(&mut stranger).status.success());
    // Party 1's identity behind party 0's certificate: every message is signed, so it is refused.
    let mut impostor = stage.join_behind(1, 0);
    let impostor = Running::start(&mut impostor, &stage.folder.join("impostor.log"));
    let ended = impostor.finish();
    let said = fs::read_to_string(stage.folder.join("impostor.log")).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert_eq!(code_of(&said), "sprifed::study::refused-by-coordinator");
    let mut seen = stage.transcript();
    seen.add("the impostor", &refusal_in(&said));
    insta::assert_snapshot!(seen);
    let parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    all_succeed(parties, coordinator, &log);
    assert_eq!(stage.receipt()["receipt"]["fit"], stage.rehearse()["fit"]);
}

#[test]
fn an_edited_receipt_is_not_believed() {
    let stage = Stage::new(
        "receipt",
        Kind {
            records: 60,
            ..Kind::default()
        },
    );
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    parties
        .into_iter()
        .for_each(|running| drop(running.finish()));
    drop(coordinator);
    let path = stage.study().join("result/receipt.json");
    let good = json_at(&path);
    succeed(sprifed().arg("verify").arg(&path));
    let agreement = good["receipt"]["agreement_digest"].as_str().unwrap();
    let coordinator = good["receipt"]["agreement"]["coordinator"]
        .as_str()
        .unwrap();
    let meant = |coordinator: &str, agreement: &str| {
        let mut verify = sprifed();
        verify.args(["verify", "--coordinator", coordinator]);
        verify.args(["--agreement", agreement]).arg(&path);
        verify
    };
    succeed(&mut meant(coordinator, agreement));
    let mut seen = stage.transcript();
    seen.hide(agreement, "[digest of the agreement]");
    let another = "sprifed::verify::another";
    let said = refused_as(&mut meant(agreement, agreement), 1, another);
    seen.add("another coordinator", &said);
    let said = refused_as(&mut meant(coordinator, coordinator), 1, another);
    seen.add("another agreement", &said);
    refused(&mut meant("12", agreement), 2);
    let edit = |change: fn(&mut serde_json::Value)| {
        let mut edited = good.clone();
        change(&mut edited);
        let path = stage.folder.join("edited.json");
        fs::write(&path, edited.to_string()).unwrap();
        refused(sprifed().arg("verify").arg(&path), 1)
    };
    for (place, said) in [
        edit(|receipt| receipt["receipt"]["guarantee"]["epsilon"] = serde_json::json!(0.1)),
        edit(|receipt| receipt["receipt"]["software"] = serde_json::json!("mine")),
        edit(|receipt| receipt["receipt"]["fit"]["model"]["intercept"] = serde_json::json!(4.0)),
        edit(|receipt| {
            drop(
                receipt["receipt"]["ledger"]["entries"]
                    .as_array_mut()
                    .unwrap()
                    .pop(),
            )
        }),
    ]
    .iter()
    .enumerate()
    {
        assert_eq!(code_of(said), "sprifed::receipt::wrong", "edit {place}");
        seen.add(format!("edit {place}"), said);
    }
    insta::assert_snapshot!(seen);
    // A party that lost its state does not join with new masks.
    let folder = fs::read_dir(stage.party(0))
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.is_dir())
        .unwrap();
    let cryptographic =
        json_at(&stage.study().join("invitation.json"))["agreement"]["noise"] == "cryptographic";
    assert!(!cryptographic && folder.join("state.sqlite").exists());
}

#[test]
fn a_rehearsal_identity_does_not_enter_a_private_study() {
    let stage = Stage::new("seeded", Kind::default());
    let mut init = sprifed();
    init.args(["study", "init"])
        .arg(stage.folder.join("private"));
    for party in 0..3 {
        init.arg("--party")
            .arg(stage.party(party).join("party.json"));
    }
    init.arg("--schema").arg(stage.folder.join("schema.toml"));
    init.arg("--columns").arg(stage.table(0));
    init.args([
        "--sparsity",
        "2",
        "--epsilon",
        "3",
        "--address",
        "localhost:1",
        "--purpose",
        "care",
    ]);
    refused_as(&mut init, 2, "sprifed::study::rehearsal-key");
}

#[test]
fn a_certificate_of_another_party_is_refused_before_anything_is_sent() {
    let stage = Stage::new("seats", Kind::default());
    let mut seen = stage.transcript();
    // No process listens: a party that tried to connect would wait.
    for check in [true, false] {
        let mut command = stage.join_as(1, 0);
        if check {
            command.arg("--check");
        }
        let said = refused_as(&mut command, 2, "sprifed::study::other-seat");
        seen.add(format!("check: {check}"), &said);
    }
    insta::assert_snapshot!(seen);
    assert!(!stage.party(1).join("ledger.sqlite").exists());
    succeed(stage.join(1).arg("--check"));
}

#[test]
fn a_title_that_steers_a_terminal_is_refused() {
    let stage = Stage::new("title", Kind::default());
    let mut init = sprifed();
    init.args(["study", "init"]).arg(stage.folder.join("evil"));
    init.args(["--title", "north \u{1b}[2J"]);
    for party in 0..3 {
        init.arg("--party")
            .arg(stage.party(party).join("party.json"));
    }
    init.arg("--schema").arg(stage.folder.join("schema.toml"));
    init.arg("--columns").arg(stage.table(0));
    init.args(["--sparsity", "2", "--epsilon", "90"]);
    init.args(["--address", "localhost:1", "--simulate-noise"]);
    init.args(["--purpose", "care"]);
    let said = refused_as(&mut init, 2, "sprifed::study::illegal-agreement");
    assert!(!said.contains("\u{1b}[2J"), "{said}");
    let mut seen = stage.transcript();
    seen.add("init", &said);
    insta::assert_snapshot!(seen);
}

#[test]
fn what_others_wrote_does_not_steer_the_terminal() {
    let mut verify = sprifed();
    verify.args(["verify", "receipt \u{1b}[2J\u{202e}.json"]);
    let said = refused(&mut verify, 3);
    assert!(said.contains("\\u{1b}[2J\\u{202e}.json"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'));
}
