//! Who takes part, what for, and who may decide it: the other parties, purposes, an officer's signature, and what
//! `join --check` says of them.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::stage::{Kind, PURPOSE, Stage, output_of, refused_as, sprifed, succeed};

fn small() -> Kind {
    Kind {
        records: 60,
        ..Kind::default()
    }
}

/// What a command says as JSON, and its exit code.
fn said(command: &mut Command) -> (Option<i32>, Value) {
    let ended = output_of(command);
    let answer = serde_json::from_slice(&ended.stdout);
    let answer = answer.unwrap_or_else(|_| panic!("{ended:?}"));
    (ended.status.code(), answer)
}

/// A coordinator makes a study of party 0 and of two hospitals that it invents.
fn invent(stage: &Stage) -> Vec<String> {
    let mut keys = Vec::new();
    let mut init = sprifed();
    init.args(["study", "init"])
        .arg(stage.folder.join("sybils"));
    init.arg("--party").arg(stage.party(0).join("party.json"));
    // Under the names of the real ones: only the keys tell.
    for name in ["p1", "p2"] {
        let folder = stage.folder.join(format!("invented-{name}"));
        let mut identity = sprifed();
        identity.args([
            "study",
            "identity",
            name,
            "--records",
            "60",
            "--json",
            "--out",
        ]);
        let made: Value = serde_json::from_slice(&succeed(identity.arg(&folder)).stdout).unwrap();
        keys.push(made["identity"].as_str().unwrap().to_owned());
        init.arg("--party").arg(folder.join("party.json"));
    }
    init.arg("--schema").arg(stage.folder.join("schema.toml"));
    init.arg("--columns").arg(stage.table(0));
    init.args(["--sparsity", "2", "--epsilon", "90", "--delta", "1e-6"]);
    init.args(["--procedure", "sieve", "--quorum", "3"]);
    init.args(["--address", "localhost:1", "--purpose", PURPOSE]);
    init.arg("--simulate-noise");
    succeed(&mut init);
    // The coordinator is one that party 0 deals with.
    let key = super::stage::json_at(&stage.folder.join("sybils/invitation.json"));
    let path = stage.party(0).join("policy.toml");
    let policy = fs::read_to_string(&path).unwrap();
    let known = format!("coordinators = [{},", key["agreement"]["coordinator"]);
    fs::write(&path, policy.replacen("coordinators = [", &known, 1)).unwrap();
    keys
}

fn join(stage: &Stage, study: &str) -> Command {
    let mut command = sprifed();
    command.arg("join");
    command.arg(stage.folder.join(study).join("for-p0"));
    command.arg("--identity").arg(stage.party(0));
    command.arg("--data").arg(stage.table(0));
    command.args(["--simulate-noise", "11", "--give-up-after", "2"]);
    command
}

#[test]
fn a_coordinator_that_invents_hospitals_is_refused() {
    let stage = Stage::new("sybils", small());
    let keys = invent(&stage);
    let mut seen = stage.transcript();
    for (key, name) in keys.iter().zip(["p1", "p2"]) {
        seen.hide(key, &format!("[key of the invented {name}]"));
    }
    // As JSON, with the name and key of each party.
    let (code, answer) = said(join(&stage, "sybils").args(["--check", "--json"]));
    assert_eq!(code, Some(1), "{answer}");
    assert_eq!(answer["allowed"], false);
    let problems = answer["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{answer}");
    for (place, problem) in problems.iter().enumerate() {
        seen.add(format!("problem {place}"), problem.as_str().unwrap());
    }
    let parties = answer["parties"].as_array().unwrap();
    assert_eq!(parties[0]["is_this_party"], true);
    assert_eq!(parties[0]["identity"], stage.key_of(0));
    for (party, key) in parties[1..].iter().zip(&keys) {
        assert_eq!(party["identity"], json!(key));
        assert_eq!(party["known_as"], Value::Null);
    }
    // In words.
    let ended = output_of(join(&stage, "sybils").arg("--check"));
    let words = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{words}");
    seen.hide(answer["words"].as_str().unwrap(), "[twelve words]");
    seen.add("a check in words", &words);
    // And it is refused before the table is opened.
    fs::remove_file(stage.table(0)).unwrap();
    let said = refused_as(&mut join(&stage, "sybils"), 1, "sprifed::policy::refused");
    seen.add("join", &said);
    insta::assert_snapshot!(seen);
    let mut inside = fs::read_dir(stage.party(0)).unwrap();
    assert!(!inside.any(|entry| entry.unwrap().path().is_dir()));
}

