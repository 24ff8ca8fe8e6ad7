//! Entropy enters the program in one file (invariant 3).

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::{code_lines, spells_the_rules};

const DOOR: &str = "crates/sprifed-cli/src/entropy.rs";

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
        if path == DOOR || spells_the_rules(path) || path == SAMPLES {
            continue;
        }
        for (number, line) in code_lines(text) {
            if let Some(source) = SOURCES.into_iter().find(|source| line.contains(source)) {
                let problem = format!("names the entropy source `{source}`");
                let remedy = format!("take an RNG as an argument; entropy enters only in {DOOR}");
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
    use super::{DOOR, SOURCES, check};
    use crate::repository::Repository;
    use crate::tidy::told;

    #[test]
    fn a_source_elsewhere_is_found() {
        for source in SOURCES {
            let text = format!("\nuse {source};\n");
            let found = told(&check(&Repository::sample([("crates/a/src/b.rs", &text)])));
            assert!(
                found[0].starts_with("crates/a/src/b.rs:2: names the entropy"),
                "{source}"
            );
        }
    }

    #[test]
    fn the_door_is_open() {
        assert!(check(&Repository::sample([(DOOR, "getrandom::fill(&mut seed)")])).is_empty());
    }
}
