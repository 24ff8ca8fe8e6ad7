//! Files that only their owner reads, and files that are whole or absent.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::NetError;

/// Writes a new file that only its owner may read: under a temporary name, synced, then renamed. Whoever is
/// killed on the way leaves nothing under `path`.
///
/// # Errors
/// If the file exists: keys are not overwritten. If the disk refuses.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<(), NetError> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = write_new(&temporary, bytes).and_then(|()| settle(&temporary, path));
    // After a rename there is nothing to remove.
    let _ = fs::remove_file(&temporary);
    written.map_err(NetError::file("create", path))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    owner_only(&mut options);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Gives a file its name, unless another has it.
fn settle(temporary: &Path, path: &Path) -> io::Result<()> {
    // A second name for the file never replaces another one; not every file system has them.
    match fs::hard_link(temporary, path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) if fs::exists(path)? => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(temporary, path)?,
    }
    sync_folder(path)
}

/// Makes a folder that only its owner may enter, with those above it; one that is there is left as it is.
///
/// # Errors
/// If the disk refuses.
pub fn create_private_folder(folder: &Path) -> Result<(), NetError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .map_err(NetError::file("create", folder))
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

/// A new name survives a power cut once its folder is synced.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
