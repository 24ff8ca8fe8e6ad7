//! A module's name is its idea. These names say nothing about it.

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::code_lines;

const EMPTY_NAMES: [&str; 7] = [
    "common", "helper", "helpers", "misc", "types", "util", "utils",
];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.texts_ending(&[".rs", ".py"]) {
        if path == "mod.rs" || path.ends_with("/mod.rs") {
            let problem = "is a mod.rs, whose name says nothing in a tab or a stack trace";
            let remedy = "move it to a file named after the module, beside the folder";
            findings.push(Finding::in_file(path, problem, remedy));
        }
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        for part in stem.split('/').filter(|part| EMPTY_NAMES.contains(part)) {
            let problem = format!("lies in a module called `{part}`");
            findings.push(Finding::in_file(path, problem, REMEDY));
        }
        if path.ends_with(".rs") {
            findings.extend(code_lines(text).filter_map(|(number, line)| {
                let name = inline_module(line).filter(|name| EMPTY_NAMES.contains(name))?;
                let problem = format!("declares a module called `{name}`");
                Some(Finding::in_file(path, problem, REMEDY).at_line(number))
            }));
        }
    }
    findings
}

/// The name in `mod name {`, with or without a visibility.
fn inline_module(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let after = match line.strip_prefix("pub") {
        Some(rest) => rest.trim_start_matches(|c| c != ' ').trim_start(),
        None => line,
    };
    let name = after.strip_prefix("mod ")?.strip_suffix('{')?;
    Some(name.trim())
}

const REMEDY: &str = "name it after what it holds";

#[cfg(test)]
mod tests {
    use super::check;
    use crate::repository::Repository;
    use crate::tidy::shown;

    fn found(path: &str, text: &str) -> Vec<String> {
        shown(&check(&Repository::sample([(path, text)])))
    }

    #[test]
    fn a_mod_file_is_found() {
        assert!(found("crates/a/src/b/mod.rs", "")[0].contains("is a mod.rs"));
        assert_eq!(found("crates/a/src/b.rs", ""), [""; 0]);
    }

    #[test]
    fn an_empty_name_is_found_in_files_and_folders() {
        for path in [
            "a/src/utils.rs",
            "a/tests/common/setup.rs",
            "python/x/helpers.py",
        ] {
            assert!(
                found(path, "")[0].contains("lies in a module called"),
                "{path}"
            );
        }
        assert_eq!(found("a/src/typesetting.rs", ""), [""; 0]);
    }

    #[test]
    fn an_empty_name_is_found_in_the_text() {
        assert!(found("a.rs", "x\npub(crate) mod utils {")[0].starts_with("a.rs:2: declares"));
        assert!(found("a.rs", "mod types {}\nmod misc {")[0].starts_with("a.rs:2: declares"));
        assert_eq!(found("a.rs", "mod tests {\n// mod utils {"), [""; 0]);
    }
}
