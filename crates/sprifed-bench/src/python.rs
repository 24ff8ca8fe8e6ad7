//! A Python process that is measured for comparison: started with a script, given input, and read.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;

/// What `script` prints when it is given `arguments` and what `feed` writes.
///
/// # Errors
/// When Python does not start, stops reading or fails.
pub(crate) fn run(
    python: &Path,
    script: &str,
    arguments: &[String],
    feed: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<String, Error> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark starts the peer that it measures"
    )]
    let mut command = Command::new(python);
    let mut child = command
        .args(["-c", script])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| refuse(format!("{} does not start: {error}", python.display())))?;
    if let Some(mut stdin) = child.stdin.take() {
        let written = feed(&mut stdin);
        written.map_err(|error| refuse(format!("the peer stopped reading: {error}")))?;
    }
    let ended = child.wait_with_output();
    let ended = ended.map_err(|error| refuse(format!("the peer was lost: {error}")))?;
    if !ended.status.success() {
        return Err(refuse(format!("the peer ended with {}", ended.status)));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned())
}

/// The peer did not do its part.
pub(crate) const fn refuse(found: String) -> Error {
    Error::Peer(found)
}
