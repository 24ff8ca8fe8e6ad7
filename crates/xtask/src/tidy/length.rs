//! A file holds one idea. Past 600 lines it holds more, unless `tidy.toml` says why not.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::finding::Finding;
use crate::repository::Repository;

/// The most lines a source file may have.
const MOST_LINES: usize = 600;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exceptions {
    #[serde(default)]
    long: BTreeMap<String, String>,
}

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let exceptions = match toml::from_str(repository.text(LIST).unwrap_or_default()) {
        Ok(exceptions) => exceptions,
        Err(error) => {
            let problem = format!("is malformed: {error}");
            findings.push(Finding::in_file(
                LIST,
                problem,
                "write [long] with \"path\" = \"reason\"",
            ));
            Exceptions::default()
        }
    };
    for (path, text) in repository.texts_ending(&[".rs", ".py"]) {
        let lines = text.lines().count();
        if lines > MOST_LINES && !exceptions.long.contains_key(path) {
            let problem = format!("has {lines} lines; at most {MOST_LINES} are allowed");
            let remedy =
                format!("divide it where its ideas divide, or list it in {LIST} with the reason");
            findings.push(Finding::in_file(path, problem, remedy));
        }
    }
    for (path, reason) in &exceptions.long {
        let is_long = repository
            .text(path)
            .is_some_and(|t| t.lines().count() > MOST_LINES);
        if !is_long {
            let problem = format!("lists `{path}`, which is not too long");
            findings.push(Finding::in_file(
                LIST,
                problem,
                "delete the line: the list only shrinks",
            ));
        } else if reason.trim().is_empty() {
            let problem = format!("lists `{path}` without a reason");
            findings.push(Finding::in_file(LIST, problem, "say why it is one idea"));
        }
    }
    findings
}

const LIST: &str = "tidy.toml";

#[cfg(test)]
mod tests {
    use super::check;
    use crate::repository::Repository;
    use crate::tidy::shown;

    fn found(list: &str, lines: usize) -> Vec<String> {
        let text = "\n".repeat(lines);
        shown(&check(&Repository::sample([
            ("tidy.toml", list),
            ("a/b.rs", &text),
        ])))
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(found("", 600), [""; 0]);
        assert!(found("", 601)[0].starts_with("a/b.rs: has 601 lines"));
    }

    #[test]
    fn a_long_file_may_be_listed_with_a_reason() {
        assert_eq!(found("[long]\n\"a/b.rs\" = \"one table\"", 601), [""; 0]);
        assert!(found("[long]\n\"a/b.rs\" = \" \"", 601)[0].contains("without a reason"));
    }

    #[test]
    fn a_needless_exception_is_found() {
        assert!(found("[long]\n\"a/b.rs\" = \"one table\"", 5)[0].contains("not too long"));
        assert!(found("[long]\n\"a/gone.rs\" = \"x\"", 5)[0].contains("not too long"));
    }

    #[test]
    fn a_malformed_list_is_found() {
        assert!(found("short = 1", 5)[0].contains("is malformed"));
    }
}
