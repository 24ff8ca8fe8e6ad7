//! The chain: what was written is what is read, or it is refused.

use super::*;

fn filled(folder: &Folder) -> LifetimeLedger {
    let mut ledger = folder.open();
    for (study, epsilon) in [("a", 3.0), ("b", 2.0)] {
        let line = line(study, RECORD, epsilon);
        ledger.reserve(&line).expect("stored");
    }
    ledger.count("a", 4).expect("stored");
    ledger.settle("a", cost(1.0, 0.25)).expect("stored");
    ledger
}

fn refusal(folder: &Folder) -> String {
    let refused = LifetimeLedger::open(&folder.ledger(), &signer(1)).map(drop);
    let looked = LifetimeLedger::look_into(&folder.ledger()).map(drop);
    let words = |refused: Result<(), StoreError>| match refused {
        Err(error @ StoreError::Ledger { .. }) => {
            assert_eq!(crate::PartyError::from(error).exit_code(), 1);
        }
        other => panic!("{other:?}"),
    };
    let said = format!("{}", refused.as_ref().expect_err("not whole"));
    words(refused);
    words(looked);
    said
}

fn change(folder: &Folder, sql: &str) {
    let connection = Connection::open(folder.ledger()).expect("a file");
    assert!(connection.execute(sql, []).expect("changed") > 0, "{sql}");
}

#[test]
fn a_ledger_that_was_changed_is_not_believed() {
    for (name, sql, said) in [
        (
            "less",
            "UPDATE entries SET entry = replace(entry, '3.0', '0.5') WHERE number = 1",
            "entry 2 does not follow the entry before it",
        ),
        (
            "removed",
            "DELETE FROM entries WHERE number = 2",
            "entry 2 has the number 3",
        ),
        (
            "last",
            "UPDATE entries SET entry = replace(entry, '1.0', '0.5') WHERE number = 4",
            "entry 4 is not signed with the key",
        ),
        (
            "cut",
            "DELETE FROM entries WHERE number = 4",
            "has 4 entries, but had 5",
        ),
        ("emptied", "DELETE FROM entries", "has 0 entries, but had 5"),
        (
            "unsigned",
            "UPDATE entries SET signature = '00' WHERE number = 4",
            "entry 4 is no entry",
        ),
    ] {
        let folder = Folder::new(&format!("changed-{name}"));
        drop(filled(&folder));
        change(&folder, sql);
        let found = refusal(&folder);
        assert!(found.contains(said), "{name}: {found}");
    }
}

#[test]
fn a_ledger_that_is_gone_or_older_is_missed_and_none_is_made() {
    let folder = Folder::new("gone");
    let mut ledger = filled(&folder);
    let older = std::fs::read(folder.ledger()).expect("read");
    ledger.withdraw("b").expect("stored");
    drop(ledger);
    let newest = std::fs::read(folder.ledger()).expect("read");
    std::fs::remove_file(folder.ledger()).expect("removed");
    assert!(refusal(&folder).contains("is gone, but it had 6 entries"));
    assert!(std::fs::metadata(folder.ledger()).is_err());
    std::fs::write(folder.ledger(), "").expect("emptied");
    assert!(refusal(&folder).contains("is gone, but it had 6 entries"));
    std::fs::write(folder.ledger(), older).expect("put back");
    assert!(refusal(&folder).contains("has 5 entries, but had 6"));
    std::fs::write(folder.ledger(), newest).expect("put back");
    assert_eq!(folder.open().lines().len(), 1);
}

#[test]
fn a_kill_before_the_witness_is_written_is_no_reason_to_refuse() {
    let folder = Folder::new("witness");
    let mut ledger = filled(&folder);
    let head = folder.0.join("ledger.head");
    let before = std::fs::read(&head).expect("read");
    ledger.withdraw("b").expect("stored");
    drop(ledger);
    std::fs::write(&head, before).expect("put back");
    assert_eq!(folder.open().lines().len(), 1);
}

