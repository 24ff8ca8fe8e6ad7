//! Every crate obeys the workspace lints, and every library says why it exists.

use crate::finding::Finding;
use crate::repository::Repository;

/// Fewer lines of crate docs than this cannot say why a crate exists and what it leaves out.
const LEAST_DOC_LINES: usize = 3;

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, manifest) in repository.crates() {
        let path = format!("crates/{folder}/Cargo.toml");
        match toml::from_str::<toml::Table>(manifest) {
            Ok(table) => findings.extend(check_table(folder, &path, &table)),
            Err(error) => {
                let problem = format!("is malformed: {}", error.message());
                findings.push(Finding::in_file(path, problem, "make it TOML"));
            }
        }
        findings.extend(check_docs(repository, folder));
    }
    findings
}

fn check_table(folder: &str, path: &str, table: &toml::Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let inherits = |table: &toml::Table| {
        table
            .get("lints")
            .and_then(|lints| lints.get("workspace")?.as_bool())
            == Some(true)
    };
    if !inherits(table) {
        let remedy = "add [lints] with workspace = true; be stricter with #![deny(…)]";
        findings.push(Finding::in_file(
            path,
            "does not inherit the workspace lints",
            remedy,
        ));
    }
    let name = table
        .get("package")
        .and_then(|package| package.get("name")?.as_str());
    if name != Some(folder) {
        let problem = format!("the crate in folder `{folder}` has another name");
        findings.push(Finding::in_file(
            path,
            problem,
            "give folder and crate one name",
        ));
    }
    findings
}

fn check_docs(repository: &Repository, folder: &str) -> Option<Finding> {
    let path = format!("crates/{folder}/src/lib.rs");
    let text = repository.text(&path)?;
    let has_readme = repository
        .text(&format!("crates/{folder}/README.md"))
        .is_some();
    let shows_readme = text.contains(r#"#![doc = include_str!("../README.md")]"#);
    let doc_lines = text.lines().filter(|line| line.starts_with("//!")).count();
    if (has_readme && shows_readme) || doc_lines >= LEAST_DOC_LINES {
        return None;
    }
    let remedy = "write README.md and show it with #![doc = include_str!(\"../README.md\")], \
                  or say in `//!` why the crate exists and what it leaves out";
    Some(Finding::in_file(
        path,
        "the library does not say why it exists",
        remedy,
    ))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::repository::Repository;
    use crate::tidy::shown;

    const GOOD: &str = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n";

    fn found(manifest: &str, library: &str) -> Vec<String> {
        let files = [
            ("crates/a/Cargo.toml", manifest),
            ("crates/a/src/lib.rs", library),
        ];
        shown(&check(&Repository::sample(files)))
    }

    #[test]
    fn a_crate_without_the_workspace_lints_is_found() {
        let docs = "//! a\n//! b\n//! c\n";
        assert_eq!(found(GOOD, docs), [""; 0]);
        assert!(found("[package]\nname = \"a\"\n", docs)[0].contains("does not inherit"));
        let off = GOOD.replace("true", "false");
        assert!(found(&off, docs)[0].contains("does not inherit"));
        assert!(found("[package", docs)[0].contains("is malformed"));
    }

    #[test]
    fn a_crate_named_unlike_its_folder_is_found() {
        let other = GOOD.replace("\"a\"", "\"b\"");
        assert!(found(&other, "//! a\n//! b\n//! c\n")[0].contains("another name"));
    }

    #[test]
    fn an_undocumented_library_is_found() {
        assert!(found(GOOD, "//! a\n")[0].contains("does not say why"));
        let shows = "#![doc = include_str!(\"../README.md\")]\n";
        assert!(
            found(GOOD, shows)[0].contains("does not say why"),
            "the file is missing"
        );
        let files = [
            ("crates/a/Cargo.toml", GOOD),
            ("crates/a/src/lib.rs", shows),
            ("crates/a/README.md", "# a"),
        ];
        assert!(check(&Repository::sample(files)).is_empty());
    }
}
