use std::fs;

use super::*;
use crate::test_study::{TestFolder, entropy};

const STUDY: Digest = Digest([4; 32]);
const SECRET: [u8; 32] = [9; 32];

fn open(folder: &TestFolder, secret: &[u8; 32]) -> Result<SealedStore, PartyError> {
    SealedStore::open(&StudyFolder::new(folder.path()), secret, &STUDY, entropy)
}

fn uploaded(message: &[u8]) -> JournalLine {
    let message = message.to_vec();
    JournalLine::Uploaded { sum: 0, message }
}

#[test]
fn what_was_stored_is_read_back_after_a_kill_and_what_was_not_is_gone() {
    let folder = TestFolder::new("sealed");
    let mut store = open(&folder, &SECRET).expect("a store");
    store.create(Some("a secret")).expect("stored");
    store.begin_request(3).expect("the first");
    // The request is stored with the next write.
    assert_eq!(open_again(store, &folder).progress(), 0);
    let mut store = open(&folder, &SECRET).expect("a store");
    store.begin_request(3).expect("the first");
    store.append(&uploaded(b"mask")).expect("stored");
    let mut store = open_again(store, &folder);
    assert_eq!(store.progress(), 3);
    assert_eq!(store.lines().expect("read"), [uploaded(b"mask")]);
    for number in [2, 3] {
        let refused = store.begin_request(number).expect_err("answered before");
        assert!(
            refused.to_string().contains("was answered before"),
            "{refused}"
        );
    }
    let forgotten = [(0, uploaded(&[]))];
    store.forget(&forgotten, Some("less")).expect("stored");
    let mut store = open_again(store, &folder);
    assert_eq!(store.lines().expect("read"), [uploaded(&[])]);
    assert_eq!(
        store.secret().expect("read").expect("there").as_str(),
        "less"
    );
    store
        .forget(&[(1, uploaded(&[]))], None)
        .expect_err("no such line");
    store.erase_secret().expect("erased");
    assert!(open_again(store, &folder).secret().expect("read").is_none());
}

/// As after a kill: nothing is kept but the files.
fn open_again(store: SealedStore, folder: &TestFolder) -> SealedStore {
    drop(store);
    open(folder, &SECRET).expect("as it was")
}

#[test]
fn a_changed_cut_or_foreign_file_is_refused() {
    let folder = TestFolder::new("sealed-garbage");
    let mut store = open(&folder, &SECRET).expect("a store");
    store.create(Some("a secret")).expect("stored");
    drop(store);
    let path = StudyFolder::new(folder.path()).sealed();
    let whole = fs::read(&path).expect("sealed");
    assert!(!whole.windows(8).any(|window| window == b"a secret"));
    open(&folder, &[8; 32]).expect_err("another key");
    let mut flipped = whole.clone();
    flipped[40] ^= 1;
    let mut other_version = whole.clone();
    other_version[0] = 9;
    for garbage in [
        &flipped[..],
        &other_version,
        &whole[..whole.len() - 1],
        &whole[..10],
        b"",
    ] {
        fs::write(&path, garbage).expect("written");
        let refused = open(&folder, &SECRET).expect_err("damaged");
        assert!(refused.to_string().contains("damaged"), "{refused}");
    }
    fs::write(&path, &whole).expect("put back");
    open(&folder, &SECRET).expect("as it was");
}

#[test]
fn a_mark_that_needs_no_key_says_that_something_may_have_been_sent() {
    let folder = TestFolder::new("sealed-mark");
    let study = StudyFolder::new(folder.path());
    let mut store = open(&folder, &SECRET).expect("a store");
    store.create(None).expect("stored");
    assert!(!study.has_begun().expect("read"));
    store.begin().expect("marked");
    assert!(study.has_begun().expect("read"));
}
