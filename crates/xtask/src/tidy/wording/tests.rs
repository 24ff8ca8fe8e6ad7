use super::{DATA, METAPHORS, WORDS, check, words_of};
use crate::repository::Repository;
use crate::tidy::shown;

fn found(path: &str, text: &str) -> Vec<String> {
    shown(&check(&Repository::sample([(path, text)])))
}

#[test]
fn every_word_is_found_in_every_kind_of_file() {
    for (word, remedy) in WORDS {
        for path in [
            "contrib/a.md",
            "crates/a/src/b.rs",
            "a.py",
            "a.toml",
            "a.html",
        ] {
            let text = format!("first\nfor {word}, too\n");
            let found = found(path, &text);
            assert_eq!(found.len(), 1, "{word} in {path}");
            let expected = format!("{path}:2: uses the word `{word}`\n    {remedy}\n");
            assert_eq!(found[0], expected);
        }
    }
}

#[test]
fn a_word_is_found_inside_names_and_capitals() {
    for text in [
        "struct ParticipantOutput;",
        "let among_members = 1;",
        "Everybody has uploaded.",
        "//! `of_member(0)`",
    ] {
        assert_eq!(found("crates/a/src/b.rs", text).len(), 1, "{text}");
    }
}

#[test]
fn a_longer_word_is_another_word() {
    let text = "It remembers the participation of a non-membership; partnership, crowdfunding.";
    assert_eq!(found("crates/a/src/b.rs", text), [""; 0]);
}

#[test]
fn a_word_is_found_in_the_name_of_a_file() {
    let found = found("crates/a/src/partners.rs", "");
    assert!(found[0].starts_with("crates/a/src/partners.rs: has `partners` in its name"));
}

#[test]
fn cannot_is_one_word() {
    for text in ["it can not be", "Can not be", "fn it_can_not_be() {}"] {
        assert!(
            found("a.rs", text)[0].contains("writes `can not`"),
            "{text}"
        );
    }
    assert_eq!(found("a.rs", "it cannot be"), [""; 0]);
}

#[test]
fn a_metaphor_is_found_where_it_is_declared() {
    for name in METAPHORS {
        for text in [format!("pub struct {name};"), format!("mod {name};")] {
            assert!(found("a.rs", &text)[0].contains("declares"), "{text}");
        }
    }
    assert_eq!(
        found("a.rs", "POST /v1/messages\nlet post = visit(1);"),
        [""; 0]
    );
}

#[test]
fn a_function_called_words_is_found() {
    for text in ["pub const fn words(self)", "fn words_of_digest(digest: &D)"] {
        assert!(
            found("a.rs", text)[0].contains("declares a function"),
            "{text}"
        );
    }
    assert_eq!(found("a.rs", "let words = machine_words();"), [""; 0]);
}

#[test]
fn exceptions_hold_for_one_word_in_one_file() {
    assert_eq!(found("Cargo.toml", "members = []"), [""; 0]);
    assert!(!found("Cargo.toml", "# nobody").is_empty());
    assert!(!found("tidy.toml", "members = []").is_empty());
}

#[test]
fn data_is_left_out() {
    for folder in DATA {
        let path = format!("{folder}a.md");
        assert_eq!(found(&path, "nobody"), [""; 0], "{path}");
    }
    assert!(!found("docs/proofs/a.md", "nobody").is_empty());
}

#[test]
fn names_are_split_into_words() {
    let split: Vec<&str> = words_of("ClientSet::of_partyKey (ΑΒγΔ) x2y").collect();
    assert_eq!(
        split,
        ["Client", "Set", "of", "party", "Key", "ΑΒγ", "Δ", "x", "y"]
    );
}
