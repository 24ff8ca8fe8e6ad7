//! A party that goes before the end, and one that does not believe how it ended.

use std::fs;
use std::process::Command;

use serde_json::Value;
use sprifed_party::StudyFolder;
use sprifed_study::JournalLine;

use super::ledger::{
    allow_in_total, begin_and_kill, finished, second_study, small, status, study_of,
};
use super::stage::{
    Kind, Running, Stage, code_of, refusal_in, refused, refused_as, sprifed, succeed, wait_until,
};

fn leave(stage: &Stage, party: u32) -> Command {
    let mut command = sprifed();
    command.args(["study", "leave", "--json"]);
    command.arg(study_of(stage, party));
    command
}

fn left(stage: &Stage, party: u32) -> Value {
    serde_json::from_slice(&succeed(&mut leave(stage, party)).stdout).unwrap()
}

/// Another ledger of party 0 with the same lines, which counts no entry of a journal.
fn rewrite_ledger(stage: &Stage) {
    let path = stage.party(0).join("ledger.sqlite");
    let view = sprifed_party::LifetimeLedger::look_into(&path).unwrap();
    for path in [&path, &path.with_extension("head")] {
        fs::remove_file(path).unwrap();
    }
    fs::remove_file(stage.folder.join(".sprifed/p0.csv.json")).unwrap();
    let key = fs::read_to_string(stage.party(0).join("identity.key")).unwrap();
    let key = sprifed_study::Digest::try_from(key.trim().to_owned()).unwrap();
    let signer = sprifed_secure_sum::IdentityKey::from_stored(&key.0);
    let mut ledger = sprifed_party::LifetimeLedger::open(&path, &signer).unwrap();
    for line in view.lines() {
        ledger.reserve(line).unwrap();
        ledger.settle(&line.study, line.cost).unwrap();
    }
}

fn patient() -> Kind {
    Kind {
        patience: 3600,
        ..small(false)
    }
}

#[test]
fn a_party_that_leaves_is_charged_the_ceiling_and_answers_nothing_more() {
    let stage = Stage::new("leave", patient());
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    wait_until("a first sum", || {
        fs::read_to_string(&log).is_ok_and(|log| log.contains("\"closed\":\"uploads of sum 1\""))
    });
    // The coordinator dies and never comes back.
    coordinator.kill();
    let mut seen = stage.transcript();
    let said = refused_as(&mut leave(&stage, 0), 3, "sprifed::study::environment");
    seen.add("leave while `join` runs", &said);
    parties.drain(..).for_each(Running::kill);

    let ledger = stage.party(0).join("ledger.sqlite");
    let head = ledger.with_extension("head");
    let reserved = [&ledger, &head].map(|path| (path, fs::read(path).unwrap()));
    let (before, _) = status(stage.party(0));
    let before = &before["studies"][0];
    assert_eq!(
        (&before["left"], &before["settled"]),
        (&false.into(), &false.into())
    );
    let charged = left(&stage, 0);
    let epsilon = charged["charged_epsilon"].as_f64().unwrap();
    // When it leaves may depend on what was released, so the sums alone are not what it costs.
    let spent = before["epsilon_spent"].as_f64().unwrap();
    assert!(spent > 0.0 && spent < epsilon);
    assert_eq!(charged["charged_epsilon"], Stage::CEILING);
    assert_eq!(charged["charged_epsilon"], before["epsilon_counted"]);
    assert_eq!(charged["charged_delta"], 1e-6);
    let (after, words) = status(stage.party(0));
    let study = &after["studies"][0];
    assert_eq!(
        (&study["left"], &study["settled"]),
        (&true.into(), &true.into())
    );
    assert_eq!(study["epsilon_counted"], charged["charged_epsilon"]);
    let shown = sprifed_privacy::shown_cost(spent);
    seen.hide(
        format!("spent epsilon = {shown}"),
        "spent epsilon = [spent]",
    );
    seen.add("status after it left", &words);
    for (command, code) in [
        (&mut stage.join(0), "sprifed::ledger::refused"),
        (stage.join(0).arg("--check"), "sprifed::study::over"),
    ] {
        let said = refused_as(command, 1, code);
        seen.add("join after it left", &said);
    }

    // Broken off after the journal and before the ledger: again, it is finished.
    for (path, bytes) in &reserved {
        fs::write(path, bytes).unwrap();
    }
    let (torn, words) = status(stage.party(0));
    assert_eq!(torn["studies"][0]["settled"], false);
    seen.add("status after half of it", &words);
    insta::assert_snapshot!(seen);
    for _ in 0..2 {
        assert_eq!(left(&stage, 0), charged);
        assert_eq!(status(stage.party(0)).0, after);
    }
}

