//! What a party has spent in all its studies, and what it notices when that is gone.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::stage::{
    Kind, Running, Stage, all_succeed, output_of, refused, refused_as, sprifed, stored, succeed,
    wait_until,
};

/// The code of a ledger that allows nothing.
const REFUSED: &str = "sprifed::ledger::refused";

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
    second_again(stage)
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
    assert_eq!(total["epsilon"], Stage::CEILING);
    assert_eq!(total["delta"], 1e-6);
    let mut seen = stage.transcript();
    seen.add("status", &words);
    let folder = fs::read_dir(stage.party(0)).unwrap();
    let mut folder = folder.map(|entry| entry.unwrap().path());
    let (one, _) = status(folder.find(|path| path.is_dir()).unwrap());
    assert_eq!(one, found);

    let mut check = second_study(&stage);
    let allowed: Value = serde_json::from_slice(&succeed(&mut check).stdout).unwrap();
    assert_eq!(allowed["spent_elsewhere"]["delta"], 1e-6);
    let path = stage.party(0).join("policy.toml");
    let policy = fs::read_to_string(&path).unwrap();
    for (key, tight) in [
        (
            "largest-delta-in-total = 1e-5",
            "largest-delta-in-total = 1.5e-6",
        ),
        (
            "largest-epsilon-in-total = 200.0",
            "largest-epsilon-in-total = 100.0",
        ),
        (
            "neighbours = [\"zero-out\"]",
            "neighbours = [\"replace-one\"]",
        ),
    ] {
        assert!(policy.contains(key), "{policy}");
        fs::write(&path, policy.replace(key, tight)).unwrap();
        seen.add(
            tight,
            &refused_as(&mut check, 1, "sprifed::policy::refused"),
        );
        fs::write(&path, policy.replace(key, "")).unwrap();
        let said = refused_as(&mut check, 2, "sprifed::policy::incomplete");
        seen.add(format!("without {key}"), &said);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_study_that_protects_no_record_is_shown_and_in_no_total() {
    let stage = finished("unprotected", small(true));
    let (found, words) = status(stage.party(0));
    let study = &found["studies"][0];
    assert_eq!(study["protected"], false);
    assert!(study["epsilon_spent"].is_null() && study["epsilon_counted"].is_null());
    assert_eq!(found["totals"]["unprotected_studies"], 1);
    let totals = &found["totals"]["by_unit_and_neighbours"];
    assert_eq!(*totals, serde_json::json!([]));
    let mut seen = stage.transcript();
    seen.add("status", &words);
    insta::assert_snapshot!(seen);
    let mut check = second_study(&stage);
    let allowed: Value = serde_json::from_slice(&succeed(&mut check).stdout).unwrap();
    assert_eq!(allowed["spent_elsewhere"]["epsilon"], 0.0);
    assert_eq!(allowed["unprotected_studies"], 1);
    assert_eq!(allowed["protected"], false);
}

#[test]
fn a_ledger_that_was_deleted_changed_or_put_back_is_missed() {
    let stage = finished("ledger-lost", small(false));
    let path = stage.party(0).join("ledger.sqlite");
    let (head, mark) = (path.with_extension("head"), mark_of(&stage, 0));
    let whole = fs::read(&path).unwrap();
    let mut join = second_study(&stage);
    succeed(&mut join);
    fs::remove_file(&path).unwrap();
    let mut seen = stage.transcript();
    let mut status = sprifed();
    status.args(["study", "status"]).arg(stage.party(0));
    for (case, command) in [
        ("join another study", &mut join),
        ("join the same study", &mut stage.join(0)),
        ("status", &mut status),
    ] {
        let said = refused_as(command, 1, REFUSED);
        seen.hide_after("it had ", &said);
        seen.add(case, &said);
        assert!(!path.exists(), "a new one was made");
    }
    // Without the witness the folder of the study tells.
    let witness = fs::read(&head).unwrap();
    fs::remove_file(&head).unwrap();
    seen.add("no witness", &refused_as(&mut join, 1, REFUSED));
    assert!(!path.exists(), "a new one was made");
    // Without the study's folder the mark beside the table tells.
    let (study, aside) = (study_of(&stage, 0), stage.folder.join("aside"));
    fs::rename(&study, &aside).unwrap();
    seen.add("no study", &refused_as(&mut join, 1, REFUSED));
    assert!(mark.exists());
    fs::rename(&aside, &study).unwrap();
    fs::write(&head, witness).unwrap();

    for sql in [
        "DELETE FROM entries",
        "DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)",
        "UPDATE entries SET entry = replace(entry, 'zero-out', 'replace-one') WHERE number = 1",
        "UPDATE entries SET signature = '00'",
    ] {
        fs::write(&path, &whole).unwrap();
        let ledger = rusqlite::Connection::open(&path).unwrap();
        assert!(ledger.execute(sql, []).unwrap() > 0);
        drop(ledger);
        for (task, mut command) in [
            ("join", second_again(&stage)),
            ("show", ledger_command("show", &stage)),
        ] {
            let said = refused_as(&mut command, 1, REFUSED);
            if sql.starts_with("DELETE FROM entries WHERE") {
                seen.hide_after("it has ", &said);
            } else if sql.starts_with("DELETE") {
                seen.hide_after("but had ", &said);
            }
            seen.add(format!("{task} after {sql}"), &said);
        }
    }
    fs::write(&path, &whole).unwrap();
    succeed(&mut join);
    insta::assert_snapshot!(seen);
}

/// The policy of party 0 allows this much in total.
pub(super) fn allow_in_total(stage: &Stage, most: &str) {
    let policy = stage.party(0).join("policy.toml");
    let text = fs::read_to_string(&policy).unwrap();
    let changed = text.replace("in-total = 200.0", &format!("in-total = {most}"));
    assert_ne!(text, changed);
    fs::write(&policy, changed).unwrap();
}

/// Party 0 begins and sends its keys, then it and the coordinator are killed.
pub(super) fn begin_and_kill(stage: &Stage) {
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let party = Running::start(&mut stage.join(0), &log);
    let state = stage.study().join("state.sqlite");
    wait_until("its keys", || stored(&state).len() == 1);
    party.kill();
    coordinator.kill();
}

/// The check of the second study, once more.
fn second_again(stage: &Stage) -> Command {
    let mut command = sprifed();
    command.arg("join").arg(stage.folder.join("second/for-p0"));
    command.arg("--identity").arg(stage.party(0));
    command.arg("--data").arg(stage.table(0));
    command.args(["--check", "--json"]);
    command
}

fn ledger_command(task: &str, stage: &Stage) -> Command {
    let mut command = sprifed();
    command.args(["ledger", task]).arg(stage.party(0));
    command
}

fn mark_of(stage: &Stage, party: u32) -> PathBuf {
    stage.folder.join(format!(".sprifed/p{party}.csv.json"))
}

/// The folder of the party's only study.
pub(super) fn study_of(stage: &Stage, party: u32) -> PathBuf {
    let folder = fs::read_dir(stage.party(party)).unwrap();
    let mut folder = folder.map(|entry| entry.unwrap().path());
    folder.find(|path| path.is_dir()).unwrap()
}

/// A second identity of party 0, with what its policy says.
fn second_identity(stage: &Stage) -> PathBuf {
    let folder = stage.folder.join("alias");
    let mut make = sprifed();
    make.args(["study", "identity", "alias", "--records", "60", "--out"]);
    succeed(make.arg(&folder));
    let policy = fs::read(stage.party(0).join("policy.toml")).unwrap();
    fs::write(folder.join("policy.toml"), policy).unwrap();
    folder
}

#[test]
fn a_second_identity_over_the_same_table_goes_on_where_the_first_was() {
    let stage = finished("alias", small(false));
    let alias = second_identity(&stage);
    let mut init = sprifed();
    init.args(["study", "init"]).arg(stage.folder.join("third"));
    for party in [alias.clone(), stage.party(1), stage.party(2)] {
        init.arg("--party").arg(party.join("party.json"));
    }
    init.arg("--schema").arg(stage.folder.join("schema.toml"));
    init.arg("--columns").arg(stage.table(0));
    init.args(["--sparsity", "2", "--epsilon", "90", "--delta", "1e-6"]);
    init.args(["--procedure", "sieve", "--quorum", "3"]);
    init.args([
        "--address",
        "localhost:1",
        "--purpose",
        super::stage::PURPOSE,
    ]);
    succeed(&mut init);
    let invitation = super::stage::json_at(&stage.folder.join("third/invitation.json"));
    let policy = fs::read_to_string(alias.join("policy.toml")).unwrap();
    let key = format!(
        "coordinators = [{},",
        invitation["agreement"]["coordinator"]
    );
    fs::write(
        alias.join("policy.toml"),
        policy.replacen("coordinators = [", &key, 1),
    )
    .unwrap();
    let join = |data: PathBuf| {
        let mut command = sprifed();
        command
            .arg("join")
            .arg(stage.folder.join("third/for-alias"));
        command.arg("--identity").arg(&alias);
        command.arg("--data").arg(data);
        command.args(["--check", "--json"]);
        command
    };
    let mut seen = stage.transcript();
    let mut refuse = |case: &str, data: PathBuf| {
        let said = refused_as(&mut join(data), 1, REFUSED);
        seen.add(case, &said);
    };
    refuse("the same table", stage.table(0));
    // Nor over a copy of it in the same folder.
    let copy = stage.folder.join("copy.csv");
    fs::copy(stage.table(0), &copy).unwrap();
    refuse("a copy", copy);
    insta::assert_snapshot!(seen);
    // With the first one's ledger it sees what was spent, wherever that is said.
    let mut by_flag = join(stage.table(0));
    by_flag.arg("--ledger").arg(stage.party(0));
    let mut by_variable = join(stage.table(0));
    by_variable.env("SPRIFED_LEDGER", stage.party(0));
    for command in [&mut by_flag, &mut by_variable] {
        let found: Value = serde_json::from_slice(&succeed(command).stdout).unwrap();
        assert_eq!(found["spent_elsewhere"]["epsilon"], Stage::CEILING);
    }
}

#[test]
fn a_ledger_is_shown_exported_and_checked_by_a_stranger() {
    let stage = finished("audit", small(false));
    let shown = succeed(ledger_command("show", &stage).arg("--json")).stdout;
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    let total = &shown["totals"]["by_unit_and_neighbours"][0];
    assert_eq!(total["epsilon"], Stage::CEILING);
    assert_eq!(shown["lines"][0]["data"]["name"], "p0.csv");
    assert_eq!(shown["lines"][0]["settled"], true);
    let words = succeed(&mut ledger_command("show", &stage)).stdout;
    let mut seen = stage.transcript();
    seen.add("show", &String::from_utf8(words).unwrap());

    let log = stage.folder.join("audit.jsonl");
    succeed(ledger_command("export", &stage).arg("--out").arg(&log));
    refused_as(
        ledger_command("export", &stage).arg("--out").arg(&log),
        2,
        "sprifed::file::exists",
    );
    let party = super::stage::json_at(&stage.party(0).join("party.json"));
    let key = party["identity"].as_str().unwrap();
    let other = super::stage::json_at(&stage.party(1).join("party.json"));
    let verify = |path: &PathBuf, key: Option<&str>| {
        let mut command = sprifed();
        command.args(["ledger", "verify", "--json"]).arg(path);
        command.args(key.iter().flat_map(|key| ["--key", *key]));
        command
    };
    for path in [&log, &stage.party(0)] {
        let found = succeed(&mut verify(path, Some(key))).stdout;
        let found: Value = serde_json::from_slice(&found).unwrap();
        assert_eq!(found["totals"], shown["totals"]);
        assert_eq!(found["entries"], shown["entries"]);
    }
    let said = refused(&mut verify(&log, other["identity"].as_str()), 1);
    seen.add("another party's key", &said);
    let text = fs::read_to_string(&log).unwrap();
    assert!(!text.contains(&stage.folder.display().to_string()));
    let cut: Vec<&str> = text.lines().collect();
    let forged = stage.folder.join("forged.jsonl");
    for (case, changed) in [
        ("changed", text.replacen("zero-out", "replace-one", 1)),
        ("without its end", cut[..cut.len() - 1].join("\n")),
        (
            "without entry 2",
            [&cut[..2], &cut[3..]].concat().join("\n"),
        ),
    ] {
        fs::write(&forged, changed).unwrap();
        let mut verify = verify(&forged, Some(key));
        let said = refused_as(&mut verify, 1, "sprifed::ledger::not-believed");
        seen.add(case, &said);
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn a_limit_of_the_ledger_refuses_a_study_before_anything_is_reserved() {
    let stage = Stage::new("limited", small(false));
    let mut limit = ledger_command("limit", &stage);
    succeed(limit.args(["--epsilon", "50", "--delta", "1e-5"]));
    let mut seen = stage.transcript();
    seen.add("join", &refused_as(&mut stage.join(0), 1, REFUSED));
    insta::assert_snapshot!(seen);
    let shown = succeed(ledger_command("show", &stage).arg("--json")).stdout;
    let shown: Value = serde_json::from_slice(&shown).unwrap();
    assert_eq!(shown["limit"]["epsilon"], 50.0);
    assert_eq!(shown["lines"], serde_json::json!([]));
}

#[test]
fn a_folder_in_which_nothing_was_sent_is_no_reason_to_refuse() {
    let stage = Stage::new("nothing-sent", small(true));
    let lose = || {
        for name in ["ledger.sqlite", "ledger.head"] {
            let _ = fs::remove_file(stage.party(0).join(name));
        }
        let _ = fs::remove_file(mark_of(&stage, 0));
    };
    // The table cannot be read, so the reservation is taken back and the folder with it.
    let table = fs::read(stage.table(0)).unwrap();
    fs::write(stage.table(0), "y,x0\n1,none\n").unwrap();
    let first = output_of(&mut stage.join(0));
    assert_ne!(first.status.code(), Some(0));
    let mut left = fs::read_dir(stage.party(0)).unwrap();
    assert!(!left.any(|entry| entry.unwrap().path().is_dir()));
    fs::write(stage.table(0), table).unwrap();
    // As a kill leaves it before the ledger knows of the study: a folder and nothing in it.
    fs::create_dir(stage.party(0).join("study-0123456789abcdef")).unwrap();
    lose();
    succeed(stage.join(0).arg("--check"));
    // A key without the journal that comes before it was lost.
    let key = stage.party(0).join("study-0123456789abcdef/party.key");
    fs::write(key, "00").unwrap();
    lose();
    refused(stage.join(0).arg("--check"), 1);
}

#[test]
fn a_second_study_can_be_looked_at_while_a_first_waits() {
    let stage = Stage::new("two-at-once", small(true));
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let waits = Running::start(&mut stage.join(0), &log);
    let begun = || fs::read_to_string(&log).is_ok_and(|log| log.contains("\"party\":\"p0\""));
    wait_until("the first party", begun);
    allow_in_total(&stage, "1000.0");
    succeed(&mut second_study(&stage));
    // The same study a second time is another matter: its journal is in use.
    refused(&mut stage.join(0), 3);
    waits.kill();
    coordinator.kill();
}
