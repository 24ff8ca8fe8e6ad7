//! One process for one state file.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::StoreError;
use crate::private_files::touch_private;

/// A lock that the operating system takes back when the process ends, however it ends.
///
/// It is a file of its own, so that the state itself stays readable for inspection, and it is never
/// deleted: it may be the lock of another process.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

impl StateLock {
    /// Locks the state file `state`.
    ///
    /// # Errors
    /// If another process has it, or the disk refuses.
    pub fn take(state: &Path) -> Result<Self, StoreError> {
        let mut name = state.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let unusable = |reason: String| StoreError::Unusable {
            path: path.clone(),
            reason,
        };
        let file = touch_private(&path).map_err(|error| unusable(error.to_string()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
                path: state.to_owned(),
            }),
            Err(TryLockError::Error(error)) => Err(unusable(error.to_string())),
        }
    }
}
