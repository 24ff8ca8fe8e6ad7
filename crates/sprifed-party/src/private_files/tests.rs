use super::*;

/// A folder of its own; it is gone with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target/sprifed-party")
            .join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        create_private_folder(&folder).expect("a folder");
        Self(folder)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("read");
        let name = |entry: io::Result<fs::DirEntry>| {
            let name = entry.expect("an entry").file_name();
            name.to_string_lossy().into_owned()
        };
        entries.map(name).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_is_replaced_or_erased_is_overwritten_first() {
    let folder = Folder::new("erased");
    let path = folder.0.join("party.key");
    create_private(&path, b"the first secret").expect("written");
    // A second name of a file shows what became of its content.
    let name = |name: &str| folder.0.join(name);
    fs::hard_link(&path, name("first")).expect("a second name");
    replace_private(&path, b"the next").expect("replaced");
    assert_eq!(fs::read(name("first")).expect("read"), [0; 16]);
    assert_eq!(fs::read(&path).expect("read"), b"the next");
    fs::hard_link(&path, name("next")).expect("a second name");
    // As kills leave them: one before its name was given, one while it had two.
    fs::write(name(".party.key.77.part"), b"half").expect("written");
    fs::hard_link(&path, name(".party.key.78.part")).expect("a second name");
    fs::hard_link(name(".party.key.77.part"), name("half")).expect("a second name");
    erase_private(&path).expect("erased");
    erase_private(&path).expect("erased already");
    assert_eq!(fs::read(name("next")).expect("read"), [0; 8]);
    assert_eq!(fs::read(name("half")).expect("read"), [0; 4]);
    let mut left = folder.names();
    left.sort();
    assert_eq!(left, ["first", "half", "next"]);
    replace_private(&path, b"nothing to replace").expect_err("it is gone");
    assert!(fs::metadata(&path).is_err());
}

#[test]
#[cfg(unix)]
fn a_secret_that_is_stored_again_is_overwritten_first() {
    let folder = Folder::new("stored");
    let path = folder.0.join("party.sealed");
    store_private(&path, b"the first").expect("created");
    fs::hard_link(&path, folder.0.join("first")).expect("a second name");
    store_private(&path, b"the next").expect("replaced");
    assert_eq!(fs::read(&path).expect("read"), b"the next");
    assert_eq!(fs::read(folder.0.join("first")).expect("read"), [0; 9]);
}

#[test]
fn a_file_is_added_to_at_its_end_and_locked_by_one() {
    let folder = Folder::new("locked");
    let path = folder.0.join("journal");
    for part in [b"one", b"two"] {
        let mut file = append_private(&path).expect("opened");
        file.write_all(part).expect("written");
    }
    assert_eq!(fs::read(&path).expect("read"), b"onetwo");
    let held = lock_private(&folder.0.join("lock")).expect("locked");
    let other = touch_private(&folder.0.join("lock")).expect("opened");
    other.try_lock().expect_err("held");
    drop(held);
    other.try_lock().expect("free");
}

#[test]
fn a_private_file_is_whole_alone_and_never_replaced() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/sprifed-party")
        .join(format!("private-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let inner = folder.join("secrets");
    create_private_folder(&inner).expect("a folder");
    let path = inner.join("party.key");
    create_private(&path, b"first").expect("written");
    create_private(&path, b"second").expect_err("it is there");
    assert_eq!(fs::read(&path).expect("read"), b"first");
    assert_eq!(fs::read_dir(&inner).expect("read").count(), 1, "no litter");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&inner), 0o700);
        assert_eq!(mode(&folder), 0o700);
    }
    let _ = fs::remove_dir_all(folder);
}

#[test]
#[cfg(unix)]
fn everything_in_a_folder_is_synced_however_deep() {
    let folder = Folder::new("synced");
    let deep = folder.0.join("tls/issued");
    create_private_folder(&deep).expect("a folder");
    create_private(&deep.join("one"), b"content").expect("written");
    sync_tree(&folder.0).expect("synced");
    // What cannot be opened cannot be synced, which shows that the walk comes there.
    std::os::unix::fs::symlink("nowhere", deep.join("link")).expect("a link");
    sync_tree(&folder.0).expect_err("a link that leads nowhere");
    sync_tree(&folder.0.join("absent")).expect_err("no folder");
}
