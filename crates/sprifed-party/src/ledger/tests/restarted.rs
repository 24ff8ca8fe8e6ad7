//! A new ledger in the place of a lost one: nothing that is known is forgotten, at whatever moment it is killed.

use std::fs;

use super::*;

/// A fit that costs at most 2.
fn fit_in(folder: &Folder) -> LocalFit {
    let data = folder.place().data_in_memory("x", &b"records"[..]);
    let (most, data) = (cost(2.0, 0.0), data.expect("data"));
    LocalFit::reserve(
        &folder.place(),
        "fit",
        RECORD,
        Protection::Secret,
        most,
        data,
    )
    .expect("within")
}

/// A ledger with a settled fit, a reserved study and a limit.
fn filled(folder: &Folder) {
    let fit = fit_in(folder);
    fit.settle(Some(cost(1.5, 0.0))).expect("stored");
    let mut ledger = folder.open();
    let line = line("a", RECORD, 3.0);
    ledger.reserve(&line).expect("stored");
    ledger.count("a", 2).expect("stored");
    ledger.set_limit(cost(40.0, 1.0)).expect("stored");
}

/// Puts `value`, in the words of SQL, into the second entry.
fn change_entry(folder: &Folder, value: &str) {
    let connection = Connection::open(folder.ledger()).expect("a file");
    let sql = format!("UPDATE entries SET entry = {value} WHERE number = 2");
    assert_eq!(connection.execute(&sql, []).expect("changed"), 1);
}

fn head_of(folder: &Folder) -> std::path::PathBuf {
    folder.ledger().with_extension("head")
}

fn epsilon(view: &LedgerView) -> f64 {
    view.spent_elsewhere("", RECORD).epsilon.get()
}

/// All that was counted is counted after the head was lost.
fn lose_the_head_and_restart(folder: &Folder) {
    fs::remove_file(head_of(folder)).expect("removed");
    let restarted = folder.place().restart(&Restart::default());
    let view = restarted.expect("restarted").view;
    assert!((epsilon(&view) - 4.5).abs() < 1e-12);
}

#[test]
fn what_can_be_read_is_carried_over_and_studies_are_left() {
    let folder = Folder::new("carried");
    filled(&folder);
    let before = folder.open().lines().to_vec();
    lose_the_head_and_restart(&folder);
    let mut ledger = folder.open();
    assert!(ledger.is_restarted());
    assert_eq!(ledger.limit(), Some(cost(40.0, 1.0)));
    assert_eq!(ledger.lines()[0], before[0], "a fit is as it was");
    assert_eq!(
        ledger.line("a").map(|line| line.standing),
        Some(Standing::Left)
    );
    // Fingerprints are comparable: the same records are the same.
    drop(ledger);
    let data = folder.place().data_in_memory("x", &b"records"[..]);
    assert_eq!(before[0].data, Some(data.expect("data")));
    ledger = folder.open();
    let refused = ledger.count("a", 3).expect_err("left").to_string();
    assert!(refused.contains("has left this study"), "{refused}");
    drop(ledger);
    let refused = folder.place().restart(&Restart::default());
    let refused = refused.expect_err("whole").to_string();
    assert!(refused.contains("is whole"), "{refused}");
    // Lost again, nothing is forgotten and nothing counts twice.
    lose_the_head_and_restart(&folder);
    let text = folder.place().to_log().expect("a log");
    let log = AuditLog::read(&text, &[]).expect("as it was written");
    assert!(log.is_restarted());
}

#[test]
fn an_entry_counts_by_its_own_signature_and_the_others_are_counted_as_unread() {
    let folder = Folder::new("damaged");
    filled(&folder);
    // The entry that settles the fit: the fit counts with its most, and what follows still counts.
    change_entry(&folder, "replace(entry, '1.5', '0.5')");
    let known = Restart {
        stated: Some((RECORD, cost(0.25, 0.125))),
        ..Restart::default()
    };
    let restarted = folder.place().restart(&known).expect("restarted");
    assert_eq!(restarted.unread, 1);
    assert!((epsilon(&restarted.view) - (2.0 + 3.0 + 0.25)).abs() < 1e-12);
    assert_eq!(restarted.view.limit(), Some(cost(40.0, 1.0)));
    // What the owner states of a blanked record is twice as much of a replaced one, and says nothing of a client.
    let stated = |kind| {
        let lines = restarted.view.lines().iter();
        total(lines.filter(|line| line.title.contains("states")), kind).cost
    };
    assert_eq!(stated(RECORD), cost(0.25, 0.125));
    assert!((stated(REPLACED).epsilon.get() - 0.5).abs() < 1e-12);
    assert_eq!(stated(CLIENT), Cost::NOTHING);
    let kept = fs::read_dir(&folder.0).expect("read");
    let mut kept = kept.map(|entry| entry.expect("an entry").file_name());
    assert!(kept.any(|name| name == "ledger.lost-1.sqlite"));
}

