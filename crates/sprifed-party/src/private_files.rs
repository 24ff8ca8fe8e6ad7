//! Files that only their owner reads, and files that are whole or absent.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write};
use std::path::{Path, PathBuf};

use crate::error::PartyError;

/// The largest file of a study that is read: 256 MiB.
const LARGEST_FILE: u64 = 256 << 20;

/// Reads a file of a study, unless it has no end or is far too large.
///
/// # Errors
/// If it cannot be read, or is too large.
pub fn read_file(path: &Path) -> Result<Vec<u8>, PartyError> {
    let unreadable = |found: String| PartyError::Unreadable {
        path: path.to_owned(),
        found,
    };
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let taken = io::Read::take(file, LARGEST_FILE + 1).read_to_end(&mut bytes);
    if taken.map_err(|error| unreadable(error.to_string()))? as u64 > LARGEST_FILE {
        return Err(unreadable(format!(
            "it has more than {LARGEST_FILE} bytes, which no file of a study has"
        )));
    }
    Ok(bytes)
}

/// What the system said about a hidden file, without the name of that file, which a reader does not know.
#[must_use]
pub fn cause_of(error: &io::Error) -> String {
    let said = error.to_string();
    said.split(" at path ").next().unwrap_or(&said).to_owned()
}

/// What the file `path` holds, if it is there. A link that leads nowhere is there, and cannot be read.
///
/// # Errors
/// As [`read_file`].
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, PartyError> {
    is_there(path).then(|| read_file(path)).transpose()
}

/// Whether something has the name `path`, be it a link that leads nowhere.
#[must_use]
pub fn is_there(path: &Path) -> bool {
    !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Writes a new file that only its owner may read: under a temporary name, synced, then renamed. A process that is
/// killed on the way leaves nothing under `path`.
///
/// # Errors
/// If the file exists: keys are not overwritten. If the disk refuses.
pub fn create_private(path: &Path, bytes: &[u8]) -> Result<(), PartyError> {
    let temporary = temporary_for(path);
    let written = write_new(&temporary, bytes).and_then(|()| settle(&temporary, path));
    // After a rename there is nothing to remove.
    let _ = fs::remove_file(&temporary);
    written.map_err(PartyError::file("create", path))
}

/// Replaces what `path` holds in one step, in a file that only its owner may read, and overwrites what it held before
/// with zeros. When this returns, a power cut cannot undo it.
///
/// # Errors
/// If there is no such file, or the disk refuses. It holds the one or the other then.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<(), PartyError> {
    let temporary = temporary_for(path);
    let replace = || -> io::Result<()> {
        // It still leads to the former content when the name does not.
        let former = OpenOptions::new().write(true).open(path)?;
        write_new(&temporary, bytes)?;
        rename_durably(&temporary, path)?;
        overwrite(former)?;
        sweep(path)
    };
    let replaced = replace();
    if replaced.is_err() {
        let _ = erase(&temporary);
    }
    replaced.map_err(PartyError::file("replace", path))
}

/// Stores a secret in one step, whether or not one is there: [`replace_private`] or [`create_private`].
///
/// # Errors
/// If the disk refuses. It holds the one or the other then.
pub(crate) fn store_private(path: &Path, bytes: &[u8]) -> Result<(), PartyError> {
    if fs::exists(path).map_err(PartyError::file("look for", path))? {
        replace_private(path, bytes)
    } else {
        create_private(path, bytes)
    }
}

/// Writes a file that only its owner may read in one step, whether or not one is there. When this returns, a power cut
/// cannot undo it. What the file held before is not overwritten: others may be reading it.
///
/// # Errors
/// If the disk refuses. It holds the one or the other then.
pub fn put_private(path: &Path, bytes: &[u8]) -> Result<(), PartyError> {
    let temporary = temporary_for(path);
    write_new(&temporary, bytes)
        .and_then(|()| rename_durably(&temporary, path))
        .map_err(PartyError::file("write", path))
}

/// Gives the file or folder `from` the name `to`, in the place of a file that has it. When this returns, a power cut
/// cannot undo it.
///
/// # Errors
/// If the system refuses. If `from` is no longer there, `to` has its name already, but a power cut may still undo that.
pub fn rename_durably(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder(to)
}

/// Overwrites a file with zeros and removes it, with what a kill left of earlier versions of it; a file that is not
/// there is erased already.
///
/// A disk that writes elsewhere than where it read (flash memory, a file system that copies on write, a backup) may
/// still have the former blocks.
///
/// # Errors
/// If the disk refuses.
pub(crate) fn erase_private(path: &Path) -> Result<(), PartyError> {
    sweep(path)
        .and_then(|()| erase(path))
        .map_err(PartyError::file("erase", path))
}

