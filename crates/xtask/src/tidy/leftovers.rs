//! No unfinished code, disabled test or debug output is left.

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::{code_lines, spells_the_rules};

const LEFTOVERS: [(&str, &str); 4] = [
    (
        "todo!(",
        "finish it, or return an error that says what is missing",
    ),
    (
        "unimplemented!(",
        "finish it, or return an error that says what is missing",
    ),
    ("#[ignore", "make the test pass, make it fast, or delete it"),
    ("dbg!(", "delete it"),
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
        let text = "    // no todo!( here\n";
        assert!(check(&Repository::sample([("crates/a/src/b.rs", text)])).is_empty());
        assert!(
            check(&Repository::sample([(
                "crates/xtask/src/tidy/b.rs",
                "todo!()"
            )]))
            .is_empty()
        );
        assert!(
            !check(&Repository::sample([(
                "crates/xtask/src/main.rs",
                "todo!()"
            )]))
            .is_empty()
        );
    }
}
