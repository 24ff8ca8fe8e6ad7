//! Which version of the sources the results are of.

use std::path::Path;

/// The commit that the build was told in `SPRIFED_COMMIT`; else that of the sources as they are now,
/// marked if they were changed since; `unknown` where there is no git.
#[must_use]
pub fn commit() -> String {
    if let Some(told) = option_env!("SPRIFED_COMMIT") {
        return told.to_owned();
    }
    let git = |arguments: &[&str]| {
        #[expect(
            clippy::disallowed_methods,
            reason = "results name the version of the program that made them"
        )]
        let mut command = std::process::Command::new("git");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let ended = command
            .arg("-C")
            .arg(sources)
            .args(arguments)
            .output()
            .ok()?;
        let text = String::from_utf8(ended.stdout).ok()?;
        ended.status.success().then(|| text.trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match git(&["status", "--porcelain", "--", "crates", "Cargo.lock"]) {
        Some(changes) if changes.is_empty() => commit,
        _ => format!("{commit} with changes"),
    }
}
