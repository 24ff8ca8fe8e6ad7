//! What a party has spent in all its studies, and what it notices when that is gone.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::stage::{Kind, Running, Stage, all_succeed, sprifed, succeed};

pub(super) fn small(simulated: bool) -> Kind {
    Kind {
        records: 60,
        stay: 5,
        simulated,
        ..Kind::default()
    }
}

pub(super) fn finished(name: &str, kind: Kind) -> Stage {
    let stage = Stage::new(name, kind);
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let parties = (0..3).map(|party| Running::start(&mut stage.join(party), &log));
    all_succeed(parties.collect(), coordinator, &log);
    stage
}

pub(super) fn refused(command: &mut Command, code: i32) -> String {
    let ended = command.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(code), "{said}");
    said
}

pub(super) fn status(folder: PathBuf) -> (Value, String) {
    let mut command = sprifed();
    command.args(["study", "status"]).arg(folder);
    let words = String::from_utf8(succeed(&mut command).stdout).unwrap();
    let json = succeed(command.arg("--json")).stdout;
    (serde_json::from_slice(&json).unwrap(), words)
}

/// An invitation of party 0 to a second study, which its policy allows but for its totals.
pub(super) fn second_study(stage: &Stage) -> Command {
    stage.init("second");
    let invitation = super::stage::json_at(&stage.folder.join("second/invitation.json"));
    let path = stage.party(0).join("policy.toml");
    let policy = fs::read_to_string(&path).unwrap();
    let key = format!(
        "coordinators = [{},",
        invitation["agreement"]["coordinator"]
    );
    fs::write(&path, policy.replacen("coordinators = [", &key, 1)).unwrap();
    let mut command = sprifed();
    command.arg("join").arg(stage.folder.join("second/for-p0"));
    command.arg("--identity").arg(stage.party(0));
    command.arg("--data").arg(stage.table(0));
    command.args(["--check", "--json"]);
    command
}

