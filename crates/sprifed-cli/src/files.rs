//! Files that appear whole or not at all, and never in place of another by accident.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

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
    /// Makes sure that `path` can be written, without writing it.
    ///
    /// # Errors
    /// When the file is there and may not be replaced, or its folder cannot be written to.
    pub(crate) fn reserve(path: &Path, overwrite: Overwrite) -> Result<Self, Failure> {
        refuse_existing(path, overwrite)?;
        if path.file_name().is_none() || path.is_dir() {
            let message = format!(
                "`{}` is a folder or no name; required: a file name",
                path.display()
            );
            return Err(Failure::usage(
                "sprifed::file::not-a-name",
                message,
                "name a file; nothing was spent",
            ));
        }
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let hidden = hidden_in(folder.unwrap_or(Path::new(".")));
        Ok(Self {
            path: path.to_owned(),
            hidden: hidden.map_err(|error| unwritable(path, &error))?,
            overwrite,
        })
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
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                refuse_existing(&self.path, self.overwrite)
            }
            Err(error) => Err(unwritable(&self.path, &error.error)),
        }
    }
}

/// A new hidden file that its owner shares as the system's settings say, as any file that a program writes.
fn hidden_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sprifed-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
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

fn refuse_existing(path: &Path, overwrite: Overwrite) -> Result<(), Failure> {
    if overwrite == Overwrite::Forced || !path.exists() {
        return Ok(());
    }
    let message = format!("`{}` exists and is not overwritten", path.display());
    let help = "choose another name with --out, or pass --force; nothing was spent";
    Err(Failure::usage("sprifed::file::exists", message, help))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!(
        "`{}` cannot be written: {error}; required: a writable folder",
        path.display()
    );
    let help = "check the folder, its permissions and the space left, or choose another with --out";
    Failure::environment("sprifed::file::unwritable", message, help)
}

/// Writes a new file that only its owner can read, whole or not at all.
///
/// # Errors
/// When it is there already or the disc refuses.
pub(crate) fn create_private(path: &Path, contents: &str) -> Result<(), Failure> {
    sprifed_party::create_private(path, contents.as_bytes()).map_err(|error| {
        let help = "check the folder, its permissions and the space left, or choose another";
        Failure::environment("sprifed::file::unwritable", error.to_string(), help)
    })
}