#[test]
fn a_check_says_everything_that_is_worth_a_telephone_call() {
    let stage = Stage::new("checked", small());
    let (code, answer) = said(stage.join(0).arg("--check"));
    assert_eq!(code, Some(0), "{answer}");
    assert_eq!(answer["problems"], json!([]));
    assert_eq!(answer["purpose"], PURPOSE);
    assert_eq!(answer["columns"].as_array().unwrap().len(), 13);
    assert_eq!(answer["columns"][0], "y");
    assert_eq!(answer["table"]["units"], 60);
    assert_eq!(answer["parties"][1]["identity"], stage.key_of(1));
    assert_eq!(answer["parties"][1]["known_as"], "p1");
    let words = answer["words"].as_str().unwrap();
    assert_eq!(words.split(' ').count(), 12, "{words}");
    // The coordinator and every party are told the same.
    for party in 1..3 {
        let (_, other) = said(stage.join(party).arg("--check"));
        assert_eq!(
            (&other["words"], &other["study"]),
            (&answer["words"], &answer["study"])
        );
    }
    let made = succeed(stage.init_command("second").arg("--json")).stdout;
    let made: Value = serde_json::from_slice(&made).unwrap();
    assert_eq!(made["words"].as_str().unwrap().split(' ').count(), 12);
    assert_ne!(made["words"], answer["words"]);
    let mut join = join(&stage, "study");
    let text = String::from_utf8(succeed(join.arg("--check")).stdout).unwrap();
    let mut seen = stage.transcript();
    seen.hide(words, "[twelve words]");
    seen.hide(answer["study"].as_str().unwrap(), "[digest of the study]");
    seen.add("allowed", &text);

    // All that is wrong, at once: policy, table and seat.
    let policy = stage.party(0).join("policy.toml");
    let text = fs::read_to_string(&policy).unwrap();
    let strict = text
        .replace("smallest-quorum = 3", "smallest-quorum = 4")
        .replace(PURPOSE, "care")
        .replace("2999-12-31", "2020-01-31");
    fs::write(&policy, strict).unwrap();
    fs::write(stage.table(0), "y,x0\n1,2\n").unwrap();
    let (code, answer) = said(stage.join(0).arg("--check"));
    assert_eq!(code, Some(1), "{answer}");
    let problems = answer["problems"].as_array().unwrap();
    seen.hide_after("today's date is ", &answer["problems"].to_string());
    for (place, problem) in problems.iter().enumerate() {
        seen.add(format!("problem {place}"), problem.as_str().unwrap());
    }
    insta::assert_snapshot!(seen);
    // Nothing was spent by any of it.
    let mut status = sprifed();
    status.args(["study", "status"]).arg(stage.party(0));
    let (_, spent) = said(status.arg("--json"));
    assert_eq!(spent["studies"], json!([]));
}