#[test]
fn a_study_that_was_not_settled_counts_once_with_what_is_known_of_it() {
    let folder = Folder::new("begun-twice");
    filled(&folder);
    fs::remove_file(head_of(&folder)).expect("removed");
    let begun = LifetimeLine {
        cost: cost(2.5, 0.0),
        ..line("a", RECORD, 3.0)
    };
    let known = Restart {
        studies: vec![begun.clone(), begun],
        ..Restart::default()
    };
    let view = folder.place().restart(&known).expect("restarted").view;
    assert!((epsilon(&view) - (1.5 + 2.5)).abs() < 1e-12);
}

#[test]
fn text_that_is_no_text_is_damage_and_not_a_broken_disk() {
    let folder = Folder::new("high-bit");
    filled(&folder);
    change_entry(&folder, "CAST(x'7bff7d' AS TEXT)");
    let refused = folder.place().open().map(drop).expect_err("damaged");
    assert!(matches!(refused, StoreError::Ledger { .. }), "{refused}");
    let restarted = folder.place().restart(&Restart::default());
    assert_eq!(restarted.expect("restarted").unread, 1);
}

#[test]
fn a_fit_that_runs_while_the_ledger_is_restarted_is_counted() {
    let folder = Folder::new("across");
    let fit = fit_in(&folder);
    fs::remove_file(folder.ledger()).expect("removed");
    let restarted = folder.place().restart(&Restart::default());
    assert_eq!(restarted.expect("restarted").unread, 2);
    fit.settle(Some(cost(1.5, 0.0))).expect("counted");
    let mut ledger = folder.open();
    assert!((epsilon(&ledger) - 1.5).abs() < 1e-12);
    ledger
        .settle("unknown", cost(1.0, 0.0))
        .expect_err("unknown");
}

#[test]
fn a_study_of_which_only_results_or_damage_is_left_was_begun() {
    let folder = Folder::new("results");
    for (number, name) in ["model.json", "transcript.json", "state.sqlite"]
        .into_iter()
        .enumerate()
    {
        let study = folder.0.join(format!("study-{number}"));
        fs::create_dir_all(&study).expect("a folder");
        fs::write(study.join(name), "no database at all").expect("written");
    }
    let begun = begun_studies(std::slice::from_ref(&folder.0), |_| true).expect("read");
    assert_eq!(begun.len(), 3, "{begun:?}");
}

#[test]
fn a_file_that_is_no_database_and_no_file_at_all_are_replaced() {
    for content in [None, Some(""), Some("no database at all")] {
        let folder = Folder::new("no-database");
        filled(&folder);
        fs::remove_file(folder.ledger()).expect("removed");
        if let Some(content) = content {
            fs::write(folder.ledger(), content).expect("written");
        }
        let refused = folder.place().open().map(drop);
        refused.expect_err("lost");
        let known = Restart {
            stated: Some((RECORD, cost(5.0, 0.0))),
            ..Restart::default()
        };
        folder.place().restart(&known).expect("restarted");
        assert!((epsilon(&folder.open()) - 5.0).abs() < 1e-12);
    }
}

#[test]
fn a_restart_that_is_killed_is_done_again() {
    let folder = Folder::new("killed");
    filled(&folder);
    fs::remove_file(head_of(&folder)).expect("removed");
    let lost = fs::read(folder.ledger()).expect("read");
    folder
        .place()
        .restart(&Restart::default())
        .expect("restarted");
    let done = fs::read(folder.ledger()).expect("read");
    let head = fs::read(head_of(&folder)).expect("read");
    // Before the new file has its name, and half of it was written.
    fs::write(folder.ledger(), &lost).expect("put back");
    fs::write(
        folder.ledger().with_extension("new"),
        &done[..done.len() / 2],
    )
    .expect("written");
    let refused = folder.place().open().map(drop).expect_err("lost");
    assert!(refused.to_string().contains("is lost"), "{refused}");
    folder.place().restart(&Restart::default()).expect("again");
    assert!((epsilon(&folder.open()) - 4.5).abs() < 1e-12);
    // Nothing of the new one but its head.
    fs::remove_file(folder.ledger()).expect("removed");
    fs::write(head_of(&folder), head).expect("put back");
    folder.place().open().map(drop).expect_err("lost");
    folder.place().restart(&Restart::default()).expect("again");
}

