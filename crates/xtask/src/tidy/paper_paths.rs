//! A paper that names a file names one that exists.
//!
//! Checked are links to files, and names in backquotes that start with a folder of the root. Names with
//! a placeholder (`<name>`, `*`) are patterns, not files.

use crate::finding::Finding;
use crate::repository::Repository;

const FOLDERS: [&str; 3] = ["crates/", "docs/", "vectors/"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.texts_ending(&[".md"]) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        // A crate's README speaks of its own folder and is rendered elsewhere.
        if !(folder.is_empty() || folder.starts_with("docs")) {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            let quoted = line
                .split('`')
                .skip(1)
                .step_by(2)
                .filter(|name| is_file_name(name));
            let links = links_in(line).map(|target| resolved(folder, target));
            for name in quoted.map(str::to_owned).chain(links) {
                if !exists(repository, &name) {
                    let problem = format!("names `{name}`, which does not exist");
                    let remedy =
                        "correct the name, or say that it is planned without naming a file";
                    findings.push(Finding::in_file(path, problem, remedy).at_line(number));
                }
            }
        }
    }
    findings
}

fn is_file_name(name: &str) -> bool {
    FOLDERS.iter().any(|folder| name.starts_with(folder))
        && !name.contains(|c: char| c.is_whitespace() || "<>*{}".contains(c))
}

/// The targets of links in `line` that stay within the project.
fn links_in(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|after| {
        let (target, _) = after.split_once(')')?;
        let target = target.split('#').next()?;
        (!target.is_empty() && !target.contains(':')).then_some(target)
    })
}

/// `target` as seen from `folder`, counted from the root.
fn resolved(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn exists(repository: &Repository, name: &str) -> bool {
    let name = name.trim_end_matches('/');
    repository.files().any(|(path, _)| {
        path.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::repository::Repository;
    use crate::tidy::shown;

    fn found(path: &str, text: &str) -> Vec<String> {
        let files = [(path, text), ("crates/a/src/b.rs", ""), ("GUIDE.md", "")];
        shown(&check(&Repository::sample(files)))
    }

    #[test]
    fn files_and_folders_that_exist_may_be_named() {
        assert_eq!(
            found(
                "A.md",
                "`crates/a/src/b.rs`, `crates/a/`, [it](GUIDE.md#top)"
            ),
            [""; 0]
        );
        assert_eq!(
            found("docs/decisions/1.md", "[it](../../GUIDE.md)"),
            [""; 0]
        );
        assert_eq!(
            found("A.md", "`crates/<name>` and [web](https://example.org/x)"),
            [""; 0]
        );
    }

    #[test]
    fn a_file_that_does_not_exist_is_found() {
        assert!(found("A.md", "\n`crates/a/src/c.rs`")[0].starts_with("A.md:2: names"));
        assert!(found("A.md", "[it](LOST.md)")[0].contains("`LOST.md`"));
        assert!(found("docs/1.md", "[it](GUIDE.md)")[0].contains("`docs/GUIDE.md`"));
        assert!(found("A.md", "`crates/a/sr`")[0].contains("does not exist"));
    }
}
