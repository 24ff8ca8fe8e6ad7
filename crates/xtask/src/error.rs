//! What can keep a check from being made at all. A check that was made and failed is a
//! [`Finding`](crate::finding::Finding), not an error.

use std::io;
use std::path::PathBuf;

/// The environment did not let a check run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum XtaskError {
    /// A file could not be read or written.
    #[error("cannot access {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// A subprocess could not be started or failed.
    #[error("`{command}` failed: {reason}")]
    Command {
        /// The command line.
        command: String,
        /// Its error output.
        reason: String,
    },
    /// A data file of the checks themselves is malformed.
    #[error("{path} is malformed: {reason}")]
    Malformed {
        /// The file.
        path: String,
        /// The parser's message.
        reason: String,
    },
}
