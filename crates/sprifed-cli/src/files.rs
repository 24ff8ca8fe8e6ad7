//! Files that appear whole or not at all, and never in place of another by accident.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use sprifed_party::cause_of;
use tempfile::NamedTempFile;

use crate::failure::Failure;

/// A place that a file will be renamed to, checked to be writable before any work is done. The hidden file beside it goes
/// away with this value.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    hidden: NamedTempFile,
    overwrite: Overwrite,
}

/// Whether a file that is already there may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// It is left alone and the command refused.
    Refused,
    /// It is replaced, because the user said `--force`.
    Forced,
}

impl From<bool> for Overwrite {
    /// What the flag `--force` means.
    fn from(force: bool) -> Self {
        if force { Self::Forced } else { Self::Refused }
    }
}

impl Destination {
    /// Makes sure that `path` can be written and is none of `inputs`, without writing it.
    ///
    /// # Errors
    /// When the file is there and may not be replaced, is no regular file or one of `inputs`, or its folder cannot be
    /// written to.
    pub(crate) fn reserve(
        path: &Path,
        overwrite: Overwrite,
        inputs: &[&Path],
    ) -> Result<Self, Failure> {
        let is_folder = path.to_string_lossy().ends_with(std::path::is_separator);
        if is_folder || path.file_name().is_none() || path.is_dir() {
            return Err(Failure::usage(
                "sprifed::file::not-a-name",
                format!(
                    "`{}` is a folder or no name; required: a file name",
                    path.display()
                ),
                "name a file; nothing was spent",
            ));
        }
        if inputs.iter().any(|input| is_same_file(input, path)) {
            return Err(Failure::usage(
                "sprifed::file::is-input",
                format!(
                    "`{}` is an input of this command, or another file that it writes",
                    path.display()
                ),
                "name another file; nothing was spent",
            ));
        }
        let found = look_at(path)?;
        let hidden = hidden_beside(path, found.as_ref());
        let hidden = hidden.map_err(|error| unwritable(path, &error))?;
        match found {
            Some(_) if overwrite == Overwrite::Refused => Err(exists(path)),
            Some(found) if !found.is_file() && !found.is_symlink() => Err(Failure::usage(
                "sprifed::file::not-a-file",
                format!(
                    "`{}` is a device or a pipe; required: the name of a file",
                    path.display()
                ),
                "name a file; nothing was spent",
            )),
            _ => Ok(Self {
                path: path.to_owned(),
                hidden,
                overwrite,
            }),
        }
    }

    /// Where the file will be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the whole file and puts it in its place.
    ///
    /// # Errors
    /// When the disc refuses, or another file has taken the place meanwhile.
    pub(crate) fn write(mut self, contents: &str) -> Result<(), Failure> {
        let written = self.hidden.write_all(contents.as_bytes());
        let written = written.and_then(|()| self.hidden.as_file().sync_all());
        written.map_err(|error| unwritable(&self.path, &error))?;
        let placed = match self.overwrite {
            Overwrite::Forced => self.hidden.persist(&self.path),
            Overwrite::Refused => self.hidden.persist_noclobber(&self.path),
        };
        match placed {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(exists(&self.path)),
            Err(error) => Err(unwritable(&self.path, &error.error)),
        }
    }
}

/// What has the name `path`, be it a link that leads nowhere.
fn look_at(path: &Path) -> Result<Option<Metadata>, Failure> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritable(path, &error)),
    }
}

/// Whether two paths lead to one file, as far as the file system tells, also if the file is not there yet.
pub(crate) fn is_same_file(left: &Path, right: &Path) -> bool {
    let whole = |path: &Path| {
        let beside = || {
            let folder = folder_of(path).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        };
        let there = path.canonicalize().ok();
        there.or_else(beside).unwrap_or_else(|| path.to_owned())
    };
    whole(left) == whole(right)
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}

/// A new hidden file with the permissions of the file that it replaces, or those that the system's settings give to any
/// new file.
fn hidden_beside(path: &Path, found: Option<&Metadata>) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sprifed-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let former = found.filter(|found| found.is_file());
        let new = || fs::Permissions::from_mode(0o666);
        builder.permissions(former.map_or_else(new, Metadata::permissions));
    }
    #[cfg(not(unix))]
    let _ = found;
    builder.tempfile_in(folder_of(path))
}

/// Writes `contents` beside `path`, under a name that was free: `path.KIND.json`, or with a number.
///
/// # Errors
/// When no such file can be made.
pub(crate) fn write_beside(path: &Path, kind: &str, contents: &str) -> Result<PathBuf, Failure> {
    let mut number = 1u32;
    loop {
        let mut name = OsString::from(path);
        name.push(if number == 1 {
            format!(".{kind}.json")
        } else {
            format!(".{kind}-{number}.json")
        });
        let beside = PathBuf::from(name);
        match File::create_new(&beside) {
            Ok(mut file) => {
                let written = file
                    .write_all(contents.as_bytes())
                    .and_then(|()| file.sync_all());
                return written
                    .map(|()| beside.clone())
                    .map_err(|error| unwritable(&beside, &error));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(error) => return Err(unwritable(&beside, &error)),
        }
    }
}

fn exists(path: &Path) -> Failure {
    let message = format!("`{}` exists and is not overwritten", path.display());
    let help = "choose another name, or pass --force where the command has it; nothing was spent";
    Failure::usage("sprifed::file::exists", message, help)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!(
        "`{}` cannot be written: {}; required: a name in a writable folder",
        path.display(),
        cause_of(error)
    );
    let help = "check the name, the folder, its permissions and the space left, or choose another";
    Failure::environment("sprifed::file::unwritable", message, help)
}

/// Writes a new file that only its owner can read, whole or not at all.
///
/// # Errors
/// When it is there already or the disc refuses.
pub(crate) fn create_private(path: &Path, contents: &str) -> Result<(), Failure> {
    if look_at(path)?.is_some() {
        return Err(exists(path));
    }
    sprifed_party::create_private(path, contents.as_bytes()).map_err(|error| {
        let help = "check the folder, its permissions and the space left, or choose another";
        Failure::environment("sprifed::file::unwritable", error.to_string(), help)
    })
}
