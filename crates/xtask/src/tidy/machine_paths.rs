//! No file names a folder of the machine on which it was written.

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::spells_the_rules;

const FOLDERS: [&str; 5] = ["/Users/", "/home/", "/root/", "/tmp/", "C:\\Users\\"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.texts() {
        if spells_the_rules(path) {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(folder) = FOLDERS
                .into_iter()
                .find(|folder| starts_a_path(line, folder))
            {
                let problem = format!("names a path of one machine, under `{folder}`");
                let remedy = "use a path relative to the root, or one the user gives";
                findings.push(Finding::in_file(path, problem, remedy).at_line(number));
            }
        }
    }
    findings
}

/// Whether `folder` occurs in `line` as the beginning of a path, not in the middle of one.
fn starts_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/}*~".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::{FOLDERS, check};
    use crate::repository::Repository;
    use crate::tidy::shown;

    fn found(text: &str) -> Vec<String> {
        shown(&check(&Repository::sample([("notes.md", text)])))
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        for folder in FOLDERS {
            let text = format!("first\nsee `{folder}x`\n");
            assert!(
                found(&text)[0].starts_with("notes.md:2: names a path"),
                "{folder}"
            );
        }
    }

    #[test]
    fn the_middle_of_a_path_is_not_the_beginning_of_one() {
        assert_eq!(found("https://example.org/home/x and docs/tmp/y"), [""; 0]);
    }
}
