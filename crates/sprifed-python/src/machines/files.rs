//! Files that only their owner reads, and files that are whole or as they were before.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use sprifed_study::Digest;
use zeroize::Zeroizing;

use super::failure::Failure;

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(Failure::file("read", path))
}

/// What `path` holds, or nothing if there is no such file.
pub(super) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::file("read", path)(error)),
    }
}

/// A key of 64 hexadecimal digits.
pub(super) fn read_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, Failure> {
    let text = Zeroizing::new(read(path)?);
    parse_key(&path.display().to_string(), &String::from_utf8_lossy(&text))
}

/// The key that `text` spells.
pub(super) fn parse_key(what: &str, text: &str) -> Result<Zeroizing<[u8; 32]>, Failure> {
    // The text is not repeated in the message: it may be most of a key.
    let key = Digest::try_from(text.trim().to_owned())
        .map_err(|_| Failure::unusable(what, "no key", "a key of 64 hexadecimal digits"))?;
    Ok(Zeroizing::new(key.0))
}

/// Replaces `path` in one step; when this returns, a power cut can not undo it.
pub(super) fn replace_private(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".unfinished");
    let unfinished = path.with_file_name(name);
    let mut file = private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&unfinished)
        .map_err(Failure::file("written", &unfinished))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, path))
        .and_then(|()| sync_folder(path))
        .map_err(Failure::file("written", path))
}

/// Opens `path` to be added to, a new one readable by its owner only.
pub(super) fn open_to_append(path: &Path) -> Result<File, Failure> {
    private()
        .append(true)
        .create(true)
        .open(path)
        .map_err(Failure::file("written", path))
}

/// Waits until no other process works with `folder`; the lock goes with the file.
pub(super) fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join("lock");
    let file = private()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(Failure::file("opened", &path))?;
    file.lock().map_err(Failure::file("locked", &path))?;
    Ok(file)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> std::io::Result<()> {
    path.parent()
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> std::io::Result<()> {
    Ok(())
}