#[test]
fn a_party_sees_what_it_agreed_to_and_spent_and_a_second_study_counts_on_top() {
    let stage = finished("lifetime", small(false));
    let (found, words) = status(stage.party(0));
    let study = &found["studies"][0];
    let charged = stage.charged(0);
    assert_eq!(found["party"], "p0");
    assert_eq!(study["state"], "over: complete");
    assert_eq!(study["protected"], true);
    assert_eq!(study["agreed"]["parties"], 3);
    assert!((study["epsilon_spent"].as_f64().unwrap() - charged).abs() < 1e-12);
    let total = &found["totals"]["by_unit_and_neighbours"][0];
    assert_eq!(
        (&total["unit"], &total["neighbours"]),
        (&"record".into(), &"zero-out".into())
    );
    assert!((total["epsilon"].as_f64().unwrap() - charged).abs() < 1e-12);
    assert_eq!(total["delta"], 1e-6);
    assert!(
        words.contains("in all, for each record under zero-out"),
        "{words}"
    );
    let folder = fs::read_dir(stage.party(0)).unwrap();
    let mut folder = folder.map(|entry| entry.unwrap().path());
    let (one, _) = status(folder.find(|path| path.is_dir()).unwrap());
    assert_eq!(one, found);

    let mut check = second_study(&stage);
    let allowed: Value = serde_json::from_slice(&succeed(&mut check).stdout).unwrap();
    assert_eq!(allowed["spent_elsewhere"]["delta"], 1e-6);
    let path = stage.party(0).join("policy.toml");
    let policy = fs::read_to_string(&path).unwrap();
    for (key, tight, word) in [
        (
            "largest-delta-in-total = 1e-5",
            "largest-delta-in-total = 1.5e-6",
            "the delta of this",
        ),
        (
            "largest-epsilon-in-total = 200.0",
            "largest-epsilon-in-total = 100.0",
            "the cost of this",
        ),
        (
            "neighbours = [\"zero-out\"]",
            "neighbours = [\"replace-one\"]",
            "neighbours",
        ),
    ] {
        assert!(policy.contains(key), "{policy}");
        fs::write(&path, policy.replace(key, tight)).unwrap();
        let said = refused(&mut check, 1);
        assert!(
            said.contains(word) && said.contains("nothing was spent"),
            "{said}"
        );
        // A policy of an earlier version is told what it lacks.
        fs::write(&path, policy.replace(key, "")).unwrap();
        let name = key.split(' ').next().unwrap();
        let said = refused(&mut check, 2);
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn a_study_that_protects_nobody_is_shown_and_in_no_total() {
    let stage = finished("unprotected", small(true));
    let (found, words) = status(stage.party(0));
    let study = &found["studies"][0];
    assert_eq!(study["protected"], false);
    assert!(study["epsilon_spent"].is_null() && study["epsilon_counted"].is_null());
    assert_eq!(found["totals"]["unprotected_studies"], 1);
    let totals = &found["totals"]["by_unit_and_neighbours"];
    assert_eq!(*totals, serde_json::json!([]));
    assert!(words.contains("NOT PROTECTED"), "{words}");
    let mut check = second_study(&stage);
    let allowed: Value = serde_json::from_slice(&succeed(&mut check).stdout).unwrap();
    assert_eq!(allowed["spent_elsewhere"]["epsilon"], 0.0);
    assert_eq!(allowed["unprotected_studies"], 1);
    assert_eq!(allowed["protected"], false);
}

#[test]
fn a_ledger_that_was_deleted_or_emptied_is_missed() {
    let stage = finished("ledger-lost", small(false));
    let path = stage.party(0).join("ledger.sqlite");
    let whole = fs::read(&path).unwrap();
    let mut join = second_study(&stage);
    succeed(&mut join);
    fs::remove_file(&path).unwrap();
    let said = refused(&mut join, 1);
    assert!(
        said.contains("is gone") && said.contains("study-"),
        "{said}"
    );
    assert!(said.contains("restore the ledger"), "{said}");
    assert!(!path.exists(), "a new one was made");
    let said = refused(&mut stage.join(0), 1);
    assert!(said.contains("is gone"), "{said}");
    let (found, _) = status(stage.party(0));
    assert_eq!(found["missing_in_ledger"].as_array().unwrap().len(), 1);
    let emptied: [&dyn Fn(); 2] = [&|| fs::write(&path, "").unwrap(), &|| {
        fs::write(&path, &whole).unwrap();
        let ledger = rusqlite::Connection::open(&path).unwrap();
        ledger
            .execute_batch("DELETE FROM kinds; DELETE FROM studies")
            .unwrap();
    }];
    for empty in emptied {
        empty();
        let said = refused(&mut join, 1);
        assert!(
            said.contains("knows 0 studies") && said.contains("study-"),
            "{said}"
        );
    }
    fs::write(&path, &whole).unwrap();
    succeed(&mut join);
}

#[test]
fn a_folder_in_which_nothing_was_sent_is_no_reason_to_refuse() {
    let stage = Stage::new("nothing-sent", small(true));
    // The table can not be read, so the reservation is taken back and the folder with it.
    let table = fs::read(stage.table(0)).unwrap();
    fs::write(stage.table(0), "y,x0\n1,none\n").unwrap();
    let first = stage.join(0).output().unwrap();
    assert_ne!(first.status.code(), Some(0));
    let mut left = fs::read_dir(stage.party(0)).unwrap();
    assert!(!left.any(|entry| entry.unwrap().path().is_dir()));
    fs::write(stage.table(0), table).unwrap();
    // As a kill leaves it before the ledger knows of the study: a folder and nothing in it.
    fs::create_dir(stage.party(0).join("study-0123456789abcdef")).unwrap();
    fs::remove_file(stage.party(0).join("ledger.sqlite")).unwrap();
    succeed(stage.join(0).arg("--check"));
    // A key without the journal that comes before it was lost.
    let key = stage.party(0).join("study-0123456789abcdef/party.key");
    fs::write(key, "00").unwrap();
    fs::remove_file(stage.party(0).join("ledger.sqlite")).unwrap();
    refused(stage.join(0).arg("--check"), 1);
}

#[test]
fn a_second_study_can_be_looked_at_while_a_first_waits() {
    let stage = Stage::new("two-at-once", small(true));
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let waits = Running::start(&mut stage.join(0), &log);
    let begun = || fs::read_to_string(&log).is_ok_and(|log| log.contains("\"client\":\"p0\""));
    super::stage::wait_until("the first party", begun);
    let policy = stage.party(0).join("policy.toml");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(
        &policy,
        text.replace("in-total = 200.0", "in-total = 1000.0"),
    )
    .unwrap();
    succeed(&mut second_study(&stage));
    // The same study a second time is another matter: its journal is in use.
    refused(&mut stage.join(0), 3);
    waits.kill();
    coordinator.kill();
}