#[test]
fn a_log_is_checked_to_the_last_line() {
    let folder = Folder::new("log");
    drop(filled(&folder));
    let text = folder.place().to_log().expect("a log");
    let keys = [Digest(signer(1).public())];
    let log = AuditLog::read(&text, &keys).expect("as it was written");
    assert_eq!((log.n_entries(), log.lines().len()), (5, 2));
    let lines: Vec<&str> = text.lines().collect();
    let without = |place: usize| {
        let left = lines.iter().enumerate().filter(|(at, _)| *at != place);
        left.map(|(_, line)| format!("{line}\n"))
            .collect::<String>()
    };
    for (text, said) in [
        (without(2), "entry 2 has the number 3"),
        (without(5), "the closing line is missing"),
        (
            without(4),
            "the closing line is of 5 entries, but 4 are here",
        ),
        (String::new(), "the log is empty"),
        (
            text.replacen("3.0", "2.0", 1),
            "entry 1 is not signed with the key",
        ),
        (
            text.replacen("study a", "study A", 1),
            "entry 1 is not signed",
        ),
        (
            text.replace(r#""studies":2"#, r#""studies":1"#),
            "the closing line is not signed",
        ),
        (text.replacen("{", "[", 1), "line 1 cannot be read"),
    ] {
        let found = AuditLog::read(&text, &[]).map(drop).expect_err(said);
        assert!(found.to_string().contains(said), "{found}");
    }
    let other = AuditLog::read(&text, &[Digest(signer(2).public())]);
    assert!(matches!(other, Err(LogProblem::OtherSigner { .. })));
}

#[test]
fn a_ledger_of_two_identities_names_both() {
    let folder = Folder::new("two");
    drop(filled(&folder));
    let mut second = LifetimeLedger::open(&folder.ledger(), &signer(2)).expect("a ledger");
    let more = line("c", RECORD, 1.0);
    let before = second.spent_elsewhere("c", more.kind);
    assert_eq!(before, cost(3.0, 0.5));
    second.reserve(&more).expect("stored");
    drop(second);
    let text = folder.place().to_log().expect("a log");
    let log = AuditLog::read(&text, &[]).expect("as it was written");
    assert_eq!(log.signers().count(), 2);
    let refused = AuditLog::read(&text, &[Digest(signer(1).public())]);
    refused.expect_err("one is missing");
}

#[test]
fn a_limit_holds_for_fits_and_studies() {
    let folder = Folder::new("limit");
    let mut ledger = filled(&folder);
    ledger.set_limit(cost(4.0, 1.0)).expect("stored");
    let of = |epsilon| line("c", RECORD, epsilon);
    ledger.within_limit(&of(1.0)).expect("within");
    let over = ledger.within_limit(&of(1.5)).expect_err("over");
    assert!(over.to_string().contains("epsilon = 4.5"), "{over}");
    let simulated = LifetimeLine {
        protection: Protection::Unprotected,
        ..of(100.0)
    };
    ledger.within_limit(&simulated).expect("in no total");
    drop(ledger);
    let reserve = |epsilon| {
        let data = folder.place().data_in_memory("x", &b"records"[..]);
        LocalFit::reserve(
            &folder.place(),
            "fit",
            RECORD,
            Protection::Secret,
            cost(epsilon, 0.0),
            data.expect("data"),
        )
    };
    reserve(1.5).expect_err("over");
    let first = reserve(0.75).expect("within");
    reserve(0.75).expect_err("the first is reserved");
    first.settle(Some(cost(0.25, 0.0))).expect("stored");
    let second = reserve(0.75).expect("within");
    second.settle(None).expect("stored");
    let ledger = folder.open();
    let spent = ledger.spent_elsewhere("", RECORD);
    assert_eq!(spent, cost(3.25, 0.5));
    assert_eq!(ledger.lines().last().map(|line| line.work), Some(Work::Fit));
}
