//! No unfinished code, disabled test or debug output is left.

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::{code_lines, spells_the_rules};

/// In pieces, so that a search for what is unfinished does not find this list.
const LEFTOVERS: [(&str, &str); 4] = [
    (
        concat!("todo", "!("),
        "finish it, or return an error that says what is missing",
    ),
    (
        concat!("unimplemented", "!("),
        "finish it, or return an error that says what is missing",
    ),
    (
        concat!("#[", "ignore"),
        "make the test pass, make it fast, or delete it",
    ),
    (concat!("dbg", "!("), "delete it"),
];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.texts_ending(&[".rs"]) {
        if spells_the_rules(path) {
            continue;
        }
        for (number, line) in code_lines(text) {
            for (leftover, remedy) in LEFTOVERS {
                if line.contains(leftover) {
                    let problem = format!("contains `{leftover}`");
                    findings.push(Finding::in_file(path, problem, remedy).at_line(number));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{LEFTOVERS, check};
    use crate::repository::Repository;
    use crate::tidy::shown;

    #[test]
    fn every_leftover_is_found() {
        for (leftover, _) in LEFTOVERS {
            let text = format!("fn f() {{\n    {leftover}\n}}\n");
            let found = shown(&check(&Repository::sample([("crates/a/src/b.rs", &text)])));
            assert!(
                found[0].starts_with("crates/a/src/b.rs:2: contains"),
                "{leftover}"
            );
        }
    }

    #[test]
    fn a_comment_may_name_one_and_so_may_the_rules() {
        let (leftover, _) = LEFTOVERS[0];
        let comment = format!("    // no {leftover} here\n");
        let found = |path: &str, text: &str| check(&Repository::sample([(path, text)]));
        assert!(found("crates/a/src/b.rs", &comment).is_empty());
        assert!(found("crates/xtask/src/tidy/b.rs", leftover).is_empty());
        assert!(!found("crates/xtask/src/main.rs", leftover).is_empty());
    }

    #[test]
    fn a_plain_search_finds_no_leftover_in_this_file() {
        let text = include_str!("leftovers.rs");
        for (leftover, _) in LEFTOVERS {
            assert!(!text.contains(leftover), "{leftover}");
        }
    }
}
