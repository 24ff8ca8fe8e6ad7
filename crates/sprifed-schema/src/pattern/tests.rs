use proptest::prelude::*;

use super::*;

#[test]
fn a_plain_name_matches_only_itself() {
    assert!(Pattern::new("age").matches("age"));
    assert!(!Pattern::new("age").matches("ages"));
    assert!(!Pattern::new("age").matches("old_age"));
}

#[test]
fn a_star_matches_any_run_of_characters() {
    for (pattern, name, expected) in [
        ("x_*", "x_", true),
        ("x_*", "x_1", true),
        ("x_*", "y_x_1", false),
        ("*_at", "AADK_at", true),
        ("*", "", true),
        ("a*b*c", "a--b--c", true),
        ("a*b*c", "acb", false),
        ("a*a", "a", false),
        ("*ab*ab", "ab", false),
        ("*é*", "café", true),
    ] {
        assert_eq!(
            Pattern::new(pattern).matches(name),
            expected,
            "{pattern} on {name}"
        );
    }
}

/// The textbook definition, exponential and obviously right.
fn matches_by_definition(pattern: &[char], name: &[char]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some('*'), _) => {
            matches_by_definition(&pattern[1..], name)
                || (!name.is_empty() && matches_by_definition(pattern, &name[1..]))
        }
        (Some(wanted), Some(found)) if wanted == found => {
            matches_by_definition(&pattern[1..], &name[1..])
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn matching_agrees_with_the_definition(pattern in "[ab*]{0,8}", name in "[ab]{0,10}") {
        let pattern_characters: Vec<char> = pattern.chars().collect();
        let name_characters: Vec<char> = name.chars().collect();
        prop_assert_eq!(
            Pattern::new(pattern.as_str()).matches(&name),
            matches_by_definition(&pattern_characters, &name_characters)
        );
    }
}

#[test]
fn any_of_several_patterns_may_match() {
    let patterns = Patterns::new(["age", "x_*"].map(Pattern::new));
    assert_eq!(
        ["age", "x_1", "ages"].map(|name| patterns.matches(name)),
        [true, true, false]
    );
    assert_eq!(patterns.names().collect::<Vec<_>>(), ["age"]);
    assert_eq!(patterns.starred(), [Pattern::new("x_*")]);
}
