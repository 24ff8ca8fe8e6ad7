//! The nearest `clippy.toml` replaces the root file, so an exception repeats every ban it does not lift.
//!
//! What each crate may lift, and what it bans beside the root file, is in `lifted-bans.toml`. The
//! exception file of a crate is then the root file without the lines it lifts and with the lines it
//! adds: `cargo xtask bans` writes it and the rule compares.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::XtaskError;
use crate::finding::{Finding, Report};
use crate::repository::Repository;

#[cfg(test)]
mod tests;

/// What one crate lifts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    reason: String,
    /// Paths, or `module::*` for everything below a module.
    #[serde(default)]
    lift: Vec<String>,
    /// What this crate alone may not use.
    #[serde(default)]
    ban: Vec<Ban>,
}

/// Methods and types that one crate may not use, for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ban {
    reason: String,
    #[serde(default)]
    methods: Vec<String>,
    #[serde(default)]
    types: Vec<String>,
}

impl Exception {
    /// The lines that follow `heading`, which opens a list of the root file.
    fn added_below(&self, heading: &str) -> Vec<String> {
        let of = |ban: &Ban| -> Vec<String> {
            let paths = match heading {
                "disallowed-methods = [" => &ban.methods,
                "disallowed-types = [" => &ban.types,
                _ => return Vec::new(),
            };
            let line = |path| format!("    {{ path = \"{path}\", reason = \"{}\" }},", ban.reason);
            paths.iter().map(line).collect()
        };
        self.ban.iter().flat_map(of).collect()
    }

    fn lifts(&self, ban: &str) -> bool {
        self.lift.iter().any(|lifted| covers(lifted, ban))
    }
}

type Exceptions = BTreeMap<String, Exception>;

/// Compares every exception file with the root file and the list of what may be lifted.
pub(super) fn check(repository: &Repository) -> Report {
    let mut report = Report::default();
    let root = repository.text(ROOT).unwrap_or_default();
    let exceptions = match parse(repository) {
        Ok(exceptions) => exceptions,
        Err(error) => {
            report
                .findings
                .push(Finding::in_file(LIST, error.to_string(), "correct it"));
            return report;
        }
    };
    if bans_in(root).next().is_none() {
        report
            .findings
            .push(Finding::in_file(ROOT, "bans nothing", "restore the bans"));
    }
    for (folder, exception) in &exceptions {
        report
            .findings
            .extend(check_exception(root, folder, exception));
    }
    for (folder, _) in repository.crates() {
        let hidden = format!("crates/{folder}/.clippy.toml");
        if repository.text(&hidden).is_some() {
            let problem = "is a hidden exception to the bans";
            report.findings.push(Finding::in_file(
                hidden,
                problem,
                "declare it and rename it",
            ));
        }
        let path = format!("crates/{folder}/clippy.toml");
        let found = repository.text(&path);
        report
            .findings
            .extend(match (found, exceptions.get(folder)) {
                (None, None) => None,
                (None, Some(_)) => Some(Finding::in_file(path, "is missing", REWRITE)),
                (Some(_), None) => {
                    let problem =
                        format!("lifts bans, but {LIST} does not let `{folder}` lift any");
                    Some(Finding::in_file(
                        path,
                        problem,
                        "delete it, or argue for a line there",
                    ))
                }
                (Some(found), Some(exception)) => {
                    compare(&path, found, &exception_file(root, exception))
                }
            });
    }
    let planned = exceptions
        .keys()
        .filter(|name| repository.crates().all(|(n, _)| n != *name));
    report
        .notes
        .extend(planned.map(|name| format!("`{name}` lifts bans but does not exist yet")));
    report
}

