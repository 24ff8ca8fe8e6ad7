//! Published vectors are added to, never edited (invariant 11).
//!
//! `vectors/SHA256SUMS` records every file, in the format of `sha256sum`. This rule compares the files
//! with the record, so that an edit shows as a changed line of the record, which review refuses.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::XtaskError;
use crate::finding::{Finding, Report};
use crate::repository::Repository;

/// Compares the files under `vectors/` with the record.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut recorded = BTreeMap::new();
    for (number, line) in (1..).zip(repository.text(RECORD).unwrap_or_default().lines()) {
        let entry = line.split_once("  ").filter(|(sum, _)| sum.len() == 64);
        let Some((sum, name)) = entry else {
            let problem = "is not a checksum, two spaces and a name";
            findings.push(Finding::in_file(RECORD, problem, "restore the line").at_line(number));
            continue;
        };
        if recorded.insert(name, (number, sum)).is_some() {
            let problem = format!("records `{name}` twice");
            findings.push(Finding::in_file(RECORD, problem, "keep the first").at_line(number));
        }
    }
    for (name, bytes) in vectors(repository) {
        let path = format!("{FOLDER}{name}");
        match recorded.remove(name) {
            None => {
                let remedy = "run `cargo xtask vectors`";
                findings.push(Finding::in_file(
                    path,
                    "is not recorded in SHA256SUMS",
                    remedy,
                ));
            }
            Some((_, sum)) if sum != checksum(bytes) => {
                let remedy = "restore it, and publish the correction under a new name";
                findings.push(Finding::in_file(
                    path,
                    "was edited after it was published",
                    remedy,
                ));
            }
            Some(_) => {}
        }
    }
    findings.extend(recorded.into_iter().map(|(name, (number, _))| {
        let problem = format!("records `{name}`, which is gone");
        Finding::in_file(RECORD, problem, "restore the file").at_line(number)
    }));
    findings
}

/// Adds the checksums of new files to the record. Recorded lines stay as they are.
pub(crate) fn record(root: &Path, repository: &Repository) -> Result<Report, XtaskError> {
    let text = extended(repository);
    let path = root.join(RECORD);
    fs::write(&path, text).map_err(|source| XtaskError::File { path, source })?;
    let findings = check(&Repository::load(root)?);
    Ok(Report {
        findings,
        notes: vec![format!("wrote {RECORD}")],
    })
}

fn extended(repository: &Repository) -> String {
    let mut text = repository.text(RECORD).unwrap_or_default().to_owned();
    let is_new = |name: &str| {
        let recorded = repository.text(RECORD).unwrap_or_default();
        recorded
            .lines()
            .all(|line| line.split_once("  ").map(|(_, name)| name) != Some(name))
    };
    for (name, bytes) in vectors(repository).filter(|(name, _)| is_new(name)) {
        text.push_str(&format!("{}  {name}\n", checksum(bytes)));
    }
    text
}

fn vectors(repository: &Repository) -> impl Iterator<Item = (&str, &[u8])> {
    repository.files().filter_map(|(path, bytes)| {
        let name = path.strip_prefix(FOLDER)?;
        (path != RECORD && !name.ends_with(".md")).then_some((name, bytes))
    })
}

pub(super) fn checksum(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    text
}

const FOLDER: &str = "vectors/";
const RECORD: &str = "vectors/SHA256SUMS";

#[cfg(test)]
mod tests {
    use super::{check, checksum, extended};
    use crate::repository::Repository;
    use crate::tidy::shown;

    // The one-block message of FIPS 180-2.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn found(record: &str, name: &str, text: &str) -> Vec<String> {
        shown(&check(&Repository::sample([
            ("vectors/SHA256SUMS", record),
            (name, text),
        ])))
    }

    #[test]
    fn the_checksum_is_the_standard_one() {
        assert_eq!(checksum(b"abc"), ABC);
    }

    #[test]
    fn an_edited_vector_is_found() {
        let record = format!("{ABC}  a.json\n");
        assert_eq!(found(&record, "vectors/a.json", "abc"), [""; 0]);
        assert!(found(&record, "vectors/a.json", "abd")[0].contains("was edited after"));
    }

    #[test]
    fn an_unrecorded_and_a_removed_vector_are_found() {
        let record = format!("{ABC}  a.json\n");
        let found = found(&record, "vectors/b.json", "abc");
        assert!(found[0].starts_with("vectors/b.json: is not recorded"));
        assert!(found[1].starts_with("vectors/SHA256SUMS:1: records `a.json`, which is gone"));
    }

    #[test]
    fn a_malformed_or_repeated_line_is_found() {
        assert!(found("abc a.json\n", "x", "")[0].contains("is not a checksum"));
        let twice = format!("{ABC}  a.json\n{ABC}  a.json\n");
        assert!(found(&twice, "vectors/a.json", "abc")[0].contains("twice"));
    }

    #[test]
    fn recording_adds_lines_and_changes_none() {
        let old = format!("{}  a.json\n", "0".repeat(64));
        let repository = Repository::sample([
            ("vectors/SHA256SUMS", &old),
            ("vectors/a.json", "edited"),
            ("vectors/b.json", "abc"),
        ]);
        assert_eq!(extended(&repository), format!("{old}{ABC}  b.json\n"));
    }
}
