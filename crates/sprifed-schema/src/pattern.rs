//! Column patterns: a name in which `*` matches any run of characters.

use std::collections::BTreeSet;

/// Picks columns by name.
///
/// Only `*` is special. Feature names are public, so a pattern decides on public facts only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(String);

impl Pattern {
    /// The pattern written `text`.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The pattern as written.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern is a plain name, without `*`.
    pub(crate) fn is_plain_name(&self) -> bool {
        !self.0.contains('*')
    }

    /// Whether `name` fits the pattern.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let Some((prefix, rest)) = self.0.split_once('*') else {
            return self.0 == name;
        };
        let Some(mut remaining) = name.strip_prefix(prefix) else {
            return false;
        };
        // Every part between two stars takes its leftmost place; only the last part is anchored.
        // Greedy is right because a star absorbs whatever is skipped.
        let (middle, suffix) = rest.rsplit_once('*').unwrap_or(("", rest));
        for part in middle.split('*').filter(|part| !part.is_empty()) {
            let Some(at) = remaining.find(part) else {
                return false;
            };
            remaining = &remaining[at + part.len()..];
        }
        remaining.ends_with(suffix)
    }
}

/// Several patterns; a name matches if one of them does.
///
/// Plain names are looked up and not tried one by one: a schema may list thousands of them for a
/// table of thousands of columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Patterns {
    names: BTreeSet<String>,
    starred: Vec<Pattern>,
}

impl Patterns {
    pub(crate) fn new(patterns: impl IntoIterator<Item = Pattern>) -> Self {
        let mut all = Self::default();
        for pattern in patterns {
            if pattern.is_plain_name() {
                all.names.insert(pattern.0);
            } else {
                all.starred.push(pattern);
            }
        }
        all
    }

    /// These names and no others; a star in them is a star.
    pub(crate) fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            names: names.into_iter().map(str::to_owned).collect(),
            starred: Vec::new(),
        }
    }

    /// Adds what `others` match.
    pub(crate) fn extend(&mut self, others: Self) {
        self.names.extend(others.names);
        self.starred.extend(others.starred);
    }

    /// Whether `name` is listed, not only described by a pattern.
    pub(crate) fn lists(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        self.names.contains(name) || self.starred.iter().any(|pattern| pattern.matches(name))
    }

    /// The plain names, in alphabetical order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The patterns with a star, in the order in which they were given.
    pub(crate) fn starred(&self) -> &[Pattern] {
        &self.starred
    }
}

#[cfg(test)]
mod tests;
