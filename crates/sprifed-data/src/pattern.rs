//! Column patterns: a name in which `*` stands for any run of characters.

/// Picks columns by name.
///
/// Only `*` is special. Feature names are public, so a pattern decides on public facts only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern written `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern is a plain name, without `*`.
    pub fn is_plain_name(&self) -> bool {
        !self.0.contains('*')
    }

    /// Whether `name` fits the pattern.
    pub fn matches(&self, name: &str) -> bool {
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

#[cfg(test)]
mod tests;