#[test]
fn a_party_that_leaves_before_any_sum_has_its_whole_budget_back() {
    let stage = Stage::new("leave-early", patient());
    begin_and_kill(&stage);
    let mut second = second_study(&stage);
    allow_in_total(&stage, "100.0");
    let mut seen = stage.transcript();
    let said = refused_as(&mut second, 1, "sprifed::policy::refused");
    seen.add("a second study", &said);

    // A journal that was emptied knows nothing of what was charged.
    let journal = study_of(&stage, 0).join("state.sqlite");
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, "").unwrap();
    let said = refused_as(&mut leave(&stage, 0), 1, "sprifed::study::state-lost");
    seen.add("leave without a journal", &said);
    insta::assert_snapshot!(seen);
    fs::write(&journal, whole).unwrap();
    refused(&mut second, 1);

    let charged = left(&stage, 0);
    assert_eq!(charged["charged_epsilon"], 0.0);
    assert_eq!(charged["charged_delta"], 0.0);
    let allowed: Value = serde_json::from_slice(&succeed(&mut second).stdout).unwrap();
    assert_eq!(allowed["spent_elsewhere"]["epsilon"], 0.0);
}

#[test]
fn only_a_study_of_a_party_that_is_not_over_can_be_left() {
    let stage = finished("leave-late", small(false));
    refused_as(&mut leave(&stage, 0), 1, "sprifed::study::over");
    for folder in [stage.party(0), stage.study()] {
        let mut leave = sprifed();
        leave.args(["study", "leave"]).arg(folder);
        refused_as(&mut leave, 2, "sprifed::study::not-a-study");
    }
}

#[test]
fn a_party_that_does_not_believe_the_receipt_ends_and_keeps_what_it_was_charged() {
    // With repeatable noise, so that the key of the study can still be made after its end.
    let stage = finished("disbelief", small(true));
    let study = study_of(&stage, 0);
    let (before, _) = status(stage.party(0));
    // A journal from before the second sum, as an old copy that was put back.
    fs::remove_file(study.join("receipt.json")).unwrap();
    let stored = StudyFolder::new(&study).look_into().unwrap().unwrap();
    let is_upload = |line: &JournalLine| matches!(line, JournalLine::Uploaded { .. });
    let first = stored.lines.iter().position(is_upload).unwrap();
    let journal = rusqlite::Connection::open(study.join("state.sqlite")).unwrap();
    let number = "SELECT number FROM entries ORDER BY number LIMIT 1 OFFSET ?1";
    let first = i64::try_from(first).unwrap();
    let first: i64 = journal
        .query_row(number, [first], |row| row.get(0))
        .unwrap();
    journal
        .execute_batch("DELETE FROM ended; DELETE FROM artefacts")
        .unwrap();
    let deleted = journal.execute("DELETE FROM entries WHERE number > ?1", [first]);
    assert!(deleted.unwrap() > 2);
    drop(journal);
    let mut seen = stage.transcript();
    let said = refused_as(&mut stage.join(0), 1, "sprifed::study::ended");
    seen.hide_after("sqlite` has ", &said);
    seen.hide_after("but had ", &said);
    seen.add("an old journal", &said);
    // Put back together with the ledger, it is believed; the receipt tells.
    rewrite_ledger(&stage);
    let log = stage.folder.join("again.log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let ended = Running::start(&mut stage.join(0), &log).finish();
    let said = fs::read_to_string(&log).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert_eq!(code_of(&said), "sprifed::study::refused-by-party");
    seen.add("an old journal and an old ledger", &refusal_in(&said));
    insta::assert_snapshot!(seen);
    coordinator.kill();
    let (after, _) = status(stage.party(0));
    assert_eq!(after["totals"], before["totals"]);
}

#[test]
fn a_study_that_is_over_has_no_key_left_and_its_receipt_is_delivered_again() {
    let stage = finished("over", small(false));
    let study = study_of(&stage, 0);
    assert!(!study.join("party.key").exists());
    let receipt = fs::read(study.join("receipt.json")).unwrap();
    fs::remove_file(study.join("receipt.json")).unwrap();
    succeed(&mut stage.join(0));
    assert_eq!(fs::read(study.join("receipt.json")).unwrap(), receipt);
    // A journal from before the end is of no use without the key.
    let journal = rusqlite::Connection::open(study.join("state.sqlite")).unwrap();
    journal
        .execute_batch("DELETE FROM ended; DELETE FROM artefacts")
        .unwrap();
    drop(journal);
    let said = refused_as(&mut stage.join(0), 1, "sprifed::study::state-lost");
    let mut seen = stage.transcript();
    seen.add("no key", &said);
    insta::assert_snapshot!(seen);
}
