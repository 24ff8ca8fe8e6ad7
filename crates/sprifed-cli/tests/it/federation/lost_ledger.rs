//! A ledger that is lost: every command says so, and one command begins a new one that forgets nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::ledger::{
    allow_in_total, begin_and_kill, finished, second_study, small, status, study_of,
};
use super::stage::{Kind, Stage, json_at, refused_as, sprifed, succeed};

fn ledger(task: &str, folder: &Path) -> Command {
    let mut command = sprifed();
    command.args(["ledger", task]).arg(folder);
    command
}

/// Everything that opens the ledger of party 0.
fn openers(stage: &Stage) -> [(&'static str, Command); 9] {
    let party = stage.party(0);
    let mut check = stage.join(0);
    check.arg("--check");
    let mut export = ledger("export", &party);
    export.arg("--out").arg(stage.folder.join("log.jsonl"));
    let mut limit = ledger("limit", &party);
    limit.args(["--epsilon", "900", "--delta", "1e-4"]);
    let mut fit = sprifed();
    fit.arg("fit").arg(stage.folder.join("own.csv"));
    fit.arg("--schema").arg(stage.folder.join("schema.toml"));
    fit.args(["--sparsity", "2", "--epsilon", "1", "--delta", "1e-6"]);
    fit.arg("--out").arg(stage.folder.join("model.json"));
    fit.arg("--ledger").arg(&party);
    let mut status = sprifed();
    status.args(["study", "status"]).arg(&party);
    let mut leave = sprifed();
    leave.args(["study", "leave"]).arg(study_of(stage, 0));
    [
        ("check", check),
        ("join", stage.join(0)),
        ("fit", fit),
        ("show", ledger("show", &party)),
        ("export", export),
        ("verify", ledger("verify", &party)),
        ("limit", limit),
        ("status", status),
        ("leave", leave),
    ]
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_in(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

#[test]
fn every_command_refuses_a_lost_ledger_with_the_same_recipe() {
    let stage = finished("lost-everywhere", small(false));
    let table = fs::read_to_string(stage.table(1)).unwrap();
    let shorter: Vec<&str> = table.lines().take(50).collect();
    fs::write(stage.folder.join("own.csv"), shorter.join("\n")).unwrap();
    let path = stage.party(0).join("ledger.sqlite");
    let head = path.with_extension("head");
    let whole = [&path, &head].map(|file| fs::read(file).unwrap());
    let mut seen = stage.transcript();
    for (case, lost) in [
        ("no head", vec![&head]),
        ("no file", vec![&path]),
        // Only the folder of the study tells.
        ("neither", vec![&path, &head]),
    ] {
        for file in &lost {
            fs::remove_file(file).unwrap();
        }
        let before = files_in(&stage.party(0));
        for (task, mut command) in openers(&stage) {
            let said = refused_as(&mut command, 1, "sprifed::ledger::refused");
            match (case, task) {
                ("no head", "check") => seen.hide_after("it has ", &said),
                ("no file", "check") => seen.hide_after("it had ", &said),
                _ => (),
            }
            seen.add(format!("{case}: {task}"), &said);
        }
        assert_eq!(files_in(&stage.party(0)), before, "a file was made");
        for (file, content) in [&path, &head].into_iter().zip(&whole) {
            fs::write(file, content).unwrap();
        }
    }
    status(stage.party(0));
    insta::assert_snapshot!(seen);
}

#[test]
fn a_check_makes_no_file() {
    let stage = Stage::new("check-writes-nothing", small(false));
    let before = files_in(&stage.folder);
    succeed(stage.join(0).arg("--check"));
    assert_eq!(files_in(&stage.folder), before);
    // Nor where there is a ledger.
    let mut limit = ledger("limit", &stage.party(0));
    succeed(limit.args(["--epsilon", "900", "--delta", "1e-4"]));
    let before = files_in(&stage.folder);
    succeed(stage.join(0).arg("--check"));
    assert_eq!(files_in(&stage.folder), before);
}

fn restart(stage: &Stage, epsilon: &str) -> Command {
    let mut command = ledger("restart", &stage.party(0));
    command.args(["--spent-epsilon", epsilon, "--spent-delta", "0", "--json"]);
    command.arg("--data").arg(stage.folder.join("p0.csv"));
    command
}

fn lose(stage: &Stage) {
    for name in ["ledger.sqlite", "ledger.head"] {
        let _ = fs::remove_file(stage.party(0).join(name));
    }
}

/// A study that party 0 has begun and in which something was sent.
fn begun(name: &str) -> Stage {
    let kind = Kind {
        patience: 3600,
        ..small(false)
    };
    let stage = Stage::new(name, kind);
    begin_and_kill(&stage);
    stage
}

fn total(answer: &Value) -> f64 {
    let totals = &answer["totals"]["by_unit_and_neighbours"];
    let of_records = totals
        .as_array()
        .unwrap()
        .iter()
        .find(|total| total["unit"] == "record");
    of_records.unwrap()["epsilon"].as_f64().unwrap()
}

#[test]
fn a_restarted_ledger_never_lets_a_begun_study_be_joined_again() {
    let stage = begun("rejoin");
    lose(&stage);
    let answer: Value = serde_json::from_slice(&succeed(&mut restart(&stage, "3")).stdout).unwrap();
    // The begun study counts with the most it can cost: it has no receipt.
    let invitation = status(stage.party(0)).0;
    let most = invitation["studies"][0]["agreed"]["largest_epsilon"]
        .as_f64()
        .unwrap();
    assert!((total(&answer) - (most + 3.0)).abs() < 1e-9, "{answer}");
    // With its folder, and after it was moved away, and with the party's key alone.
    let folder = study_of(&stage, 0);
    let aside = stage.folder.join("aside");
    let mut seen = stage.transcript();
    for state in ["there", "moved"] {
        for (command, code) in [
            (&mut stage.join(0), "sprifed::ledger::refused"),
            (stage.join(0).arg("--check"), "sprifed::study::over"),
        ] {
            let said = refused_as(command, 1, code);
            seen.add(format!("join, its folder is {state}"), &said);
        }
        if state == "there" {
            fs::rename(&folder, &aside).unwrap();
        }
    }
    assert!(!folder.exists(), "a study was begun anew");
    fs::rename(&aside, &folder).unwrap();
    // The mark beside the table names the lost ledger, and is no reason to refuse a new study.
    allow_in_total(&stage, "1000.0");
    let allowed: Value =
        serde_json::from_slice(&succeed(&mut second_study(&stage)).stdout).unwrap();
    let spent = allowed["spent_elsewhere"]["epsilon"].as_f64().unwrap();
    assert!((spent - (most + 3.0)).abs() < 1e-9, "{allowed}");
    // To leave it erases its keys; the ledger counts what it counted.
    assert!(folder.join("party.key").exists());
    succeed(sprifed().args(["study", "leave"]).arg(&folder));
    assert!(!folder.join("party.key").exists());
    let (after, words) = status(stage.party(0));
    assert!((total(&after) - (most + 3.0)).abs() < 1e-9, "{after}");
    seen.add("status", &words);
    let log = stage.folder.join("log.jsonl");
    succeed(ledger("export", &stage.party(0)).arg("--out").arg(&log));
    let verified = succeed(sprifed().args(["ledger", "verify"]).arg(&log)).stdout;
    let verified = String::from_utf8(verified).unwrap();
    seen.hide_after("as of ", &verified);
    seen.add("verify", &verified);
    insta::assert_snapshot!(seen);
    let text = fs::read_to_string(&log).unwrap();
    assert!(!text.contains(&stage.folder.display().to_string()));
}

#[test]
fn a_study_with_a_receipt_is_carried_over_at_what_it_cost() {
    let stage = finished("carried", small(false));
    // The ledger can be read: there is nothing to restart.
    let said = refused_as(&mut restart(&stage, "0"), 1, "sprifed::ledger::refused");
    let mut seen = stage.transcript();
    seen.add("restart", &said);
    insta::assert_snapshot!(seen);
    let before = status(stage.party(0)).0;
    lose(&stage);
    let answer: Value = serde_json::from_slice(&succeed(&mut restart(&stage, "0")).stdout).unwrap();
    assert!((total(&answer) - Stage::CEILING).abs() < 1e-12, "{answer}");
    assert_eq!(status(stage.party(0)).0["totals"], before["totals"]);
    // A receipt of another party is not believed: the study counts with the most it can cost.
    let receipt = study_of(&stage, 0).join("receipt.json");
    let mut other = fs::read_dir(stage.party(1))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let other = other.find(|path| path.is_dir()).unwrap();
    fs::copy(other.join("receipt.json"), &receipt).unwrap();
    lose(&stage);
    let answer: Value = serde_json::from_slice(&succeed(&mut restart(&stage, "0")).stdout).unwrap();
    assert!(total(&answer) >= Stage::CEILING - 1e-9, "{answer}");
}

#[test]
fn what_can_be_read_of_a_damaged_ledger_is_carried_over() {
    let stage = Stage::new("salvaged", small(false));
    let own = stage.folder.join("own.csv");
    fs::copy(stage.table(0), &own).unwrap();
    let mut fit = sprifed();
    fit.arg("fit").arg(&own);
    fit.arg("--schema").arg(stage.folder.join("schema.toml"));
    fit.args(["--sparsity", "2", "--epsilon", "1", "--delta", "1e-6"]);
    fit.arg("--out").arg(stage.folder.join("model.json"));
    fit.arg("--ledger").arg(stage.party(0));
    // So little is found with this budget that the model is not to be relied on; what counts here is what was spent.
    let fits = |fit: &mut Command| {
        let code = crate::process::output_of(fit).status.code();
        assert!(matches!(code, Some(0 | 5)), "{code:?}");
    };
    fits(&mut fit);
    let mut limit = ledger("limit", &stage.party(0));
    succeed(limit.args(["--epsilon", "900", "--delta", "1e-4"]));
    let shown = |stage: &Stage| -> Value {
        let shown = succeed(ledger("show", &stage.party(0)).arg("--json")).stdout;
        serde_json::from_slice(&shown).unwrap()
    };
    let before = shown(&stage);
    fs::remove_file(stage.party(0).join("ledger.head")).unwrap();
    succeed(&mut restart(&stage, "0"));
    let after = shown(&stage);
    assert_eq!(after["totals"], before["totals"]);
    assert_eq!(after["limit"], before["limit"]);
    assert_eq!(after["restarted"], true);
    assert_eq!(after["lines"][0]["data"], before["lines"][0]["data"]);
    // The file as it was is kept.
    let kept = fs::read_dir(stage.party(0)).unwrap();
    let mut kept = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(kept.any(|name| name.starts_with("ledger.lost-")));
    // The table is still accounted for in this ledger.
    fits(fit.arg("--force"));
}

#[test]
fn a_study_whose_folder_is_lost_too_is_named_by_its_invitation() {
    let stage = begun("named");
    let invitation = stage.study().join("for-p0");
    lose(&stage);
    fs::remove_dir_all(study_of(&stage, 0)).unwrap();
    fs::remove_file(stage.folder.join(".sprifed/p0.csv.json")).unwrap();
    let mut named = restart(&stage, "0");
    succeed(named.arg("--begun").arg(&invitation));
    let said = refused_as(&mut stage.join(0), 1, "sprifed::ledger::refused");
    let mut seen = stage.transcript();
    seen.add("join", &said);
    insta::assert_snapshot!(seen);
    let key = json_at(&stage.party(0).join("party.json"))["identity"].clone();
    let mut verify = ledger("verify", &stage.party(0));
    succeed(verify.args(["--key", key.as_str().unwrap()]));
}
