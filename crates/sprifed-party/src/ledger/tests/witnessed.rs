//! The file beside the ledger that says how long it was: who may open a ledger without it.

use std::fs;

use super::*;

/// A ledger with one reservation.
fn reserved(name: &str) -> Folder {
    let folder = Folder::new(name);
    let line = line("a", RECORD, 1.0);
    folder.open().reserve(&line).expect("stored");
    folder
}

fn refusal(refused: Result<(), StoreError>) -> (String, &'static str) {
    match refused {
        Err(StoreError::Ledger { problem, help, .. }) => (problem, help),
        other => panic!("{other:?}"),
    }
}

#[test]
fn entries_without_the_file_that_says_how_many_there_were_are_refused() {
    let folder = reserved("headless");
    let head = folder.ledger().with_extension("head");
    let kept = fs::read(&head).expect("read");
    fs::remove_file(&head).expect("removed");
    let data = folder.place().data_in_memory("x", &b"records"[..]);
    for refused in [
        folder.place().open().map(drop),
        folder.place().open_for(&[]).map(drop),
        LifetimeLedger::look_into(&folder.ledger()).map(drop),
        LifetimeLedger::examine(&folder.ledger()).map(drop),
        folder.place().to_log().map(drop),
        data.map(drop),
    ] {
        let (problem, help) = refusal(refused);
        assert!(
            problem.contains("is lost: it has 2 entries, but ledger.head"),
            "{problem}"
        );
        assert!(help.contains("sprifed ledger restart"), "{help}");
    }
    assert!(fs::metadata(&head).is_err(), "a new one was made");
    fs::write(&head, kept).expect("put back");
    assert_eq!(folder.open().lines().len(), 1);
}

#[test]
fn a_kill_at_any_write_of_the_first_opening_is_no_reason_to_refuse() {
    let nothing = format!("{{\"entries\":0,\"head\":\"{}\"}}", "0".repeat(64));
    let made = Folder::new("made");
    drop(made.open());
    let first = fs::read(made.ledger()).expect("read");
    for (name, ledger, head) in [
        ("touched", Some(Vec::new()), None),
        ("head-first", Some(Vec::new()), Some(&nothing)),
        ("head-alone", None, Some(&nothing)),
        ("first-entry", Some(first), Some(&nothing)),
    ] {
        let folder = Folder::new(name);
        let path = folder.ledger();
        if let Some(ledger) = ledger {
            fs::write(&path, ledger).expect("written");
        }
        if let Some(head) = head {
            fs::write(path.with_extension("head"), head).expect("written");
        }
        let line = line("a", RECORD, 1.0);
        folder.open().reserve(&line).expect(name);
        assert_eq!(folder.open().lines().len(), 1, "{name}");
    }
}

#[test]
fn no_entry_is_written_before_the_file_that_says_how_many_there_are() {
    let folder = Folder::new("head-before");
    // A folder under the temporary name: the file cannot be written.
    let temporary = folder
        .0
        .join(format!(".ledger.head.{}.part", std::process::id()));
    fs::create_dir(&temporary).expect("a folder");
    let refused = LifetimeLedger::open(&folder.ledger(), &signer(1));
    assert!(
        matches!(refused, Err(StoreError::Unusable { .. })),
        "{refused:?}"
    );
    let connection = Connection::open(folder.ledger()).expect("a file");
    let sql = "SELECT count(*) FROM entries";
    let n_entries: i64 = connection
        .query_row(sql, [], |row| row.get(0))
        .expect("read");
    assert_eq!(n_entries, 0);
    drop(connection);
    fs::remove_dir(&temporary).expect("removed");
    drop(folder.open());
}

#[test]
fn a_ledger_that_grows_meanwhile_is_read_as_whole() {
    let folder = reserved("grows");
    let mut ledger = folder.open();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for entries in 1..=150 {
                ledger.count("a", entries).expect("stored");
            }
        });
        while !writer.is_finished() {
            LifetimeLedger::look_into(&folder.ledger()).expect("whole at every moment");
        }
    });
}

#[test]
fn a_ledger_that_a_power_cut_left_half_written_can_be_looked_into() {
    let folder = reserved("torn");
    let torn = Folder::new("torn-copy");
    half_written(&folder, 10..60, || {
        for name in ["ledger.sqlite", "ledger.sqlite-journal", "ledger.head"] {
            fs::copy(folder.0.join(name), torn.0.join(name)).expect(name);
        }
    });
    let view = LifetimeLedger::look_into(&torn.ledger()).expect("as it was before");
    assert_eq!(view.lines().len(), 1);
}