/// Writes the exception file of every existing crate that has one declared.
pub(crate) fn write_exceptions(
    folder: &Path,
    repository: &Repository,
) -> Result<Report, XtaskError> {
    let root = repository.text(ROOT).unwrap_or_default();
    let exceptions = parse(repository)?;
    let mut report = Report::default();
    for (name, _) in repository.crates() {
        let Some(exception) = exceptions.get(name) else {
            continue;
        };
        let path = folder.join(format!("crates/{name}/clippy.toml"));
        fs::write(&path, exception_file(root, exception))
            .map_err(|source| XtaskError::File { path, source })?;
        report
            .notes
            .push(format!("wrote crates/{name}/clippy.toml"));
    }
    Ok(report)
}

fn parse(repository: &Repository) -> Result<Exceptions, XtaskError> {
    toml::from_str(repository.text(LIST).unwrap_or_default()).map_err(|error| {
        XtaskError::Malformed {
            path: LIST.to_owned(),
            reason: error.to_string(),
        }
    })
}

fn check_exception(root: &str, folder: &str, exception: &Exception) -> Vec<Finding> {
    let mut findings = Vec::new();
    if exception.reason.trim().is_empty() {
        let problem = format!("gives no reason for `{folder}`");
        findings.push(Finding::in_file(
            LIST,
            problem,
            "say why the crate needs what it lifts",
        ));
    }
    for lifted in &exception.lift {
        if !bans_in(root).any(|ban| covers(lifted, ban)) {
            let problem = format!("`{folder}` lifts `{lifted}`, which is not banned");
            findings.push(Finding::in_file(LIST, problem, "delete it"));
        }
    }
    for ban in &exception.ban {
        let paths = ban.methods.iter().chain(&ban.types);
        for path in paths.filter(|path| bans_in(root).any(|known| known == *path)) {
            let problem = format!("`{folder}` bans `{path}`, which {ROOT} bans already");
            findings.push(Finding::in_file(LIST, problem, "delete it"));
        }
        if ban.reason.trim().is_empty() || ban.reason.contains('"') {
            let problem = format!("gives no plain reason for a ban of `{folder}`");
            findings.push(Finding::in_file(LIST, problem, "say why, without quotes"));
        }
    }
    findings
}

fn compare(path: &str, found: &str, expected: &str) -> Option<Finding> {
    let missing: Vec<&str> = bans_in(expected)
        .filter(|ban| bans_in(found).all(|kept| kept != *ban))
        .collect();
    if !missing.is_empty() {
        let problem = format!("does not repeat the bans of {}", missing.join(", "));
        return Some(Finding::in_file(path, problem, REWRITE));
    }
    let differs = (1..)
        .zip(found.lines().zip(expected.lines()))
        .find(|(_, (a, b))| a != b);
    let line = differs.map_or(1, |(number, _)| number);
    let finding = Finding::in_file(path, "differs from what its crate may lift", REWRITE);
    (found != expected).then(|| finding.at_line(line))
}

/// The root file without the lines that `exception` lifts, and with those that it adds.
fn exception_file(root: &str, exception: &Exception) -> String {
    let mut text = format!("# Written by `cargo xtask bans`. {}\n", exception.reason);
    for line in root
        .lines()
        .filter(|line| !ban_of(line).is_some_and(|ban| exception.lifts(ban)))
    {
        text.push_str(line);
        text.push('\n');
        for added in exception.added_below(line) {
            text.push_str(&added);
            text.push('\n');
        }
    }
    text
}

fn covers(lifted: &str, ban: &str) -> bool {
    match lifted.strip_suffix('*') {
        Some(module) => module.ends_with("::") && ban.starts_with(module),
        None => lifted == ban,
    }
}

fn bans_in(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(ban_of)
}

/// The path in a line of the form `{ path = "…", … },`.
fn ban_of(line: &str) -> Option<&str> {
    let (path, _) = line
        .trim_start()
        .strip_prefix("{ path = \"")?
        .split_once('"')?;
    Some(path)
}

const ROOT: &str = "clippy.toml";
const LIST: &str = "crates/xtask/lifted-bans.toml";
const REWRITE: &str = "run `cargo xtask bans`";
