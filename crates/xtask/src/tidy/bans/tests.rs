use super::{check, exception_file, parse};
use crate::repository::Repository;
use crate::tidy::shown;

const ROOT: &str = r#"allow-unwrap-in-tests = true
disallowed-methods = [
    { path = "std::fs::read", reason = "x" },
    { path = "std::fs::write", reason = "x" },
    { path = "std::env::var", reason = "x" },
]
"#;

const LIST: &str = "[a]\nreason = \"It reads files.\"\nlift = [\"std::fs::*\"]\n";

fn found(list: &str, exception: Option<&str>) -> Vec<String> {
    let manifest = ("crates/a/Cargo.toml", "");
    let root = ("clippy.toml", ROOT);
    let list = ("crates/xtask/lifted-bans.toml", list);
    let repository = match exception {
        Some(text) => Repository::sample([manifest, root, list, ("crates/a/clippy.toml", text)]),
        None => Repository::sample([manifest, root, list]),
    };
    shown(&check(&repository).findings)
}

fn good() -> String {
    let repository = Repository::sample([("crates/xtask/lifted-bans.toml", LIST)]);
    exception_file(
        ROOT,
        &parse(&repository).expect("the sample is well-formed")["a"],
    )
}

#[test]
fn an_exception_lifts_what_is_declared_and_keeps_the_rest() {
    let text = good();
    assert!(!text.contains("std::fs::"));
    assert!(text.contains("std::env::var") && text.contains("allow-unwrap-in-tests = true"));
    assert_eq!(found(LIST, Some(&text)), [""; 0]);
}

#[test]
fn a_ban_that_is_not_repeated_is_found() {
    let text = good().replace("{ path = \"std::env::var\", reason = \"x\" },", "");
    assert!(found(LIST, Some(&text))[0].contains("does not repeat the bans of std::env::var"));
}

#[test]
fn any_other_difference_is_found() {
    let text = good().replace("true", "false");
    assert!(found(LIST, Some(&text))[0].starts_with("crates/a/clippy.toml:2: differs"));
    let longer = format!("{}too-many-lines-threshold = 1\n", good());
    assert!(found(LIST, Some(&longer))[0].contains("differs"));
}

#[test]
fn an_undeclared_exception_is_found() {
    assert!(found("", Some(&good()))[0].contains("does not let `a` lift any"));
    let hidden = Repository::sample([
        ("clippy.toml", ROOT),
        ("crates/a/Cargo.toml", ""),
        ("crates/a/.clippy.toml", ""),
    ]);
    assert!(shown(&check(&hidden).findings)[0].contains("hidden exception"));
}

#[test]
fn a_missing_exception_file_is_found() {
    assert!(found(LIST, None)[0].starts_with("crates/a/clippy.toml: is missing"));
}

#[test]
fn a_declaration_needs_a_reason_and_a_ban_to_lift() {
    let list = "[b]\nreason = \" \"\nlift = [\"std::net::*\"]\n";
    let found = found(list, None);
    assert!(found[0].contains("gives no reason for `b`"));
    assert!(found[1].contains("`b` lifts `std::net::*`, which is not banned"));
}

#[test]
fn a_crate_may_ban_more_than_the_root_file() {
    let list =
        "[a]\nreason = \"It decides.\"\n\n[[a.ban]]\nreason = \"y\"\nmethods = [\"f64::ln\"]\n";
    let repository = Repository::sample([("crates/xtask/lifted-bans.toml", list)]);
    let exceptions = parse(&repository).expect("the sample is well-formed");
    let text = exception_file(ROOT, &exceptions["a"]);
    assert!(text.contains("disallowed-methods = [\n    { path = \"f64::ln\", reason = \"y\" },\n"));
    assert!(text.contains("std::fs::read") && text.contains("std::env::var"));
    assert_eq!(found(list, Some(&text)), [""; 0]);
    let without = text.replace("    { path = \"f64::ln\", reason = \"y\" },\n", "");
    assert!(found(list, Some(&without))[0].contains("does not repeat the bans of f64::ln"));
}

#[test]
fn a_ban_of_a_crate_needs_a_reason_and_is_not_in_the_root_file() {
    let list = "[b]\nreason = \"x\"\n\n[[b.ban]]\nreason = \" \"\nmethods = [\"std::fs::read\"]\n";
    let found = found(list, None);
    assert!(found[0].contains("`b` bans `std::fs::read`, which clippy.toml bans already"));
    assert!(found[1].contains("gives no plain reason for a ban of `b`"));
}

#[test]
fn a_malformed_list_is_found() {
    assert!(found("[b]\n", None)[0].contains("is malformed"));
}

#[test]
fn a_root_file_that_bans_nothing_is_found() {
    let repository = Repository::sample([("clippy.toml", "")]);
    assert!(shown(&check(&repository).findings)[0].contains("bans nothing"));
}

#[test]
fn a_star_covers_a_module_and_not_a_prefix_of_a_name() {
    assert!(super::covers("std::fs::*", "std::fs::File::open"));
    assert!(!super::covers("std::fs*", "std::fs::read"));
    assert!(!super::covers("std::fs::re*", "std::fs::read"));
}
