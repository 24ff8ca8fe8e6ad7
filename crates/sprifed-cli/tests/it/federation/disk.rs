use std::fs;

use super::stage::{
    Kind, Running, Stage, all_succeed, code_of, output_of, refused_as, sprifed, succeed,
};
use crate::process::with_room_for;

/// More and more room: each start gets further.
const ROOM: [u32; 7] = [4, 16, 40, 72, 104, 136, 200];

#[test]
fn a_party_whose_disk_is_full_goes_on_when_there_is_room() {
    let stage = Stage::new("party-disk", small());
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let mut parties: Vec<Running> = (0..2)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    let mut n_full = 0;
    for room in ROOM {
        let ended = output_of(&mut with_room_for(room, &stage.join(2)));
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        match ended.status.code() {
            Some(3) => n_full += 1,
            Some(0) => break,
            other => panic!("{other:?} with {room} blocks: {said}"),
        }
        assert_eq!(code_of(&said), "sprifed::study::environment", "{said}");
    }
    assert!(n_full > 0, "no disk was full");
    parties.push(Running::start(&mut stage.join(2), &log));
    all_succeed(parties, coordinator, &log);
    stage.check_result();
}

#[test]
fn a_coordinator_whose_disk_is_full_goes_on_when_there_is_room() {
    let stage = Stage::new("coordinator-disk", small());
    let log = stage.folder.join("log");
    let parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    let mut n_full = 0;
    for room in ROOM {
        let ended = output_of(&mut with_room_for(room, &stage.coordinate()));
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        match ended.status.code() {
            Some(3) => n_full += 1,
            Some(0) => break,
            other => panic!("{other:?} with {room} blocks: {said}"),
        }
    }
    assert!(n_full > 0, "no disk was full");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    all_succeed(parties, coordinator, &log);
    stage.check_result();
}

#[test]
fn a_party_that_lost_its_state_does_not_begin_anew() {
    let stage = Stage::new("lost", small().secret());
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let party = Running::start(&mut stage.join(0), &log);
    let state = || {
        let mut entries = fs::read_dir(stage.party(0)).unwrap();
        entries.find_map(|entry| Some(entry.unwrap().path()).filter(|path| path.is_dir()))
    };
    super::stage::wait_until("the party's return", || {
        fs::read_to_string(&log).is_ok_and(|log| log.contains("\"party\":\"p0\""))
    });
    party.kill();
    let state = state().unwrap();
    let mut seen = stage.transcript();
    for lost in ["state.sqlite", "party.key"] {
        let (path, aside) = (state.join(lost), stage.folder.join(lost));
        fs::rename(&path, &aside).unwrap();
        let said = refused_as(&mut stage.join(0), 1, "sprifed::study::state-lost");
        seen.add(format!("without {lost}"), &said);
        assert!(!path.exists(), "a new one was made");
        fs::rename(&aside, &path).unwrap();
    }
    insta::assert_snapshot!(seen);
    // With both it goes on.
    let parties = (0..3).map(|party| Running::start(&mut stage.join(party), &log));
    all_succeed(parties.collect(), coordinator, &log);
}

#[test]
fn a_party_whose_journal_was_emptied_or_put_back_does_not_answer_again() {
    let stage = Stage::new("put-back", small().secret());
    let log = stage.folder.join("log");
    let coordinator = Running::start(&mut stage.coordinate(), &log);
    let mut parties: Vec<Running> = (0..3)
        .map(|party| Running::start(&mut stage.join(party), &log))
        .collect();
    let uploads = || fs::read_to_string(&log).is_ok_and(|log| log.contains("\"phase closed\""));
    super::stage::wait_until("a sum", uploads);
    let journal = || {
        let mut entries = fs::read_dir(stage.party(0)).unwrap();
        let folder = entries.find_map(|entry| Some(entry.unwrap().path()).filter(|p| p.is_dir()));
        folder.unwrap().join("state.sqlite")
    };
    let answered = || {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let ledger = stage.party(0).join("ledger.sqlite");
        let Ok(ledger) = rusqlite::Connection::open_with_flags(ledger, flags) else {
            return 0;
        };
        let sql = "SELECT count(*) FROM entries WHERE entry LIKE '%\"counted\"%'";
        ledger
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap_or(0)
    };
    super::stage::wait_until("answers that are counted", || answered() >= 3);
    parties.remove(0).kill();
    let journal = journal();
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, b"").unwrap();
    let mut seen = stage.transcript();
    let said = refused_as(&mut stage.join(0), 1, "sprifed::study::ended");
    seen.hide_after("but had ", &said);
    seen.add("emptied", &said);
    // One entry less than was counted.
    fs::write(&journal, &whole).unwrap();
    let older = rusqlite::Connection::open(&journal).unwrap();
    let sql = "DELETE FROM entries WHERE number > (SELECT max(number) FROM entries) - 2";
    older.execute(sql, []).unwrap();
    drop(older);
    let said = refused_as(&mut stage.join(0), 1, "sprifed::study::ended");
    seen.hide_after("sqlite` has ", &said);
    seen.add("put back", &said);
    insta::assert_snapshot!(seen);
    fs::write(&journal, &whole).unwrap();
    parties.insert(0, Running::start(&mut stage.join(0), &log));
    all_succeed(parties, coordinator, &log);
}

#[test]
fn a_table_with_too_many_records_is_refused_and_nothing_stays_reserved() {
    let stage = Stage::new("too-many", small());
    let table = fs::read_to_string(stage.table(0)).unwrap();
    let (header, rows) = table.split_once('\n').unwrap();
    fs::write(stage.table(0), format!("{header}\n{rows}{rows}")).unwrap();
    let mut seen = stage.transcript();
    let said = refused_as(&mut stage.join(0), 2, "sprifed::study::too-many-records");
    seen.add("join", &said);
    let mut status = sprifed();
    status.args(["study", "status"]).arg(stage.party(0));
    let status = succeed(&mut status);
    seen.add("status", &String::from_utf8_lossy(&status.stdout));
    insta::assert_snapshot!(seen);
}

#[test]
fn a_seat_that_was_not_asked_for_is_refused() {
    let stage = Stage::new("seat", small());
    let path = stage.party(0).join("party.json");
    let mut seen = stage.transcript();
    for change in [
        "\"records\": 59",
        // A smaller seat would tell the coordinator by a refusal how many records there are.
        "\"records\": 61",
        "\"name\": \"other\"",
    ] {
        let text = fs::read_to_string(&path).unwrap();
        let key = change.split(':').next().unwrap();
        let changed: String = text
            .lines()
            .map(|line| {
                if line.trim().starts_with(key) {
                    format!("  {change},\n")
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
        fs::write(&path, changed).unwrap();
        let said = refused_as(stage.join(0).arg("--check"), 1, "sprifed::policy::refused");
        seen.add(change, &said);
        fs::write(&path, text).unwrap();
    }
    insta::assert_snapshot!(seen);
}

fn small() -> Kind {
    Kind {
        records: 60,
        stay: 5,
        ..Kind::default()
    }
}