#[test]
fn a_check_writes_costs_as_people_write_them() {
    let kind = Kind {
        repeats: 1,
        ..small()
    };
    let stage = Stage::new("check-digits", kind);
    let mut check = sprifed();
    check.arg("join").arg(stage.study().join("for-p0"));
    check.arg("--identity").arg(stage.party(0));
    check.arg("--data").arg(stage.table(0)).arg("--check");
    let words = String::from_utf8(succeed(&mut check).stdout).unwrap();
    let line = |heading: &str| {
        let found = words.lines().find(|line| line.starts_with(heading));
        found.unwrap_or_else(|| panic!("{words}")).to_owned()
    };
    let cost = line("Cost ");
    let (_, epsilon) = cost.split_once("epsilon = ").unwrap();
    let (epsilon, rest) = epsilon.split_once(' ').unwrap();
    assert!(rest.starts_with("at delta = 1e-6 "), "{cost}");
    let (shown, answer): (f64, Value) = (epsilon.parse().unwrap(), said(check.arg("--json")).1);
    let exact = answer["largest_epsilon"].as_f64().unwrap();
    assert!(epsilon.len() <= 8, "{cost}");
    assert!(shown >= exact && shown - exact < 2e-4, "{cost} {exact}");
    let mut seen = stage.transcript();
    seen.hide(answer["words"].as_str().unwrap(), "[twelve words]");
    seen.add("check", &words);
    insta::assert_snapshot!(seen);
}

#[test]
fn with_an_officer_only_the_signed_policy_counts() {
    let stage = Stage::new("officer", small());
    let officer = stage.folder.join("dpo");
    succeed(sprifed().args(["study", "officer"]).arg(&officer));
    let (home, policy) = (stage.party(0), stage.party(0).join("policy.toml"));
    fs::copy(officer.join("officer.pub"), home.join("officer.pub")).unwrap();
    let sign = |officer: &str| {
        let mut sign = sprifed();
        sign.args(["study", "sign-policy"]).arg(&policy);
        sign.arg("--party").arg(home.join("party.json"));
        succeed(sign.arg("--officer").arg(stage.folder.join(officer)));
    };
    let mut seen = stage.transcript();
    let mut check = |case: &str| {
        let mut join = stage.join(0);
        let said = refused_as(join.arg("--check"), 1, "sprifed::policy::unsigned");
        seen.add(case, &said);
    };
    check("no signature");
    sign("dpo");
    succeed(stage.join(0).arg("--check"));
    // Not even the same policy, under another name.
    let mut other = stage.join(0);
    other.arg("--policy").arg(&policy);
    for command in [
        &mut other,
        stage.join(0).arg("--check").arg("--policy").arg(&policy),
    ] {
        refused_as(command, 2, "sprifed::policy::officer");
    }
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace("200.0", "2000.0")).unwrap();
    check("changed after it was signed");
    // Another officer's word does not count.
    succeed(
        sprifed()
            .args(["study", "officer"])
            .arg(stage.folder.join("other")),
    );
    sign("other");
    check("signed by another officer");
    insta::assert_snapshot!(seen);
    sign("dpo");
    succeed(stage.join(0).arg("--check"));

    // An identity that is made with an officer's key begins so; its first policy allows nothing and can be signed.
    let mut identity = sprifed();
    identity.args(["study", "identity", "north", "--records", "9", "--officer"]);
    identity.arg(officer.join("officer.pub"));
    let north = stage.folder.join("north");
    succeed(identity.arg("--out").arg(&north));
    assert_eq!(
        fs::read(north.join("officer.pub")).unwrap(),
        fs::read(officer.join("officer.pub")).unwrap()
    );
    let mut sign = sprifed();
    sign.args(["study", "sign-policy"])
        .arg(north.join("policy.toml"));
    sign.arg("--party").arg(north.join("party.json"));
    succeed(sign.arg("--officer").arg(&officer));
}

#[test]
fn a_policy_that_was_signed_for_another_party_does_not_count() {
    let stage = Stage::new("officer-of-two", small());
    let officer = stage.folder.join("dpo");
    succeed(sprifed().args(["study", "officer"]).arg(&officer));
    // One text that would suit both of them.
    let text = fs::read_to_string(stage.party(0).join("policy.toml")).unwrap();
    let text = format!("{text}own = {}\n", stage.key_of(0));
    for party in [0, 1] {
        let home = stage.party(party);
        fs::copy(officer.join("officer.pub"), home.join("officer.pub")).unwrap();
        fs::write(home.join("policy.toml"), &text).unwrap();
    }
    let signature = |party| stage.party(party).join("policy.toml.sig");
    let sign = |party: u32| {
        let mut sign = sprifed();
        sign.args(["study", "sign-policy"])
            .arg(stage.party(party).join("policy.toml"));
        sign.arg("--officer").arg(&officer);
        sign.arg("--party")
            .arg(stage.party(party).join("party.json"));
        succeed(&mut sign);
    };
    sign(0);
    succeed(stage.join(0).arg("--check"));
    fs::copy(signature(0), signature(1)).unwrap();
    let unsigned = "sprifed::policy::unsigned";
    let mut seen = stage.transcript();
    let said = refused_as(stage.join(1).arg("--check"), 1, unsigned);
    seen.add("check", &said);
    seen.add("join", &refused_as(&mut stage.join(1), 1, unsigned));
    insta::assert_snapshot!(seen);
    assert!(!stage.party(1).join("ledger.sqlite").exists());
    sign(1);
    succeed(stage.join(1).arg("--check"));
}

