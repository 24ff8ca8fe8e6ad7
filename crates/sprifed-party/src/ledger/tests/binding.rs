//! One ledger for a table, for every program that asks.

use std::fs;
use std::path::PathBuf;

use super::*;

struct World {
    folder: Folder,
    table: PathBuf,
}

impl World {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let table = folder.0.join("north.csv");
        fs::write(&table, "y,x\n1,2\n").expect("a table");
        for party in ["north", "other"] {
            fs::create_dir(folder.0.join(party)).expect("a folder");
        }
        Self { folder, table }
    }

    fn place(&self, party: &str) -> LedgerPlace {
        let seed = if party == "north" { 1 } else { 2 };
        LedgerPlace::new(&self.folder.0.join(party), signer(seed))
    }

    fn bind(&self, party: &str, table: &Path, others: &[PathBuf]) -> Result<Bound, StoreError> {
        let place = self.place(party);
        let mut ledger = place.open()?;
        let bound = place.bind(&ledger, table, others)?;
        let line = line("a", RECORD, 1.0).over(bound.data.clone());
        ledger.reserve(&line)?;
        Ok(bound)
    }

    fn refused(&self, party: &str, table: &Path, others: &[PathBuf]) -> String {
        match self.bind(party, table, others) {
            Err(error @ StoreError::Ledger { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_second_ledger_over_the_same_table_is_refused() {
    let world = World::new("second");
    let bound = world.bind("north", &world.table, &[]).expect("bound");
    assert_eq!(bound.data.name, "north.csv");
    assert_eq!(bound.unmarked, None);
    let again = world.bind("north", &world.table, &[]).expect("again");
    assert_eq!(again.data, bound.data);
    let said = world.refused("other", &world.table, &[]);
    assert!(said.contains("is accounted for in the ledger of"), "{said}");
    assert!(said.contains("north"), "{said}");
    // With the ledger that the mark names, another identity goes on where the first was.
    let place = LedgerPlace::new(&world.folder.0.join("north"), signer(2));
    let ledger = place.open().expect("a ledger");
    place.bind(&ledger, &world.table, &[]).expect("bound");
    let spent = ledger.spent_elsewhere("", RECORD);
    assert_eq!(spent, cost(1.0, 0.25));
}

#[test]
#[cfg(unix)]
fn links_and_copies_of_a_table_are_found() {
    let world = World::new("copies");
    world.bind("north", &world.table, &[]).expect("bound");
    let link = world.folder.0.join("link.csv");
    std::os::unix::fs::symlink(&world.table, &link).expect("a link");
    let said = world.refused("other", &link, &[]);
    assert!(said.contains("is accounted for"), "{said}");
    let copy = world.folder.0.join("copy.csv");
    fs::copy(&world.table, &copy).expect("a copy");
    let said = world.refused("other", &copy, &[]);
    assert!(said.contains("has the content of \"north.csv\""), "{said}");
    // In another folder there is no mark; a ledger that is known otherwise is asked.
    let away = world.folder.0.join("away");
    fs::create_dir(&away).expect("a folder");
    fs::copy(&world.table, away.join("copy.csv")).expect("a copy");
    let known = [world.folder.0.join("north")];
    let said = world.refused("other", &away.join("copy.csv"), &known);
    assert!(said.contains("has the content of"), "{said}");
    // Other records are another matter.
    fs::write(away.join("new.csv"), "y,x\n3,4\n").expect("a table");
    world
        .bind("other", &away.join("new.csv"), &known)
        .expect("bound");
}

#[test]
fn a_ledger_that_was_begun_anew_or_copied_is_refused_and_one_that_moved_is_not() {
    let world = World::new("anew");
    world.bind("north", &world.table, &[]).expect("bound");
    let north = world.folder.0.join("north");
    let (moved, copied) = (world.folder.0.join("moved"), world.folder.0.join("copied"));
    fs::create_dir(&copied).expect("a folder");
    for entry in fs::read_dir(&north).expect("read") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), copied.join(entry.file_name())).expect("a copy");
    }
    let said = world.refused("copied", &world.table, &[]);
    assert!(said.contains("this one is a copy of it"), "{said}");
    fs::rename(&north, &moved).expect("moved");
    let said = world.refused("other", &world.table, &[]);
    assert!(said.contains("is lost: its file is gone"), "{said}");
    world.bind("moved", &world.table, &[]).expect("moved");
    assert_eq!(
        ledger_beside(&world.table).expect("read"),
        Some(fs::canonicalize(&moved).expect("there"))
    );
    // Ledger, witness and studies are gone together; the mark still knows.
    fs::remove_dir_all(&moved).expect("removed");
    fs::create_dir(&moved).expect("a folder");
    let said = world.refused("moved", &world.table, &[]);
    assert!(
        said.contains("another ledger has taken its place"),
        "{said}"
    );
}

#[test]
fn fingerprints_of_two_ledgers_say_nothing_together() {
    let world = World::new("keyed");
    let bound = world.bind("north", &world.table, &[]).expect("bound");
    fs::create_dir(world.folder.0.join("apart")).expect("a folder");
    let apart = world.folder.0.join("apart/north.csv");
    fs::copy(&world.table, &apart).expect("a copy");
    let other = world.bind("other", &apart, &[]).expect("bound");
    assert_eq!(bound.data.name, other.data.name);
    assert_ne!(bound.data.fingerprint, other.data.fingerprint);
}

#[test]
fn a_study_that_only_the_other_runtime_knows_is_missed() {
    let world = World::new("runtimes");
    let place = world.place("north");
    let study = place.folder().join("flower/study-0123456789abcdef");
    fs::create_dir_all(&study).expect("a folder");
    let homes = [place.folder().to_owned(), place.folder().join("flower")];
    drop(place.open_for(&homes).expect("nothing was sent"));
    fs::write(StudyFolder::new(&study).begun(), "").expect("a mark");
    let refused = place.open_for(&homes).map(drop);
    let said = refused.expect_err("missed").to_string();
    assert!(said.contains("knows 0 studies"), "{said}");
    assert!(said.contains("study-0123456789abcdef"), "{said}");
}

#[test]
fn a_renamed_or_copied_table_is_known_by_its_content_without_a_ledger_at_hand() {
    let world = World::new("renamed");
    world.bind("north", &world.table, &[]).expect("bound");
    let north = fs::canonicalize(world.folder.0.join("north")).expect("there");
    for name in ["copy.csv", "renamed.csv"] {
        let other = world.table.with_file_name(name);
        fs::copy(&world.table, &other).expect("a copy");
        assert_eq!(ledger_beside(&other).expect("read"), Some(north.clone()));
    }
    let other = world.table.with_file_name("other.csv");
    fs::write(&other, "y,x\n7,8\n").expect("written");
    assert_eq!(ledger_beside(&other).expect("read"), None);
    // What a ledger that is marked here says cannot be asked: it may account for the table.
    fs::remove_dir_all(&north).expect("removed");
    ledger_beside(&other).expect_err("the ledger is gone");
}

#[test]
fn a_ledger_or_mark_beside_the_table_that_cannot_be_read_is_refused() {
    let world = World::new("unreadable");
    let beside = world.table.with_file_name("beside.csv");
    fs::write(&beside, "y,x\n5,6\n").expect("a table");
    world.bind("other", &beside, &[]).expect("bound");
    let ledger = world.folder.0.join("other").join(LEDGER);
    let mark = world.folder.0.join(".sprifed/beside.csv.json");
    let sound = [&ledger, &mark].map(|path| fs::read(path).expect("read"));
    let damage: [(&str, &Path, Option<&str>, &str); 4] = [
        (
            "no database",
            &ledger,
            Some("no database at all"),
            "is damaged",
        ),
        ("no mark", &mark, Some("{}"), "does not say which ledger"),
        ("emptied", &ledger, Some(""), "is lost: its file is gone"),
        ("gone", &ledger, None, "is lost: its file is gone"),
    ];
    for (name, path, content, word) in damage {
        match content {
            Some(content) => fs::write(path, content).expect("written"),
            None => fs::remove_file(path).expect("removed"),
        }
        let said = world.refused("north", &world.table, &[]);
        assert!(said.contains(word), "{name}: {said}");
        assert!(said.contains("may know"), "{name}: {said}");
        let said = ledger_beside(&world.table).expect_err(name).to_string();
        assert!(said.contains(word), "{name}: {said}");
        fs::write(&ledger, &sound[0]).expect("put back");
        fs::write(&mark, &sound[1]).expect("put back");
    }
    // Another ledger that is gone with all of its folder.
    fs::remove_dir_all(world.folder.0.join("other")).expect("removed");
    let said = world.refused("north", &world.table, &[]);
    assert!(
        said.contains("is gone") && said.contains("may know"),
        "{said}"
    );
}
