//! TOML that people write: what is wrong with it, by line.

use core::ops::Range;

use serde::de::DeserializeOwned;

use crate::draft::PLACEHOLDER;

/// Why a text is not TOML of the required kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", self.place())]
pub struct TomlProblem {
    /// What the parser says.
    pub problem: String,
    /// Which bytes it is about, if they are known.
    pub span: Option<Range<usize>>,
    /// The line, counted from 1, and what it says.
    pub line: Option<(usize, String)>,
}

impl TomlProblem {
    fn place(&self) -> String {
        let place = |(number, content): &(usize, String)| format!("line {number}, `{content}`: ");
        self.line.as_ref().map_or_else(String::new, place)
    }
}

/// What `text` spells.
///
/// # Errors
/// With the line of the first mistake.
pub fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T, TomlProblem> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let span = error.span();
        TomlProblem {
            problem: in_plain_words(error.message()),
            line: span.as_ref().map(|span| line_at(text, span.start)),
            span,
        }
    })
}

/// What the parser says, without names of types of the program.
fn in_plain_words(problem: &str) -> String {
    let types = [
        ("expected f64", "expected a number"),
        ("expected u32", "expected a whole number"),
        ("expected u64", "expected a whole number"),
    ];
    let replace = |said: String, (name, words): (&str, &str)| said.replace(name, words);
    types.into_iter().fold(problem.to_owned(), replace)
}

/// The line, counted from 1, with the byte at `place`, and what it says without the spaces around it.
#[must_use]
pub fn line_at(text: &str, place: usize) -> (usize, String) {
    let before = text.get(..place).unwrap_or(text);
    let number = before.matches('\n').count();
    let content = text.lines().nth(number).unwrap_or_default();
    (number + 1, content.trim().to_owned())
}

/// The lines, counted from 1, where a draft was not filled in; comments do not count.
pub(crate) fn placeholders(text: &str) -> Vec<usize> {
    let is_unfilled = |line: &str| {
        let said = line.split('#').next().unwrap_or_default();
        let value = said.split_once('=').map(|(_, value)| value.trim());
        value == Some(PLACEHOLDER)
    };
    let lines = text.lines().zip(1..);
    lines
        .filter(|(line, _)| is_unfilled(line))
        .map(|(_, number)| number)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        let parse = |text| parse_toml::<std::collections::BTreeMap<String, u32>>(text);
        parse("a = 1\n\nb = 2").expect("numbers");
        for (text, line, content) in [
            ("a = 1\n\nb = \"2\"\n", 3, "b = \"2\""),
            ("a = 1\n  b = \n", 2, "b ="),
            ("a = 1\na = 2", 2, "a = 2"),
            ("é = \"\"", 1, "é = \"\""),
        ] {
            let refused = parse(text).expect_err(text);
            assert_eq!(refused.line, Some((line, content.to_owned())), "{text}");
            let start = format!("line {line}, `{content}`: ");
            assert!(refused.to_string().starts_with(&start), "{refused}");
        }
        let text = parse("a = \"2\"").expect_err("text").to_string();
        assert!(text.ends_with("expected a whole number"), "{text}");
    }
}
