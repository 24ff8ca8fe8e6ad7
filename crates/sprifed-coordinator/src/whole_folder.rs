//! Folders that appear whole or not at all, also if the process is killed.

use std::fs;
use std::io;
use std::path::Path;

use sprifed_party::{PartyError, cause_of, is_there};

use crate::error::CoordinatorError;

/// Fills a hidden folder beside `path` that only its owner may enter, and gives it that name when it is whole.
///
/// # Errors
/// When the name is taken, `fill` fails, or the disk refuses. Nothing is left then.
pub(crate) fn create_whole(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), CoordinatorError>,
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
    match fs::rename(hidden.path(), path) {
        Ok(()) => {
            // It has its name now, and nothing is to be removed.
            let _ = hidden.keep();
            Ok(())
        }
        Err(_) if is_there(path) => Err(exists()),
        Err(error) => Err(refused(&error).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::create_whole;
    use crate::error::CoordinatorError;

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