#[test]
fn what_a_power_cut_left_beside_the_lost_file_does_not_change_the_new_one() {
    let folder = Folder::new("stale");
    filled(&folder);
    let journal = folder.0.join("ledger.sqlite-journal");
    let stale = half_written(&folder, 90..140, || fs::read(&journal).expect("read"));
    fs::remove_file(folder.ledger()).expect("removed");
    fs::write(&journal, stale).expect("put back");
    let known = Restart {
        stated: Some((RECORD, cost(5.0, 0.0))),
        ..Restart::default()
    };
    folder.place().restart(&known).expect("restarted");
    assert!(fs::metadata(&journal).is_err());
    assert!((epsilon(&folder.open()) - 5.0).abs() < 1e-12);
}

#[test]
fn a_table_of_a_lost_ledger_is_taken_over_and_one_of_another_ledger_is_not() {
    let folder = Folder::new("taken-over");
    let (north, other) = (folder.0.join("north"), folder.0.join("other"));
    for party in [&north, &other] {
        fs::create_dir(party).expect("a folder");
    }
    let (table, foreign) = (folder.0.join("north.csv"), folder.0.join("other.csv"));
    fs::write(&table, "y,x\n1,2\n").expect("a table");
    fs::write(&foreign, "y,x\n3,4\n").expect("a table");
    let place = LedgerPlace::new(&north, signer(1));
    let elsewhere = LedgerPlace::new(&other, signer(2));
    let bind = |place: &LedgerPlace, table: &Path| {
        let ledger = place.open()?;
        place.bind(&ledger, table, &[]).map(drop)
    };
    bind(&place, &table).expect("bound");
    bind(&elsewhere, &foreign).expect("bound");
    let lose = |party: &Path| {
        for name in [LEDGER, "ledger.head"] {
            fs::remove_file(party.join(name)).expect("removed");
        }
    };
    // Restarted where it was: a table is its own once it is named.
    lose(&north);
    place.restart(&Restart::default()).expect("restarted");
    bind(&place, &table).expect_err("not named");
    let named = Restart {
        tables: vec![table.clone()],
        ..Restart::default()
    };
    place.restart(&named).expect("restarted");
    bind(&place, &table).expect("bound");
    // Its content is known under other names, too.
    let copy = folder.0.join("copy.csv");
    fs::copy(&table, &copy).expect("copied");
    assert_eq!(
        ledger_beside(&copy).expect("read"),
        Some(fs::canonicalize(&north).expect("a folder"))
    );
    fs::remove_file(&copy).expect("removed");
    // Another ledger was begun in its place, and then the folder was moved: the table is named.
    lose(&north);
    drop(place.open().expect("begun anew"));
    let moved = LedgerPlace::new(&folder.0.join("moved"), signer(1));
    let known = Restart {
        tables: vec![table.clone()],
        ..Restart::default()
    };
    for (place, from) in [(&place, None), (&moved, Some(&north))] {
        if let Some(from) = from {
            lose(from);
            fs::rename(from, place.folder()).expect("moved");
            drop(place.open().expect("begun anew"));
        }
        let refused = bind(place, &table).expect_err("lost").to_string();
        assert!(refused.contains("is lost"), "{refused}");
        place
            .restart(&Restart::default())
            .expect_err("whole, as it seems");
        place.restart(&known).expect("restarted");
        bind(place, &table).expect("bound");
    }
    // The table of a ledger that is there is not.
    let known = Restart {
        tables: vec![foreign],
        ..Restart::default()
    };
    let refused = moved.restart(&known).expect_err("of another").to_string();
    assert!(
        refused.contains("is accounted for in the ledger of"),
        "{refused}"
    );
}

#[test]
fn a_party_that_counted_in_the_lost_ledger_from_elsewhere_is_named() {
    let folder = Folder::new("homes");
    let study = folder.0.join("elsewhere/study-0123456789abcdef");
    fs::create_dir_all(&study).expect("a folder");
    fs::write(StudyFolder::new(&study).begun(), "").expect("a mark");
    drop(folder.open());
    let homes = PartyFolder::new(folder.0.join("elsewhere")).homes();
    folder
        .place()
        .open_for(&homes)
        .map(drop)
        .expect_err("unknown");
    folder
        .place()
        .restart(&Restart::default())
        .expect_err("whole");
    let studies = vec![line("0123456789abcdef00", RECORD, 1.0)];
    let known = Restart {
        homes: homes.clone(),
        studies,
        ..Restart::default()
    };
    folder.place().restart(&known).expect("restarted");
    folder.place().open_for(&homes).map(drop).expect("known");
}
