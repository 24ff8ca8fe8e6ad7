//! Rules about files rather than about programs: length, names, words, leftovers, manifests, citations, bans
//! and vectors. Each submodule is one rule and its bad samples.

use crate::finding::Report;
use crate::repository::Repository;

pub(crate) mod bans;
mod citations;
mod entropy;
mod leftovers;
mod length;
mod machine_paths;
mod manifests;
mod names;
mod paper_paths;
mod proofs;
mod rounding;
pub(crate) mod vectors;
mod wording;

/// Applies every rule.
pub(crate) fn check(repository: &Repository) -> Report {
    let mut report = Report::default();
    report.findings.extend(length::check(repository));
    report.findings.extend(names::check(repository));
    report.findings.extend(leftovers::check(repository));
    report.findings.extend(machine_paths::check(repository));
    report.findings.extend(entropy::check(repository));
    report.findings.extend(manifests::check(repository));
    report.findings.extend(citations::check(repository));
    report.findings.extend(paper_paths::check(repository));
    report.findings.extend(proofs::check(repository));
    report.findings.extend(rounding::check(repository));
    report.findings.extend(vectors::check(repository));
    report.findings.extend(wording::check(repository));
    let bans = bans::check(repository);
    report.findings.extend(bans.findings);
    report.notes.extend(bans.notes);
    report.findings.sort();
    report
}

/// Whether `path` holds the rules themselves, which must spell out what they forbid.
fn spells_the_rules(path: &str) -> bool {
    path.starts_with("crates/xtask/src/tidy/")
}

/// The lines of a Rust file that are not comments, counted from one.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[cfg(test)]
fn shown(findings: &[crate::finding::Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
