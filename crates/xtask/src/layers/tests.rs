use super::{Allowed, check};
use crate::workspace::{Dependency, Need, Package, Workspace};

const ALLOWED: &str = r#"
    [pure]
    low = ["thiserror"]
    [tests]
    any = ["proptest"]
    [randomness]
    more_sources = ["getrandom"]
    [randomness.users]
    rand_core = ["middle"]
    [test-support]
    middle = ["high"]
"#;

/// Three crates, one per layer, in which `from` depends on `on`.
fn findings(from: &str, on: &str, kind: Need) -> Vec<String> {
    let packages = ["low", "middle", "high"].map(|name| Package {
        name: name.to_owned(),
        manifest: format!("[package]\n\n[dependencies]\n{on} = \"1\"\n"),
        dependencies: if name == from {
            vec![Dependency {
                name: on.to_owned(),
                kind,
            }]
        } else {
            Vec::new()
        },
    });
    let workspace = Workspace {
        order: ["low", "middle", "high"]
            .map(|name| vec![name.to_owned()])
            .into(),
        pure: vec!["low".to_owned()],
        packages: packages.into(),
    };
    texts(&workspace)
}

fn texts(workspace: &Workspace) -> Vec<String> {
    let allowed = Allowed::parse(ALLOWED).expect("the sample is well-formed");
    check(workspace, &allowed)
        .findings
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn refuses(found: &[String], what: &str) {
    assert!(
        found.iter().any(|text| text.contains(what)),
        "no `{what}` in {found:?}"
    );
}

#[test]
fn a_crate_may_depend_on_a_lower_layer_only() {
    assert_eq!(findings("high", "low", Need::Build), [""; 0]);
    refuses(
        &findings("low", "high", Need::Build),
        "`low` (layer 0) depends on `high` (layer 2)",
    );
    refuses(&findings("low", "low", Need::Build), "not below it");
}

#[test]
fn a_finding_names_the_line_of_the_manifest() {
    refuses(
        &findings("low", "high", Need::Build),
        "crates/low/Cargo.toml:4:",
    );
}

#[test]
fn tests_may_look_up_only_where_it_is_listed_as_test_support() {
    assert_eq!(findings("middle", "high", Need::Tests), [""; 0]);
    refuses(&findings("middle", "high", Need::Build), "not below it");
    refuses(&findings("low", "high", Need::Tests), "not below it");
}

#[test]
fn a_pure_crate_uses_only_what_is_allowed() {
    assert_eq!(findings("low", "thiserror", Need::Build), [""; 0]);
    refuses(
        &findings("low", "tokio", Need::Build),
        "PURE crate `low` may not depend on `tokio`",
    );
    assert_eq!(findings("high", "tokio", Need::Build), [""; 0]);
}

#[test]
fn tests_of_a_pure_crate_use_only_what_is_allowed() {
    assert_eq!(findings("low", "proptest", Need::Tests), [""; 0]);
    assert_eq!(findings("low", "thiserror", Need::Tests), [""; 0]);
    refuses(
        &findings("low", "tokio", Need::Tests),
        "tests of PURE crate `low`",
    );
    refuses(
        &findings("low", "proptest", Need::Build),
        "may not depend on `proptest`",
    );
}

#[test]
fn a_random_source_has_listed_users_only() {
    assert_eq!(findings("middle", "rand_core", Need::Build), [""; 0]);
    refuses(
        &findings("high", "rand_core", Need::Build),
        "random source `rand_core`",
    );
    refuses(
        &findings("middle", "rand_distr", Need::Build),
        "random source `rand_distr`",
    );
    refuses(
        &findings("middle", "getrandom", Need::Build),
        "random source `getrandom`",
    );
}

#[test]
fn every_crate_has_exactly_one_layer() {
    let package = |name: &str| Package {
        name: name.to_owned(),
        manifest: String::new(),
        dependencies: Vec::new(),
    };
    let workspace = Workspace {
        order: vec![vec!["low".to_owned()], vec!["low".to_owned()]],
        pure: vec!["unlisted".to_owned()],
        packages: vec![package("low"), package("stray")],
    };
    let found = texts(&workspace);
    refuses(&found, "crates/stray/Cargo.toml:1: belongs to no layer");
    refuses(&found, "`low` is listed in two layers");
    refuses(
        &found,
        "`unlisted` is listed as pure but belongs to no layer",
    );
}

#[test]
fn a_listed_crate_that_does_not_exist_is_noted_but_fails_nothing() {
    let workspace = Workspace {
        order: vec![vec!["planned".to_owned()]],
        pure: Vec::new(),
        packages: Vec::new(),
    };
    let allowed = Allowed::parse(ALLOWED).expect("the sample is well-formed");
    let report = check(&workspace, &allowed);
    assert!(report.findings.is_empty());
    assert_eq!(
        report.notes,
        ["`planned` has a layer but does not exist yet"]
    );
}

#[test]
fn an_unknown_table_in_the_allow_list_is_refused() {
    assert!(Allowed::parse(&format!("{ALLOWED}\n[surprise]\n")).is_err());
}
