use std::path::PathBuf;

use sprifed_party::StoreError;

use super::{SqliteStore, look_into, was_started};
use crate::machine::PartyId;
use crate::store::{Entry, Event, Store};

fn fresh(name: &str) -> PathBuf {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/sprifed-net");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.sqlite"));
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    path
}

fn commit(
    store: &mut SqliteStore,
    epoch: u32,
    input: Event<'_>,
    checkpoints: Vec<(u32, &[u8])>,
) -> Result<(), StoreError> {
    store.commit(&Entry {
        epoch,
        input: Some(input),
        checkpoints,
        artefacts: None,
    })
}

fn stored(store: &mut SqliteStore) -> Vec<String> {
    let mut events = Vec::new();
    store
        .replay(&mut |epoch, event| {
            events.push(match event {
                Event::Message(party, bytes) => {
                    format!("{epoch}: {party} says {}", String::from_utf8_lossy(bytes))
                }
                Event::Closed => format!("{epoch}: closed"),
                Event::Checkpoint(bytes) => {
                    format!("{epoch}: at {}", String::from_utf8_lossy(bytes))
                }
            });
            true
        })
        .unwrap();
    events
}

#[test]
fn a_checkpoint_replaces_the_events_of_its_epoch_and_no_others() {
    let path = fresh("checkpoint");
    let mut store = SqliteStore::open(&path, "s").unwrap();
    commit(&mut store, 0, Event::Message(PartyId(1), b"a"), vec![]).unwrap();
    commit(&mut store, 0, Event::Closed, vec![]).unwrap();
    commit(&mut store, 1, Event::Message(PartyId(1), b"b"), vec![]).unwrap();
    commit(&mut store, 1, Event::Closed, vec![(1, b"one")]).unwrap();
    commit(&mut store, 2, Event::Message(PartyId(0), b"c"), vec![]).unwrap();
    drop(store);
    let mut store = SqliteStore::open(&path, "s").unwrap();
    assert_eq!(store.start(), 2);
    let expected = ["0: 1 says a", "0: closed", "1: at one", "2: 0 says c"];
    assert_eq!(stored(&mut store), expected);
    assert_eq!(store.artefacts().unwrap(), None);
}

#[test]
fn a_full_database_says_so_and_keeps_what_it_had() {
    let path = fresh("full");
    let mut store = SqliteStore::open(&path, "s").unwrap();
    commit(&mut store, 0, Event::Message(PartyId(1), b"a"), vec![]).unwrap();
    let pages: i64 = store
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    // SQLite's own way to have no more room.
    let _: i64 = store
        .connection
        .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| {
            row.get(0)
        })
        .unwrap();
    let large = vec![7; 100_000];
    let error = commit(&mut store, 0, Event::Message(PartyId(2), &large), vec![]).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull), "{error}");
    drop(store);
    let mut store = SqliteStore::open(&path, "s").unwrap();
    assert_eq!(stored(&mut store), ["0: 1 says a"]);
}

#[test]
fn how_it_ended_is_kept_even_without_files() {
    let mut store = SqliteStore::open(&fresh("ended"), "s").unwrap();
    let entry = |artefacts| Entry {
        epoch: 3,
        input: Some(Event::Closed),
        checkpoints: vec![],
        artefacts: Some(artefacts),
    };
    store.commit(&entry(&[])).unwrap();
    assert_eq!(store.artefacts().unwrap(), Some(vec![]));
    let files = [("b".to_owned(), vec![1]), ("a".to_owned(), vec![])];
    store.commit(&entry(&files)).unwrap();
    assert_eq!(store.artefacts().unwrap(), Some(files.to_vec()));
}

#[test]
fn what_a_checkpoint_replaces_is_gone_from_the_disk() {
    let path = fresh("replaced");
    let mut store = SqliteStore::open(&path, "s").unwrap();
    let upload = b"a masked vector ".repeat(2_000);
    commit(&mut store, 1, Event::Message(PartyId(1), &upload), vec![]).unwrap();
    let lies_there = || {
        ["", "-wal"].iter().any(|suffix| {
            let content = std::fs::read(format!("{}{suffix}", path.display())).unwrap_or_default();
            content.windows(16).any(|window| window == &upload[..16])
        })
    };
    assert!(lies_there());
    commit(&mut store, 1, Event::Closed, vec![(1, b"the sum")]).unwrap();
    assert!(!lies_there());
    assert_eq!(stored(&mut store), ["1: at the sum"]);
}

/// A process that is killed while it writes leaves a half-written file, and beside it a journal that undoes that.
#[test]
fn a_state_whose_writer_was_killed_is_read_as_it_was_before() {
    let path = fresh("killed-writer");
    let mut store = SqliteStore::open(&path, "a").unwrap();
    commit(&mut store, 0, Event::Closed, Vec::new()).unwrap();
    drop(store);
    let killed = fresh("killed-writer-found");
    let writer = rusqlite::Connection::open(&path).unwrap();
    // So few pages fit into the cache that some are written before the end.
    writer
        .execute_batch(
            "PRAGMA journal_mode = delete; PRAGMA cache_size = 1; BEGIN; CREATE TABLE half (bytes BLOB); \
             UPDATE starts SET count = 0; DELETE FROM events;",
        )
        .unwrap();
    for _ in 0..300 {
        writer
            .execute("INSERT INTO half VALUES (zeroblob(900))", [])
            .unwrap();
    }
    for suffix in ["", "-journal"] {
        let name = |path: &PathBuf| format!("{}{suffix}", path.display());
        std::fs::copy(name(&path), name(&killed)).unwrap();
    }
    drop(writer);
    assert!(was_started(&killed).unwrap());
    let mut events = 0;
    look_into(&killed, &mut |_, _| {
        events += 1;
        true
    })
    .unwrap();
    assert_eq!(events, 1);
}
