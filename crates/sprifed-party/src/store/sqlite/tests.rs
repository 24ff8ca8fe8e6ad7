use std::fs;

use super::*;
use crate::test_study::TestFolder;

const STUDY: Digest = Digest([4; 32]);

struct World {
    folder: TestFolder,
}

impl World {
    fn new(name: &str) -> Self {
        let folder = TestFolder::new(name);
        Self { folder }
    }

    fn study(&self) -> StudyFolder {
        StudyFolder::new(self.folder.path())
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.study(), &STUDY).expect("a store")
    }

    /// Whether a file of the store has `bytes` in it.
    fn has(&self, bytes: &[u8]) -> bool {
        let mut entries = fs::read_dir(self.folder.path()).expect("read");
        entries.any(|entry| {
            let content = fs::read(entry.expect("an entry").path()).expect("read");
            content.windows(bytes.len()).any(|window| window == bytes)
        })
    }
}

fn uploaded(sum: u32, message: &[u8]) -> JournalLine {
    let message = message.to_vec();
    JournalLine::Uploaded { sum, message }
}

fn charged(sum: u32) -> JournalLine {
    let transcript = Digest([7; 32]);
    JournalLine::Charged { sum, transcript }
}

#[test]
fn an_upload_that_is_forgotten_is_gone_from_the_disk_and_still_counts() {
    let world = World::new("forgotten-line");
    let mut store = world.open();
    // One that fits into a page beside others and one with pages of its own; both as the bytes that they are.
    let (short, long) = (b"a short upload".to_vec(), b"a long upload ".repeat(2_000));
    let lines = [charged(0), uploaded(0, &short), uploaded(1, &long)];
    for line in &lines {
        store.append(line).expect("stored");
    }
    let marks = [&short[..], &long[..14], &long[20_000..20_014]];
    assert!(marks.iter().all(|mark| world.has(mark)));
    let forgotten = [(1, uploaded(0, &[])), (2, uploaded(1, &[]))];
    for _ in 0..2 {
        store.forget(&forgotten, None).expect("forgotten");
    }
    for mark in marks {
        assert!(!world.has(mark), "{}", String::from_utf8_lossy(mark));
    }
    let absent = store.forget(&[(3, charged(0))], None);
    absent.expect_err("there is no such line");
    drop(store);
    let mut store = world.open();
    let [first, ..] = lines;
    let expected = [first, uploaded(0, &[]), uploaded(1, &[])];
    assert_eq!(store.lines().expect("read"), expected);
    assert_eq!(store.progress(), 3);
}

#[test]
fn a_store_that_is_killed_after_any_write_has_all_writes_before_it() {
    let end = PartyEnd {
        artefacts: vec![("receipt.json".to_owned(), b"{}".to_vec())],
        success: true,
    };
    type Write<'a> = &'a dyn Fn(&mut SqliteStore) -> Result<(), PartyError>;
    let writes: [Write<'_>; 5] = [
        &|store| store.create(Some("first secret")),
        &|store| store.append(&uploaded(0, b"mask")),
        &|store| store.forget(&[(0, uploaded(0, &[]))], Some("second secret")),
        &|store| store.finish(&end),
        &|store| store.erase_secret(),
    ];
    let world = World::new("killed");
    let mut seen = Vec::new();
    for write in writes {
        // Each store is dropped as if its process was killed: nothing is kept but the files.
        let mut store = world.open();
        write(&mut store).expect("stored");
        drop(store);
        let mut store = world.open();
        let secret = store.secret().expect("read").map(|text| text.to_string());
        let lines = store.lines().expect("read");
        seen.push((secret, lines, store.end().expect("read").is_some()));
    }
    let (first, second) = ("first secret".to_owned(), "second secret".to_owned());
    let expected = [
        (Some(first), vec![], false),
        (
            Some("first secret".to_owned()),
            vec![uploaded(0, b"mask")],
            false,
        ),
        (Some(second), vec![uploaded(0, &[])], false),
        (
            Some("second secret".to_owned()),
            vec![uploaded(0, &[])],
            true,
        ),
        (None, vec![uploaded(0, &[])], true),
    ];
    assert_eq!(seen, expected);
    assert!(!world.has(b"first secret") && !world.has(b"second secret"));
}

#[test]
fn bytes_that_are_no_line_are_refused() {
    let world = World::new("garbage");
    let mut store = world.open();
    store.append(&charged(3)).expect("stored");
    let whole = to_bytes(&charged(3));
    let longer = [&whole[..], b"x"].concat();
    for bytes in [&whole[..whole.len() - 1], &longer, &[99, 1, 2], b""] {
        let sql = "UPDATE entries SET bytes = ?1";
        store
            .connection
            .execute(sql, params![bytes])
            .expect("changed");
        let refused = store.lines().expect_err("no line");
        assert!(
            matches!(refused, PartyError::Store(StoreError::Damaged(_))),
            "{refused}"
        );
    }
}

#[test]
fn one_process_has_it_and_it_is_of_one_study() {
    let world = World::new("one-process");
    let first = world.open();
    let second = SqliteStore::open(&world.study(), &STUDY).expect_err("in use");
    assert!(
        matches!(second, PartyError::Store(StoreError::InUse { .. })),
        "{second}"
    );
    drop(first);
    let other = SqliteStore::open(&world.study(), &Digest([5; 32])).expect_err("another study");
    assert!(
        matches!(other, PartyError::Store(StoreError::OtherStudy { .. })),
        "{other}"
    );
}
