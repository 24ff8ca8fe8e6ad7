//! Which crates may depend on which (invariant 1), on what from outside (invariant 2), and on which
//! source of randomness (invariant 3).
//!
//! The order of layers is in the root manifest; the lists of outside crates are in
//! `allowed-dependencies.toml`. This module only compares. It sees direct dependencies, not what
//! those depend on in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::XtaskError;
use crate::finding::{Finding, Report};
use crate::workspace::{Dependency, Need, Package, Workspace};

#[cfg(test)]
mod tests;

/// The decisions of `allowed-dependencies.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Allowed {
    pure: BTreeMap<String, BTreeSet<String>>,
    tests: ForTests,
    randomness: Randomness,
    test_support: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForTests {
    any: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Randomness {
    more_sources: BTreeSet<String>,
    users: BTreeMap<String, BTreeSet<String>>,
}

impl Allowed {
    /// Reads the file beside this crate's manifest.
    pub(crate) fn load(root: &Path) -> Result<Self, XtaskError> {
        let path = root.join(ALLOWED);
        let text = fs::read_to_string(&path).map_err(|source| XtaskError::File { path, source })?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, XtaskError> {
        toml::from_str(text).map_err(|error| XtaskError::Malformed {
            path: ALLOWED.to_owned(),
            reason: error.to_string(),
        })
    }
}

impl Randomness {
    fn is_source(&self, name: &str) -> bool {
        name.starts_with("rand") || self.more_sources.contains(name)
    }
}

/// Compares every dependency of every crate with what is allowed.
pub(crate) fn check(workspace: &Workspace, allowed: &Allowed) -> Report {
    let mut report = Report::default();
    let height = heights(workspace, &mut report);
    for package in &workspace.packages {
        if !height.contains_key(package.name.as_str()) {
            report.findings.push(
                finding(
                    package,
                    "belongs to no layer",
                    "list it in [workspace.metadata.layers]",
                )
                .at_line(1),
            );
        }
        for dependency in &package.dependencies {
            let found = if workspace.has(&dependency.name) {
                check_inside(package, dependency, &height, allowed)
                    .into_iter()
                    .collect()
            } else {
                check_outside(package, dependency, workspace, allowed)
            };
            report.findings.extend(found);
        }
    }
    report
}

/// The layer of each listed crate, counted from below.
fn heights<'w>(workspace: &'w Workspace, report: &mut Report) -> BTreeMap<&'w str, usize> {
    let mut height = BTreeMap::new();
    for (layer, names) in workspace.order.iter().enumerate() {
        for name in names {
            if height.insert(name.as_str(), layer).is_some() {
                let problem = format!("`{name}` is listed in two layers");
                report
                    .findings
                    .push(Finding::in_file("Cargo.toml", problem, "keep one"));
            }
            if !workspace.has(name) {
                report
                    .notes
                    .push(format!("`{name}` has a layer but does not exist yet"));
            }
        }
    }
    for name in &workspace.pure {
        if !height.contains_key(name.as_str()) {
            let problem = format!("`{name}` is listed as pure but belongs to no layer");
            report
                .findings
                .push(Finding::in_file("Cargo.toml", problem, "give it a layer"));
        }
    }
    height
}

fn check_inside(
    package: &Package,
    dependency: &Dependency,
    height: &BTreeMap<&str, usize>,
    allowed: &Allowed,
) -> Option<Finding> {
    let from = height.get(package.name.as_str())?;
    let to = height.get(dependency.name.as_str())?;
    let is_support = dependency.kind == Need::Tests
        && allowed
            .test_support
            .get(&package.name)
            .is_some_and(|names| names.contains(&dependency.name));
    if to < from || is_support {
        return None;
    }
    let problem = format!(
        "`{}` (layer {from}) depends on `{}` (layer {to}), which is not below it",
        package.name, dependency.name,
    );
    Some(
        finding(
            package,
            problem,
            "move the code down, or pass the value in from above",
        )
        .at_line(package.line_of(&dependency.name)),
    )
}

fn check_outside(
    package: &Package,
    dependency: &Dependency,
    workspace: &Workspace,
    allowed: &Allowed,
) -> Vec<Finding> {
    let name = &dependency.name;
    let is_pure = workspace.pure.contains(&package.name);
    let mut problems = Vec::new();
    match dependency.kind {
        Need::Build => {
            let may = allowed
                .pure
                .get(&package.name)
                .is_some_and(|names| names.contains(name));
            if is_pure && !may {
                problems.push((
                    format!("PURE crate `{}` may not depend on `{name}`", package.name),
                    format!("do without it, or argue for a line in {ALLOWED}"),
                ));
            }
            let users = allowed.randomness.users.get(name);
            let may_draw = users.is_some_and(|names| names.contains(&package.name));
            if allowed.randomness.is_source(name) && !may_draw {
                problems.push((
                    format!(
                        "`{}` may not depend on the random source `{name}`",
                        package.name
                    ),
                    "take an RNG as an argument; noise is drawn only in sprifed-noise".to_owned(),
                ));
            }
        }
        Need::Tests => {
            let may = allowed.tests.any.contains(name)
                || allowed
                    .pure
                    .get(&package.name)
                    .is_some_and(|names| names.contains(name));
            if is_pure && !may {
                problems.push((
                    format!(
                        "tests of PURE crate `{}` may not depend on `{name}`",
                        package.name
                    ),
                    format!("do without it, or argue for a line in {ALLOWED}"),
                ));
            }
        }
    }
    let line = package.line_of(name);
    problems
        .into_iter()
        .map(|(problem, remedy)| finding(package, problem, remedy).at_line(line))
        .collect()
}

fn finding(package: &Package, problem: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding::in_file(
        format!("crates/{}/Cargo.toml", package.name),
        problem,
        remedy,
    )
}

const ALLOWED: &str = "crates/xtask/allowed-dependencies.toml";
