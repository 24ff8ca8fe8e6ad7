//! One word for each role, and plain English, in names, messages, comments and documents.
//!
//! The roles are *party*, *coordinator*, *client* and *trustee* (GLOSSARY.md). The rule splits every
//! line into words, also inside identifiers, and compares them with a list. It does not judge style.

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tidy::{code_lines, spells_the_rules};

/// Data: published pages and vectors are written by programs.
const DATA: [&str; 2] = ["docs/paper/", "vectors/"];

/// The list of words to avoid has to name them.
const GLOSSARY: &str = "GLOSSARY.md";

/// Words that are not used, each with what to write.
const WORDS: [(&str, &str); 18] = [
    ("member", ELEMENT),
    ("members", ELEMENT),
    ("participant", ROLE),
    ("participants", ROLE),
    ("partner", ROLE),
    ("partners", ROLE),
    ("whoever", ROLE),
    ("whomever", ROLE),
    ("nobody", ROLE),
    ("somebody", ROLE),
    ("anybody", ROLE),
    ("everybody", ROLE),
    ("errand", PLAIN),
    ("errands", PLAIN),
    ("crowd", PLAIN),
    ("crowded", PLAIN),
    ("beforehand", "write `in advance`, or say before what"),
    ("heard", "write `received`, or `reported`"),
];

/// Types and modules whose names are metaphors.
const METAPHORS: [&str; 3] = ["till", "post", "visit"];

/// Words that each keep their place because a format or a tool has them.
const EXCEPTIONS: [(&str, &str); 2] = [
    // A table of Cargo.
    ("Cargo.toml", "members"),
    // A label from which keys of rehearsals are derived: another one would change their noise.
    ("crates/sprifed-study/src/party_key.rs", "member"),
];

const ROLE: &str = "name the role: a party, the coordinator, a client, the user, a reader";
const ELEMENT: &str =
    "name the role, or write `element` of a set, `field` of a struct, `crate` of a workspace";
const PLAIN: &str = "write what it is, without a metaphor";

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in
        repository.texts_ending(&[".rs", ".md", ".py", ".pyi", ".sh", ".toml", ".html"])
    {
        if is_exempt(path) {
            continue;
        }
        for (word, remedy) in avoided(path).filter(|(word, _)| !is_exception(path, word)) {
            let problem = format!("has `{word}` in its name");
            findings.push(Finding::in_file(path, problem, remedy));
        }
        for (number, line) in (1..).zip(text.lines()) {
            for (word, remedy) in avoided(line).filter(|(word, _)| !is_exception(path, word)) {
                let problem = format!("uses the word `{word}`");
                findings.push(Finding::in_file(path, problem, remedy).at_line(number));
            }
            if line.to_lowercase().contains("can not") || line.contains("can_not") {
                let problem = "writes `can not`";
                findings.push(Finding::in_file(path, problem, "write `cannot`").at_line(number));
            }
        }
        if path.ends_with(".rs") {
            findings.extend(code_lines(text).filter_map(|(number, line)| {
                let (problem, remedy) = name_problem(line)?;
                Some(Finding::in_file(path, problem, remedy).at_line(number))
            }));
        }
    }
    findings
}

fn is_exempt(path: &str) -> bool {
    path == GLOSSARY || spells_the_rules(path) || DATA.iter().any(|folder| path.starts_with(folder))
}

fn is_exception(path: &str, word: &str) -> bool {
    EXCEPTIONS.contains(&(path, word))
}

/// The words of the list that occur in `text`, with what to write.
fn avoided(text: &str) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
    words_of(text).filter_map(|word| {
        let word = word.to_lowercase();
        WORDS.into_iter().find(|(avoided, _)| *avoided == word)
    })
}

/// Splits at everything that is not a letter, and before a capital that follows a small letter.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic())
        .flat_map(|run| Humps { rest: run })
        .filter(|word| !word.is_empty())
}

/// The parts of a name such as `ClientSet`.
struct Humps<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Humps<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let pairs = self.rest.char_indices().zip(self.rest.chars().skip(1));
        let end = pairs
            .filter(|((_, one), next)| one.is_lowercase() && next.is_uppercase())
            .map(|((at, one), _)| at + one.len_utf8())
            .next()
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(word)
    }
}

/// What is wrong with the name that `line` declares, if it declares one.
fn name_problem(line: &str) -> Option<(String, &'static str)> {
    let mut parts = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    let keyword =
        parts.find(|part| ["struct", "enum", "trait", "type", "mod", "fn"].contains(part))?;
    let name = parts.find(|part| !part.is_empty())?;
    if keyword == "fn" {
        let is_vague = name == "words" || name.starts_with("words_of");
        return is_vague.then(|| {
            let problem = format!("declares a function called `{name}`");
            (problem, "call it `text` or `description`")
        });
    }
    let is_metaphor = METAPHORS.contains(&name.to_lowercase().as_str());
    is_metaphor.then(|| (format!("declares `{name}`"), PLAIN))
}

#[cfg(test)]
mod tests;
