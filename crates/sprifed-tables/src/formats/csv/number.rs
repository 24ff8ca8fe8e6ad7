//! A field of text as a number.

/// The content of a field of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field {
    Number(f64),
    Missing,
    Text,
}

/// Spellings of a missing value, besides the empty field and every spelling of NaN.
const MISSING: [&str; 4] = ["NA", "N/A", "null", "none"];

impl Field {
    /// Reads a field; infinities are missing values, for they cannot be bounded in any useful way.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes.trim_ascii()) else {
            return Self::Text;
        };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Self::Number(number),
            Ok(_) => Self::Missing,
            Err(_) if text.is_empty() => Self::Missing,
            Err(_) if MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)) => Self::Missing,
            Err(_) => Self::Text,
        }
    }
}