#[test]
fn no_key_of_a_party_is_made_by_another() {
    let stage = Stage::new("requests", small());
    for file in fs::read_dir(stage.study().join("for-p0")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(
            ["invitation.json", "authority.pem", "tls.pem"].contains(&name.as_str()),
            "{name}"
        );
    }
    let keys = fs::read_dir(stage.study().join("tls")).unwrap();
    let keys = keys.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".key")
    });
    assert_eq!(keys.count(), 2, "the authority's and the coordinator's");
    // A request that was put in on its way gets no certificate.
    let path = stage.party(0).join("party.json");
    let mut public = super::stage::json_at(&path);
    let good = public.clone();
    let other = super::stage::json_at(&stage.party(1).join("party.json"));
    public["certificate_request"] = other["certificate_request"].clone();
    fs::write(&path, public.to_string()).unwrap();
    let mut seen = stage.transcript();
    let code = "sprifed::study::certificate-request";
    let said = refused_as(&mut stage.init_command("swapped"), 2, code);
    seen.add("another party's", &said);
    public
        .as_object_mut()
        .unwrap()
        .remove("certificate_request");
    fs::write(&path, public.to_string()).unwrap();
    let said = refused_as(&mut stage.init_command("swapped"), 2, code);
    seen.add("none", &said);
    assert!(!stage.folder.join("swapped").exists());
    fs::write(&path, good.to_string()).unwrap();
    // A certificate for another key is noticed before anything is spent.
    fs::copy(
        stage.party(1).join("tls.key"),
        stage.party(0).join("tls.key"),
    )
    .unwrap();
    let said = refused_as(&mut stage.join(0), 2, "sprifed::study::settings");
    seen.add("a certificate for another key", &said);
    insta::assert_snapshot!(seen);
    assert!(!stage.party(0).join("ledger.sqlite").exists());
}

#[test]
fn a_table_that_cannot_be_used_is_explained_before_anything_is_agreed() {
    let stage = Stage::new("check-table", Kind::default());
    let good = fs::read_to_string(stage.table(0)).unwrap();
    fs::write(stage.table(0), good.replace(',', ";")).unwrap();
    let (code, answer) = said(stage.join(0).arg("--check"));
    assert_eq!(code, Some(1));
    let problem = answer["problems"][0].as_str().unwrap();
    assert!(problem.contains("separated by semicolons"), "{problem}");
    let (code, _) = said(stage.join(0).args(["--check", "--separator", ";"]));
    assert_eq!(code, Some(0));
    // Two cells that cannot be used, each named by its column and line.
    let mut lines: Vec<Vec<&str>> = good.lines().map(|line| line.split(',').collect()).collect();
    (lines[1][0], lines[2][1]) = ("inf", "2021-03-04");
    let lines: Vec<String> = lines.iter().map(|cells| cells.join(",")).collect();
    fs::write(stage.table(0), lines.join("\n") + "\n").unwrap();
    let (code, answer) = said(stage.join(0).arg("--check"));
    assert_eq!(code, Some(1));
    let problems = answer["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0]
            .as_str()
            .unwrap()
            .contains("line 2: infinite value")
    );
    assert!(problems[1].as_str().unwrap().contains("line 3: a date"));
}
