//! Folders that appear whole or not at all, also if the process is killed.

use std::fs;
use std::io;
use std::path::Path;

use sprifed_party::{PartyError, cause_of, is_there, rename_durably, sync_tree};

use crate::error::CoordinatorError;

/// Fills a hidden folder beside `path` that only its owner may enter, and gives it that name when it is whole. When this
/// returns, a power cut cannot undo it.
///
/// # Errors
/// When the name is taken, `fill` fails, or the disk refuses. Nothing is left then, unless the disk refuses to store the
/// name for good: the whole folder is there, and the error says so.
pub(crate) fn create_whole(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), CoordinatorError>,
) -> Result<(), CoordinatorError> {
    create_whole_by(path, fill, sync_tree, rename_durably)
}

fn create_whole_by(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), CoordinatorError>,
    sync: impl FnOnce(&Path) -> io::Result<()>,
    rename: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> Result<(), CoordinatorError> {
    let exists = || CoordinatorError::Exists {
        path: path.to_owned(),
    };
    if is_there(path) {
        return Err(exists());
    }
    let refused = |error: &io::Error| PartyError::File {
        action: "create",
        path: path.to_owned(),
        reason: cause_of(error),
    };
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sprifed-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    let hidden = builder.tempdir_in(folder.unwrap_or(Path::new(".")));
    let hidden = hidden.map_err(|error| refused(&error))?;
    fill(hidden.path())?;
    // The name must not survive a power cut that takes a file or a folder behind it.
    sync(hidden.path()).map_err(|error| refused(&error))?;
    let renamed = rename(hidden.path(), path);
    if !is_there(hidden.path()) {
        // It has its name now, and nothing is to be removed.
        let _ = hidden.keep();
        let unsynced = PartyError::file("sync the folder of", path);
        return Ok(renamed.map_err(unsynced)?);
    }
    match renamed {
        Err(error) if !is_there(path) => Err(refused(&error).into()),
        _ => Err(exists()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use sprifed_party::{PartyError, sync_tree};

    use super::{create_whole, create_whole_by};
    use crate::error::CoordinatorError;

    #[test]
    fn a_name_that_a_power_cut_may_undo_is_an_error_and_the_whole_folder_is_there() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("study");
        let fill = |folder: &std::path::Path| {
            fs::write(folder.join("one"), "").unwrap();
            Ok(())
        };
        let unsynced = create_whole_by(&path, fill, sync_tree, |from, to| {
            fs::rename(from, to)?;
            Err(std::io::ErrorKind::StorageFull.into())
        });
        let Err(CoordinatorError::Party(PartyError::File { action, .. })) = unsynced else {
            panic!("{unsynced:?}");
        };
        assert_eq!(action, "sync the folder of");
        assert!(path.join("one").exists());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        // A name that another program took meanwhile is not its own.
        let other = home.path().join("other");
        let taken = create_whole_by(&other, fill, sync_tree, |_, to| {
            fs::create_dir(to)?;
            Err(std::io::ErrorKind::DirectoryNotEmpty.into())
        });
        assert!(matches!(taken, Err(CoordinatorError::Exists { .. })));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_gets_its_name_after_all_that_is_in_it_is_on_the_disk() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("study");
        let done = std::cell::RefCell::new(Vec::new());
        let fill = |folder: &std::path::Path| {
            fs::write(folder.join("one"), "").unwrap();
            done.borrow_mut().push("filled");
            Ok(())
        };
        let sync = |folder: &std::path::Path| {
            assert!(folder.join("one").exists());
            done.borrow_mut().push("synced");
            Ok(())
        };
        let rename = |from: &std::path::Path, to: &std::path::Path| {
            done.borrow_mut().push("renamed");
            fs::rename(from, to)
        };
        create_whole_by(&path, fill, sync, rename).unwrap();
        assert_eq!(*done.borrow(), ["filled", "synced", "renamed"]);
        // A disk that does not take it leaves nothing.
        let other = home.path().join("other");
        let refuse = |_: &std::path::Path| Err(std::io::ErrorKind::StorageFull.into());
        let refused = create_whole_by(&other, fill, refuse, rename);
        let Err(CoordinatorError::Party(PartyError::File { action, .. })) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(action, "create");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_there_with_all_its_files_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("study");
        let failed = create_whole(&path, |folder| {
            fs::write(folder.join("one"), "").unwrap();
            // Until all files are there, the name is free.
            assert!(!path.exists());
            Err(CoordinatorError::NotOver {
                folder: folder.to_owned(),
            })
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
        create_whole(&path, |folder| {
            fs::write(folder.join("one"), "").unwrap();
            Ok(())
        })
        .unwrap();
        assert!(path.join("one").exists());
        let again = create_whole(&path, |_| Ok(()));
        assert!(matches!(again, Err(CoordinatorError::Exists { .. })));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
