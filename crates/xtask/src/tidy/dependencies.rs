//! The dependencies that are locked are those that `cargo deny` has checked.
//!
//! Building `cargo-deny` takes longer than most of the tests, so it runs where dependencies change (`cargo xtask deny`) and
//! records what it has seen. This rule compares the files with the record.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use super::vectors::checksum;
use crate::error::XtaskError;
use crate::finding::{Finding, Report};
use crate::repository::Repository;
use crate::suite;

/// Compares what is locked and what is allowed with the record.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let recorded = repository.text(RECORD).unwrap_or_default();
    if recorded == current(repository) {
        return Vec::new();
    }
    let problem = "does not record the present Cargo.lock and deny.toml";
    let remedy = "run `cargo xtask deny`, which needs `cargo install cargo-deny --locked`";
    vec![Finding::in_file(RECORD, problem, remedy)]
}

/// Checks licences, bans and sources of all dependencies, and records the files that passed.
pub(crate) fn check_and_record(root: &Path) -> Result<Report, XtaskError> {
    if suite::run(root, &suite::DENY) != ExitCode::SUCCESS {
        let finding = Finding::in_file(RECORD, "was not written", "read what `cargo deny` says");
        return Ok(Report {
            findings: vec![finding],
            notes: Vec::new(),
        });
    }
    let path = root.join(RECORD);
    let text = current(&Repository::load(root)?);
    fs::write(&path, text).map_err(|source| XtaskError::File { path, source })?;
    Ok(Report {
        findings: Vec::new(),
        notes: vec![format!("wrote {RECORD}")],
    })
}

/// The record of the files as they are, in the format of `sha256sum`.
fn current(repository: &Repository) -> String {
    let line = |name| {
        let text = repository.text(name).unwrap_or_default();
        format!("{}  {name}\n", checksum(text.as_bytes()))
    };
    CHECKED.map(line).concat()
}

const CHECKED: [&str; 2] = ["Cargo.lock", "deny.toml"];
const RECORD: &str = "deny.sha256";

#[cfg(test)]
mod tests {
    use super::{RECORD, check, current};
    use crate::repository::Repository;
    use crate::tidy::shown;

    #[test]
    fn a_lock_file_that_was_not_checked_is_found() {
        let checked = current(&Repository::sample([
            ("Cargo.lock", "a"),
            ("deny.toml", "b"),
        ]));
        let found = |lock, rules| {
            let files = [
                ("Cargo.lock", lock),
                ("deny.toml", rules),
                (RECORD, checked.as_str()),
            ];
            shown(&check(&Repository::sample(files)))
        };
        assert_eq!(found("a", "b"), [""; 0]);
        assert!(found("a new crate", "b")[0].contains("run `cargo xtask deny`"));
        assert!(found("a", "a new licence")[0].contains("run `cargo xtask deny`"));
    }
}
