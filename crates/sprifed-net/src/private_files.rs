//! Files that only their owner reads, and files that are whole or absent.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::NetError;

/// Writes a new file that only its owner may read.
///
/// # Errors
/// If the file exists: keys are not overwritten.
pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> Result<(), NetError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    owner_only(&mut options);
    let mut file = options.open(path).map_err(NetError::file("create", path))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(NetError::file("write", path))
}

/// Makes sure that `path` exists and that a new one is readable by its owner only.
pub(crate) fn touch_private(path: &Path) -> Result<fs::File, NetError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    owner_only(&mut options);
    options.open(path).map_err(NetError::file("open", path))
}

/// Writes each file under a temporary name and renames it, so that a reader sees all of it or none.
///
/// # Errors
/// If a name has a folder in it, or the disk refuses.
pub(crate) fn write_artefacts(
    folder: &Path,
    artefacts: &[(String, Vec<u8>)],
) -> Result<Vec<PathBuf>, NetError> {
    fs::create_dir_all(folder).map_err(NetError::file("create", folder))?;
    let mut written = Vec::with_capacity(artefacts.len());
    for (name, bytes) in artefacts {
        if Path::new(name)
            .file_name()
            .is_none_or(|file| file != name.as_str())
        {
            return Err(NetError::Setting {
                found: name.clone(),
                required: "plain file name",
            });
        }
        let path = folder.join(name);
        let unfinished = folder.join(format!("{name}.unfinished"));
        let mut file =
            fs::File::create(&unfinished).map_err(NetError::file("create", &unfinished))?;
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(NetError::file("write", &unfinished))?;
        fs::rename(&unfinished, &path).map_err(NetError::file("write", &path))?;
        written.push(path);
    }
    Ok(written)
}

#[cfg(unix)]
fn owner_only(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn owner_only(_: &mut OpenOptions) {}
