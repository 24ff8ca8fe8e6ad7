//! The tests of the workspace, those of one crate, the command and the Python wheel use shared dependencies with the same features, so that
//! nothing is compiled twice.

use std::collections::BTreeSet;
use std::process::Command;

use crate::quick::ONE_SET_OF_FEATURES;
use crate::workspace::Workspace;

/// The outside crates of a build with their features, one line each.
fn features(build: &[&str]) -> BTreeSet<String> {
    let tree = Command::new("cargo")
        .args([
            "tree",
            "--locked",
            "--prefix",
            "none",
            "--format",
            "{p} [{f}]",
        ])
        .args(build)
        .current_dir(crate::root())
        .output()
        .expect("cargo can be run");
    assert!(tree.status.success(), "cargo tree {build:?} failed");
    let text = String::from_utf8(tree.stdout).expect("text");
    let plain = |line: &str| line.replace(" (*)", "").replace(" (proc-macro)", "");
    let is_outside = |line: &&str| !line.is_empty() && !line.starts_with("sprifed");
    let lines = text.lines().filter(is_outside);
    lines.map(plain).collect()
}

#[test]
fn the_builds_share_what_they_compile() {
    let tests = features(&["--workspace", "--edges", "normal,build,dev"]);
    let compare = |build: &[&str]| {
        let build_features = features(build);
        let others: Vec<_> = build_features.difference(&tests).collect();
        assert!(
            others.is_empty(),
            "{build:?} needs other features than the tests of the workspace: {others:#?}\n\
             name them in crates/sprifed-one-build/Cargo.toml"
        );
    };
    for package in ["sprifed-cli", "sprifed-python"] {
        compare(&["--package", package, "--edges", "normal,build"]);
    }
    let workspace = Workspace::load(&crate::root()).expect("the workspace");
    for package in workspace
        .packages
        .iter()
        .map(|package| package.name.as_str())
    {
        let quickly = ["--edges", "normal,build,dev", "--package", package];
        compare(&[&quickly[..], &ONE_SET_OF_FEATURES].concat());
    }
}
