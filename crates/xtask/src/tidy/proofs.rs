//! Every proof that a comment cites exists, down to its section.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::spells_the_rules;

const FOLDER: &str = "docs/proofs/";

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.texts_ending(&[".rs", ".md"]) {
        if spells_the_rules(path) {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            for cited in cited_in(line) {
                let (page, section) = cited
                    .split_once('#')
                    .map_or((cited, None), |(page, section)| (page, Some(section)));
                let page_text = repository.text(&format!("{FOLDER}{page}"));
                let problem = match (page_text, section) {
                    (None, _) => format!("cites the proof {page}, which does not exist"),
                    (Some(text), Some(section)) if !sections(text).contains(section) => {
                        format!("cites the section #{section}, which {page} does not have")
                    }
                    _ => continue,
                };
                let remedy = "correct the citation, or write the proof";
                findings.push(Finding::in_file(path, problem, remedy).at_line(number));
            }
        }
    }
    findings
}

/// What follows `docs/proofs/` in a line, up to the end of the page's name and section.
fn cited_in(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.#".contains(c);
    line.split(FOLDER).skip(1).filter_map(move |after| {
        let end = after.find(|c| !is_part(c)).unwrap_or(after.len());
        let cited = after.get(..end)?.trim_end_matches('.');
        cited.contains(".md").then_some(cited)
    })
}

/// The anchors of all headings of a page.
fn sections(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter_map(|c| match c {
                ' ' | '-' => Some('-'),
                '_' => Some('_'),
                c => c.is_alphanumeric().then_some(c),
            });
            kept.collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::repository::Repository;
    use crate::tidy::shown;

    const PAGE: (&str, &str) = ("docs/proofs/noise.md", "# Noise\n\n## 1. Merging shares\n");

    #[test]
    fn a_proof_or_section_that_does_not_exist_is_found() {
        for cited in ["docs/proofs/other.md", "docs/proofs/noise.md#2-more"] {
            let sample = format!("\n/// See {cited}.\n");
            let found = shown(&check(&Repository::sample([
                PAGE,
                ("crates/a/src/b.rs", &sample),
            ])));
            assert_eq!(found.len(), 1, "{cited}");
            assert!(
                found[0].starts_with("crates/a/src/b.rs:2: cites"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn what_exists_may_be_cited() {
        let sample = "/// docs/proofs/noise.md#1-merging-shares, docs/proofs/noise.md.\n";
        assert!(check(&Repository::sample([PAGE, ("crates/a/src/b.rs", sample)])).is_empty());
    }
}
