//! Every claim points at a numbered statement of a paper in `REFERENCES.bib`.
//!
//! A citation is `[KEY, locator]` in documentation, several being parted by semicolons. A key is two
//! or more capital letters and a year of two digits, or `SPRIFED`, the paper we implement. The rule
//! checks that the key exists and that a locator follows; whether the statement says what the claim
//! says is for the reviewer.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::spells_the_rules;

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let keys = keys_of(repository.text(BIBLIOGRAPHY).unwrap_or_default());
    let mut findings = Vec::new();
    for (path, text) in repository.texts_ending(&[".rs", "README.md"]) {
        if spells_the_rules(path) {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            let Some(documentation) = documentation_of(path, line) else {
                continue;
            };
            for citation in citations_in(documentation) {
                let (problem, remedy) = if !keys.contains(citation.key) {
                    (
                        "is not in REFERENCES.bib",
                        "correct the key, or add the paper",
                    )
                } else if !citation.has_locator {
                    (
                        "is cited without a locator",
                        "say which theorem, lemma or section",
                    )
                } else {
                    continue;
                };
                let problem = format!("[{}] {problem}", citation.key);
                findings.push(Finding::in_file(path, problem, remedy).at_line(number));
            }
        }
    }
    findings
}

struct Citation<'t> {
    key: &'t str,
    has_locator: bool,
}

fn keys_of(bibliography: &str) -> BTreeSet<&str> {
    bibliography.lines().filter_map(key_of_entry).collect()
}

/// The key in `@article{KEY,`.
fn key_of_entry(line: &str) -> Option<&str> {
    let (_, after) = line.strip_prefix('@')?.split_once('{')?;
    let (key, _) = after.split_once(',')?;
    Some(key.trim())
}

fn documentation_of<'t>(path: &str, line: &'t str) -> Option<&'t str> {
    if path.ends_with(".md") {
        return Some(line);
    }
    let line = line.trim_start();
    line.strip_prefix("///")
        .or_else(|| line.strip_prefix("//!"))
}

fn citations_in(text: &str) -> impl Iterator<Item = Citation<'_>> {
    text.split('[').skip(1).flat_map(|after| {
        let inside = after.split(']').next().unwrap_or(after);
        inside.split(';').filter_map(|part| {
            let part = part.trim_start();
            let end = part
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(part.len());
            let (key, rest) = part.split_at(end);
            is_key(key).then(|| Citation {
                key,
                has_locator: rest.starts_with(','),
            })
        })
    })
}

fn is_key(word: &str) -> bool {
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let has_initials = letters.len() >= 2 && letters.chars().all(|c| c.is_ascii_uppercase());
    word == "SPRIFED" || (has_initials && word.len() == letters.len() + 2)
}

const BIBLIOGRAPHY: &str = "REFERENCES.bib";

#[cfg(test)]
mod tests {
    use super::check;
    use crate::repository::Repository;
    use crate::tidy::shown;

    const PAPERS: &str = "@inproceedings{BS16,\n  title = {x},\n}\n@article{CKS20,\n}\n";

    fn found(text: &str) -> Vec<String> {
        shown(&check(&Repository::sample([
            ("REFERENCES.bib", PAPERS),
            ("a.rs", text),
        ])))
    }

    #[test]
    fn a_known_key_with_a_locator_is_a_citation() {
        assert_eq!(
            found("/// [BS16, Prop. 1.6] with [CKS20, Thm 4; BS16, Lemma 2]."),
            [""; 0]
        );
        assert_eq!(
            found("//! A locator may be on the next line: [CKS20,"),
            [""; 0]
        );
    }

    #[test]
    fn an_unknown_key_is_found() {
        assert!(found("\n    /// See [XYZ99, Thm 1].")[0].starts_with("a.rs:2: [XYZ99] is not in"));
        assert!(found("/// [BS16, Prop. 1.6; XYZ99, Thm 1]")[0].contains("[XYZ99]"));
    }

    #[test]
    fn a_missing_locator_is_found() {
        assert!(found("/// As in [BS16].")[0].contains("without a locator"));
        assert!(found("/// As in [SPRIFED].")[0].contains("[SPRIFED] is not in"));
    }

    #[test]
    fn links_and_code_are_not_citations() {
        assert_eq!(
            found("/// [Rho], [`Mu`], [x](y), [F64].\nlet a = [XYZ99];"),
            [""; 0]
        );
    }
}
