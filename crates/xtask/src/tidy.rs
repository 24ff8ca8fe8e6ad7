//! Rules about files rather than about programs: length, names, words, leftovers, manifests, citations, bans
//! and vectors. Each submodule is one rule and its bad samples.

use crate::finding::{Finding, Report};
use crate::repository::Repository;

pub(crate) mod bans;
mod citations;
pub(crate) mod dependencies;
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
    let checks: [fn(&Repository) -> Vec<Finding>; 13] = [
        length::check,
        names::check,
        leftovers::check,
        machine_paths::check,
        entropy::check,
        manifests::check,
        citations::check,
        dependencies::check,
        paper_paths::check,
        proofs::check,
        rounding::check,
        vectors::check,
        wording::check,
    ];
    for check in checks {
        report.findings.extend(check(repository));
    }
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
fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