fn erase(path: &Path) -> io::Result<()> {
    let file = match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    overwrite(file)?;
    fs::remove_file(path)?;
    sync_folder(path)
}

fn overwrite(mut file: fs::File) -> io::Result<()> {
    let length = file.metadata()?.len();
    file.rewind()?;
    io::copy(&mut io::Read::take(io::repeat(0), length), &mut file)?;
    file.sync_all()
}

/// What the temporary names of `path` begin and end with.
fn temporary_marks(path: &Path) -> (String, &'static str) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (format!(".{name}."), ".part")
}

fn temporary_for(path: &Path) -> PathBuf {
    let (start, end) = temporary_marks(path);
    path.with_file_name(format!("{start}{}{end}", std::process::id()))
}

/// Erases files under temporary names of `path`, which processes that were killed left.
fn sweep(path: &Path) -> io::Result<()> {
    let (start, end) = temporary_marks(path);
    for entry in fs::read_dir(folder_of(path))? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with(&start) || !name.ends_with(end) {
            continue;
        }
        // Right after a new file was made, it may be a second name of the file itself.
        if is_one_file(&entry.path(), path)? {
            fs::remove_file(entry.path())?;
        } else {
            erase(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_one_file(left: &Path, right: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    match (identity(left), identity(right)) {
        (Ok(left), Ok(right)) => Ok(left == right),
        (Err(error), _) | (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_one_file(left: &Path, right: &Path) -> io::Result<bool> {
    // Without a way to ask, equal content is taken for one file: it is removed and not overwritten.
    Ok(right.exists() && fs::read(left)? == fs::read(right)?)
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
        Err(_) => return rename_durably(temporary, path),
    }
    sync_folder(path)
}

/// Makes a folder that only its owner may enter, with those above it; one that is there is left as it is.
///
/// # Errors
/// If the disk refuses.
pub fn create_private_folder(folder: &Path) -> Result<(), PartyError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .map_err(PartyError::file("create", folder))
}

/// Makes sure that `path` exists and that a new one is readable by its owner only.
pub(crate) fn touch_private(path: &Path) -> Result<fs::File, PartyError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    owner_only(&mut options);
    options.open(path).map_err(PartyError::file("open", path))
}

/// Opens `path` to be added to; a new file is readable by its owner only.
///
/// # Errors
/// If the disk refuses.
pub fn append_private(path: &Path) -> Result<fs::File, PartyError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    owner_only(&mut options);
    options.open(path).map_err(PartyError::file("open", path))
}

/// Waits until no other process has locked the file `path`, and locks it. The operating system unlocks it when the file
/// is dropped or the process ends.
///
/// # Errors
/// If the disk refuses.
pub(crate) fn lock_private(path: &Path) -> Result<fs::File, PartyError> {
    let file = touch_private(path)?;
    file.lock().map_err(PartyError::file("lock", path))?;
    Ok(file)
}

/// Writes each file under a temporary name and renames it, so that a reader sees all of it or none.
///
/// # Errors
/// If a name has a folder in it, or the disk refuses.
pub fn write_artefacts(
    folder: &Path,
    artefacts: &[(String, Vec<u8>)],
) -> Result<Vec<PathBuf>, PartyError> {
    fs::create_dir_all(folder).map_err(PartyError::file("create", folder))?;
    let mut written = Vec::with_capacity(artefacts.len());
    for (name, bytes) in artefacts {
        if Path::new(name)
            .file_name()
            .is_none_or(|file| file != name.as_str())
        {
            let found = "it has a folder in it";
            return Err(PartyError::unusable(name, found, "a plain file name"));
        }
        let path = folder.join(name);
        let unfinished = folder.join(format!("{name}.unfinished"));
        let mut file =
            fs::File::create(&unfinished).map_err(PartyError::file("create", &unfinished))?;
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(PartyError::file("write", &unfinished))?;
        rename_durably(&unfinished, &path).map_err(PartyError::file("write", &path))?;
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

pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// Syncs `folder` with all files and folders in it: a power cut loses none of their names and contents from then on.
///
/// # Errors
/// If the system refuses.
pub fn sync_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_tree(&entry.path())?;
        } else {
            sync_one(&entry.path())?;
        }
    }
    sync_one(folder)
}

/// Syncs the folder of `path`: a new name in it survives a power cut from then on.
///
/// # Errors
/// If the system refuses.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    sync_one(folder_of(path))
}

#[cfg(unix)]
fn sync_one(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

/// Other systems sync no folder, and files only through the handle that wrote them, as every writer here does.
#[cfg(not(unix))]
fn sync_one(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
