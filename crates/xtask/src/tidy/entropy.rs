//! Entropy enters each program in one file (invariant 3).

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::{code_lines, spells_the_rules};

/// One for the command line, one for the Python package.
const ENTRIES: [&str; 2] = [
    "crates/sprifed-cli/src/entropy.rs",
    "crates/sprifed-python/src/entropy.rs",
];

const SOURCES: [&str; 7] = [
    "getrandom",
    "SysRng",
    "OsRng",
    "ThreadRng",
    "thread_rng",
    "rand::rng(",
    "/dev/urandom",
];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.texts_ending(&[".rs"]) {
        if ENTRIES.contains(&path) || spells_the_rules(path) || path == SAMPLES {
            continue;
        }
        for (number, line) in code_lines(text) {
            if let Some(source) = SOURCES.into_iter().find(|source| line.contains(source)) {
                let problem = format!("names the entropy source `{source}`");
                let entries = ENTRIES.join(" and ");
                let remedy =
                    format!("take an RNG as an argument; entropy enters only in {entries}");
                findings.push(Finding::in_file(path, problem, remedy).at_line(number));
            }
        }
    }
    findings
}

/// Bad samples for the check of dependencies.
const SAMPLES: &str = "crates/xtask/src/layers/tests.rs";

#[cfg(test)]
mod tests {
    use super::{ENTRIES, SOURCES, check};
    use crate::repository::Repository;
    use crate::tidy::shown;

    #[test]
    fn a_source_elsewhere_is_found() {
        for source in SOURCES {
            let text = format!("\nuse {source};\n");
            let found = shown(&check(&Repository::sample([("crates/a/src/b.rs", &text)])));
            assert!(
                found[0].starts_with("crates/a/src/b.rs:2: names the entropy"),
                "{source}"
            );
        }
    }

    #[test]
    fn the_entries_may_use_entropy() {
        for entry in ENTRIES {
            assert!(check(&Repository::sample([(entry, "getrandom::fill(&mut seed)")])).is_empty());
        }
    }
}
