//! Files that appear whole or not at all, and never in place of another by accident.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::PartyError;
use crate::private_files::{cause_of, create_private, folder_of, sync_folder};

#[cfg(test)]
mod tests;

/// Why a file cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// The name of a folder, or no name.
    #[error("`{path}` is a folder or no name; required: a file name")]
    NotAName {
        /// What was named.
        path: PathBuf,
    },
    /// Writing it would destroy what the program reads, or another of its results.
    #[error("`{path}` is an input of this command, or another file that it writes")]
    IsInput {
        /// What was named.
        path: PathBuf,
    },
    /// Something that cannot be replaced by a file.
    #[error("`{path}` is a device or a pipe; required: the name of a file")]
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// A file that may not be replaced.
    #[error("`{path}` exists and is not overwritten")]
    Exists {
        /// Which file.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("`{path}` cannot be written: {reason}; required: a name in a writable folder")]
    Unwritable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

impl DestinationError {
    /// A stable name for scripts.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAName { .. } => "sprifed::file::not-a-name",
            Self::IsInput { .. } => "sprifed::file::is-input",
            Self::NotAFile { .. } => "sprifed::file::not-a-file",
            Self::Exists { .. } => "sprifed::file::exists",
            Self::Unwritable { .. } => "sprifed::file::unwritable",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotAName { .. } | Self::NotAFile { .. } => "name a file; nothing was spent",
            Self::IsInput { .. } => "name another file; nothing was spent",
            Self::Exists { .. } => "choose another name; nothing was spent",
            Self::Unwritable { .. } => {
                "check the name, the folder, its permissions and the space left, or choose another"
            }
        }
    }

    fn exists(path: &Path) -> Self {
        let path = path.to_owned();
        Self::Exists { path }
    }

    fn unwritable(path: &Path, error: &io::Error) -> Self {
        Self::Unwritable {
            path: path.to_owned(),
            reason: cause_of(error),
        }
    }
}

/// A place that a file will be written to, checked to be writable before any work is done. Nothing is there until then, so a
/// process that is killed meanwhile leaves nothing behind.
#[derive(Debug)]
pub struct Destination {
    path: PathBuf,
    overwrite: Overwrite,
}

/// Whether a file that is already there may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// It is left alone and the request refused.
    Refused,
    /// It is replaced, because the user said so.
    Forced,
}

impl From<bool> for Overwrite {
    /// What the flag of a user means who asks to replace files.
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
    pub fn reserve(
        path: &Path,
        overwrite: Overwrite,
        inputs: &[&Path],
    ) -> Result<Self, DestinationError> {
        let is_folder = path.to_string_lossy().ends_with(std::path::is_separator);
        if is_folder || path.file_name().is_none() || path.is_dir() {
            let path = path.to_owned();
            return Err(DestinationError::NotAName { path });
        }
        if inputs.iter().any(|input| is_same_file(input, path)) {
            let path = path.to_owned();
            return Err(DestinationError::IsInput { path });
        }
        let found = look_at(path)?;
        // Made and removed at once: only a try shows whether the folder takes a file.
        drop(hidden_beside(path, found.as_ref())?);
        let path = path.to_owned();
        match found {
            Some(_) if overwrite == Overwrite::Refused => Err(DestinationError::Exists { path }),
            Some(found) if !found.is_file() && !found.is_symlink() => {
                Err(DestinationError::NotAFile { path })
            }
            _ => Ok(Self { path, overwrite }),
        }
    }

    /// Where the file will be.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the whole file and puts it in its place.
    ///
    /// # Errors
    /// When the disk refuses, or another file has taken the place meanwhile.
    pub fn write(self, contents: &str) -> Result<(), DestinationError> {
        let mut hidden = hidden_beside(&self.path, look_at(&self.path)?.as_ref())?;
        let written = hidden.write_all(contents.as_bytes());
        let written = written.and_then(|()| hidden.as_file().sync_all());
        written.map_err(|error| DestinationError::unwritable(&self.path, &error))?;
        let placed = match self.overwrite {
            Overwrite::Forced => hidden.persist(&self.path),
            Overwrite::Refused => hidden.persist_noclobber(&self.path),
        };
        match placed {
            Ok(_) => {
                // The file is there. Without this a power cut may take its name; a folder that refuses is no failure.
                let _ = sync_folder(&self.path);
                Ok(())
            }
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                Err(DestinationError::exists(&self.path))
            }
            Err(error) => Err(DestinationError::unwritable(&self.path, &error.error)),
        }
    }
}

/// What has the name `path`, be it a link that leads nowhere.
fn look_at(path: &Path) -> Result<Option<Metadata>, DestinationError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(DestinationError::unwritable(path, &error)),
    }
}

/// Whether two paths lead to one file, as far as the file system tells, also if the file is not there yet.
///
/// Names that differ only in case are then one: for some file systems they are.
#[must_use]
pub fn is_same_file(left: &Path, right: &Path) -> bool {
    let to_be = |path: &Path| {
        let folder = folder_of(path).canonicalize();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = folder.unwrap_or_else(|_| folder_of(path).to_owned());
        folder.join(name.to_lowercase())
    };
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        (Err(_), Err(_)) => to_be(left) == to_be(right),
        _ => false,
    }
}

/// A new hidden file with the permissions of the file that it replaces, or those that the system's settings give to any
/// new file.
fn hidden_beside(path: &Path, found: Option<&Metadata>) -> Result<NamedTempFile, DestinationError> {
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
    let hidden = builder.tempfile_in(folder_of(path));
    hidden.map_err(|error| DestinationError::unwritable(path, &error))
}

/// Writes `contents` beside `path`, under a name that was free: `path.KIND.json`, or with a number.
///
/// # Errors
/// When no such file can be made. Then none is left.
pub fn write_beside(path: &Path, kind: &str, contents: &str) -> Result<PathBuf, DestinationError> {
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
                if let Err(error) = written {
                    // Half a record would pass for a whole one.
                    let _ = fs::remove_file(&beside);
                    return Err(DestinationError::unwritable(&beside, &error));
                }
                let _ = sync_folder(&beside);
                return Ok(beside);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(error) => return Err(DestinationError::unwritable(&beside, &error)),
        }
    }
}

/// Writes a new file that only its owner can read, whole or not at all.
///
/// # Errors
/// When it is there already or the disk refuses.
pub fn create_private_text(path: &Path, contents: &str) -> Result<(), DestinationError> {
    if look_at(path)?.is_some() {
        return Err(DestinationError::exists(path));
    }
    create_private(path, contents.as_bytes()).map_err(|error| {
        let path = path.to_owned();
        let reason = match error {
            PartyError::File { reason, .. } => reason,
            other => other.to_string(),
        };
        DestinationError::Unwritable { path, reason }
    })
}
