//! A party's policy as its owner wrote it.

use sprifed_study::Policy;

use crate::failure::Failure;

/// The policy that `text` spells; messages call it `name`.
///
/// # Errors
/// When it is none, or is of an earlier version and lacks a key that has no safe default.
pub fn parse_policy(text: &str, name: &str) -> Result<Policy, Failure> {
    let unusable = |error: toml::de::Error| Failure::unusable(name, &error, "a policy");
    let keys: toml::Table = toml::from_str(text).map_err(unusable)?;
    let lacks = |(key, _): &&(&str, &str)| !keys.contains_key(*key);
    let missing: Vec<&(&str, &str)> = Policy::LATER_KEYS.iter().filter(lacks).collect();
    if missing.is_empty() {
        return toml::from_str(text).map_err(unusable);
    }
    let names: Vec<String> = missing.iter().map(|(key, _)| format!("`{key}`")).collect();
    let lines: Vec<&str> = missing.iter().map(|(_, line)| *line).collect();
    Err(Failure::usage(
        "sprifed::policy::earlier-version",
        format!(
            "`{name}` does not say {}; a policy that says so is required",
            names.join(" and ")
        ),
        &format!(
            "add what this party agrees to, such as: {}; nothing was spent",
            lines.join(" and ")
        ),
    ))
}
