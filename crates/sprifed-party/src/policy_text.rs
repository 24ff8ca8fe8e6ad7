//! A policy as its owner wrote it: each mistake is told with its line, what is required, and the keys that there are.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use sprifed_recovery::CertifiedProcedure;
use sprifed_schema::{TomlProblem, line_at, parse_toml};
use sprifed_study::{Day, Policy, PolicyKey, TrusteePolicy};
use toml::{Spanned, Value};

use crate::error::PartyError;

/// A policy of one of the roles.
trait Keyed: DeserializeOwned {
    /// Every key that it may have.
    const KEYS: &'static [PolicyKey];
}

impl Keyed for Policy {
    const KEYS: &'static [PolicyKey] = &Self::KEYS;
}

impl Keyed for TrusteePolicy {
    const KEYS: &'static [PolicyKey] = &Self::KEYS;
}

/// The keys of a policy with their values, and where each value is.
type Keys = BTreeMap<String, Spanned<Value>>;

/// The text of a policy that refuses every study until its owner has thought about it. It allows nothing after `expires`.
#[must_use]
pub fn first_policy(expires: Day) -> String {
    let procedures = CertifiedProcedure::all();
    let procedures: Vec<String> = procedures
        .map(|procedure| format!("{:?}", procedure.name()))
        .collect();
    include_str!("first_policy.toml")
        .replace("EXPIRES", &expires.to_string())
        .replace("PROCEDURES", &procedures.join(", "))
}

/// The text of a trustee's policy that refuses every study until its owner has thought about it. It allows nothing after
/// `expires`.
#[must_use]
pub fn first_trustee_policy(expires: Day) -> String {
    include_str!("first_trustee_policy.toml").replace("EXPIRES", &expires.to_string())
}

/// The policy that `text` spells; messages call it `name`.
///
/// # Errors
/// When it is none, or lacks a key: there is no safe default for what a party agrees to.
pub fn parse_policy(text: &str, name: &str) -> Result<Policy, PartyError> {
    parse(text, name)
}

/// The policy of a trustee that `text` spells; messages call it `name`.
///
/// # Errors
/// As [`parse_policy`].
pub fn parse_trustee_policy(text: &str, name: &str) -> Result<TrusteePolicy, PartyError> {
    parse(text, name)
}

fn parse<P: Keyed>(text: &str, name: &str) -> Result<P, PartyError> {
    let unreadable = |problem| unreadable(P::KEYS, name, &problem);
    let keys: Keys = parse_toml(text).map_err(unreadable)?;
    refuse_unknown(P::KEYS, &keys, text, name)?;
    refuse_missing(P::KEYS, &keys, name)?;
    let parsed = parse_toml(&with_quoted_day(text, &keys));
    parsed.map_err(|problem| illegal(P::KEYS, name, &keys, &problem))
}

fn refuse_unknown(
    known: &'static [PolicyKey],
    keys: &Keys,
    text: &str,
    name: &str,
) -> Result<(), PartyError> {
    let is_known = |found: &str| known.iter().any(|key| key.name == found);
    let unknown = keys.iter().filter(|(found, _)| !is_known(found));
    // The first in the file.
    let Some((found, value)) = unknown.min_by_key(|(_, value)| value.span().start) else {
        return Ok(());
    };
    let (line, _) = line_at(text, value.span().start);
    Err(wrong(
        known,
        format!("`{name}` line {line}: `{found}` is not a key of a policy"),
        "correct or remove it",
    ))
}

fn refuse_missing(known: &'static [PolicyKey], keys: &Keys, name: &str) -> Result<(), PartyError> {
    let is_missing = |key: &&PolicyKey| key.is_required && !keys.contains_key(key.name);
    let missing: Vec<&PolicyKey> = known.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = missing
        .iter()
        .map(|key| format!("`{}`", key.name))
        .collect();
    let lines: Vec<&str> = missing.iter().map(|key| key.line).collect();
    Err(PartyError::PolicyIncomplete {
        name: name.to_owned(),
        missing: names.join(" and "),
        lines: lines.join("\n"),
    })
}

/// TOML has dates of its own, without quotes: the text with quotes around that of `expires`, in the same line.
fn with_quoted_day(text: &str, keys: &Keys) -> String {
    let Some(expires) = keys
        .get("expires")
        .filter(|value| value.get_ref().is_datetime())
    else {
        return text.to_owned();
    };
    let mut quoted = text.to_owned();
    let span = expires.span();
    quoted.insert(span.end, '"');
    quoted.insert(span.start, '"');
    quoted
}

/// A value that its key cannot have.
fn illegal(
    known: &'static [PolicyKey],
    name: &str,
    keys: &Keys,
    problem: &TomlProblem,
) -> PartyError {
    let Some((line, content)) = &problem.line else {
        return unreadable(known, name, problem);
    };
    let start = problem.span.as_ref().map_or(0, |span| span.start);
    // Quotes around a day may have moved what follows by two bytes, which is less than any value is long.
    let before = keys.iter().filter(|(_, value)| value.span().start <= start);
    let found = before.max_by_key(|(_, value)| value.span().start);
    let key = found.and_then(|(found, _)| known.iter().find(|key| key.name == found));
    match key {
        None => unreadable(known, name, problem),
        Some(key) => wrong(
            known,
            format!(
                "`{name}` line {line}: `{}` cannot be as in `{content}` ({}); {} is required",
                key.name, problem.problem, key.value
            ),
            &format!("write it as in `{}`", key.line),
        ),
    }
}

