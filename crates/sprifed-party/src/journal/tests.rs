use std::fs;
use std::path::{Path, PathBuf};

use super::*;

fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/sprifed-net")
        .join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder.join("state.sqlite")
}

/// Whether any file beside `path`, or it itself, has `bytes` in it.
fn lies_there(path: &Path, bytes: &[u8]) -> bool {
    let folder = path.parent().expect("a folder");
    let mut entries = fs::read_dir(folder).expect("read");
    entries.any(|entry| {
        let content = fs::read(entry.expect("an entry").path()).expect("read");
        content.windows(bytes.len()).any(|window| window == bytes)
    })
}

#[test]
fn an_erased_entry_is_gone_from_the_disk_and_still_counts() {
    let path = fresh("erased-entry");
    let mut journal = SqliteJournal::open(&path, "s").expect("a journal");
    // One that fits into a page beside others and one with pages of its own.
    let (short, long) = (b"a short upload".to_vec(), b"a long upload ".repeat(2_000));
    for entry in [b"first".as_slice(), &short, &long, b"last"] {
        journal.append(entry).expect("stored");
    }
    let marks = [&short[..], &long[..14], &long[20_000..20_014]];
    assert!(marks.iter().all(|mark| lies_there(&path, mark)));
    for place in [1, 2, 2] {
        journal.erase(place, b"erased").expect("erased");
    }
    for mark in marks {
        assert!(
            !lies_there(&path, mark),
            "{}",
            String::from_utf8_lossy(mark)
        );
    }
    journal.erase(4, b"erased").expect_err("no such entry");
    drop(journal);
    let mut journal = SqliteJournal::open(&path, "s").expect("a journal");
    let entries = journal.entries().expect("read");
    assert_eq!(entries, [&b"first"[..], b"erased", b"erased", b"last"]);
    let _ = fs::remove_dir_all(path.parent().expect("a folder"));
}