/// A text that is not TOML.
fn unreadable(known: &'static [PolicyKey], name: &str, problem: &TomlProblem) -> PartyError {
    let place = problem.line.as_ref();
    let place = place.map_or_else(String::new, |(line, content)| {
        format!(" line {line}: `{content}`")
    });
    let is_number = |key: &&PolicyKey| key.value.starts_with("a whole number");
    let example = known.iter().find(is_number).map_or("", |key| key.line);
    wrong(
        known,
        format!(
            "`{name}`{place} cannot be read ({}); lines such as `{example}` are required",
            problem.problem
        ),
        "correct the line",
    )
}

fn wrong(known: &'static [PolicyKey], message: String, advice: &str) -> PartyError {
    let names: Vec<&str> = known.iter().map(|key| key.name).collect();
    let help = format!(
        "{advice}; nothing was spent. The keys of a policy are: {}",
        names.join(", ")
    );
    PartyError::PolicyMistake { message, help }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A policy with every required key, one a line.
    pub(crate) fn whole() -> String {
        let key = "0".repeat(64);
        let required = Policy::KEYS.iter().filter(|key| key.is_required);
        let lines: Vec<String> = required.map(|k| k.line.replace("KEY", &key)).collect();
        lines.join("\n")
    }

    #[test]
    fn a_policy_that_lacks_something_is_told_the_line_to_add() {
        parse_policy(&whole(), "policy.toml").expect("whole");
        for key in Policy::KEYS.iter().filter(|key| key.is_required) {
            let lines = whole();
            let is_other = |line: &&str| !line.starts_with(&format!("{} ", key.name));
            let without: Vec<&str> = lines.lines().filter(is_other).collect();
            let refused = parse_policy(&without.join("\n"), "policy.toml").expect_err(key.name);
            let words = format!("does not say `{}`;", key.name);
            assert!(refused.to_string().contains(&words), "{refused}");
            assert!(refused.help().contains(key.line), "{refused}");
        }
    }

    #[test]
    fn a_delta_or_a_share_is_from_0_to_1() {
        for key in [
            "largest-delta",
            "largest-delta-in-total",
            "largest-colluder-share",
        ] {
            for value in ["5.0", "inf", "-inf", "nan", "-0.5"] {
                let changed = |line: &str| match line.strip_prefix(&format!("{key} = ")) {
                    None => line.to_owned(),
                    Some(_) => format!("{key} = {value}"),
                };
                let text: Vec<String> = whole().lines().map(changed).collect();
                let refused = parse_policy(&text.join("\n"), "policy.toml");
                let refused = refused.expect_err("no probability").to_string();
                assert!(refused.contains(key), "{value}: {refused}");
            }
        }
    }

    #[test]
    fn a_mistake_is_told_with_its_line_what_is_required_and_the_keys() {
        let cases = [
            (
                "coordinators = [",
                "coordinator = [",
                1,
                "`coordinator` is not a key",
            ),
            (
                "smallest-quorum = 3",
                "smallest-quorum = \"3\"",
                9,
                "a whole number, without quotes is required",
            ),
            (
                "smallest-quorum = 3",
                "smallest-quorum = three",
                9,
                "cannot be read",
            ),
            (
                "units = [\"record\"]",
                "units = [\n\"record\",\n\"row\"]",
                14,
                "`units` cannot be as in `\"row\"]`",
            ),
            (
                "per-study = 3.0",
                "per-study = -3.0",
                5,
                "a number greater than 0",
            ),
            (
                "\"2027-12-31\"",
                "\"2027-02-30\"",
                4,
                "a day such as \"2027-12-31\" is required",
            ),
            (
                "[\"zero-out\"]",
                "\"zero-out\"",
                13,
                "`neighbours` cannot be",
            ),
            ("south = \"0000", "south = \"KEY", 16, "`parties` cannot be"),
            ("largest-delta = ", "largest-delta ", 7, "cannot be read"),
        ];
        for (right, wrong, line, words) in cases {
            // With a day as TOML writes it, too: what follows it has the same lines.
            for text in [whole(), whole().replace("\"2027-12-31\"", "2027-12-31")] {
                if !text.contains(right) {
                    continue;
                }
                let text = text.replacen(right, wrong, 1);
                let refused = parse_policy(&text, "p/policy.toml").expect_err(wrong);
                let place = format!("`p/policy.toml` line {line}: ");
                assert!(refused.to_string().starts_with(&place), "{refused}");
                assert!(refused.to_string().contains(words), "{refused}");
                assert!(
                    refused.help().contains("allow-simulated-noise"),
                    "{refused}"
                );
                assert!(refused.help().contains("nothing was spent"), "{refused}");
                assert_eq!(refused.exit_code(), 2);
            }
        }
        let after = format!("{}\n[patners]\nsouth = 1\n", whole());
        let refused = parse_policy(&after, "policy.toml").expect_err("unknown");
        assert!(
            refused.to_string().contains("line 17: `patners`"),
            "{refused}"
        );
    }

    #[test]
    fn a_date_may_be_written_as_toml_writes_it() {
        let quoted = parse_policy(&whole(), "policy.toml").expect("whole");
        let bare = whole().replace("\"2027-12-31\"", "2027-12-31");
        assert_eq!(parse_policy(&bare, "policy.toml").expect("a date"), quoted);
        for wrong in ["\"2027-02-30\"", "2027-12-31T10:00:00Z", "\"soon\"", "7"] {
            let text = whole().replace("\"2027-12-31\"", wrong);
            parse_policy(&text, "policy.toml").expect_err(wrong);
        }
    }
}
