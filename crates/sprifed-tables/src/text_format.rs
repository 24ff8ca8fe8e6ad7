//! How a text file writes a table: what separates its fields, and how its numbers are written.
//!
//! It is a property of one file and not of a study, so the user states it with the file and the schema does not.

use std::path::Path;

/// How a text file writes a table. Other formats say it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextFormat {
    /// The character between two fields.
    pub separator: Separator,
    /// The mark before the decimals of a number.
    pub decimal: Decimal,
}

/// The character between two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Separator(u8);

/// The mark before the decimals of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decimal {
    /// `0.5`
    #[default]
    Point,
    /// `0,5`
    Comma,
}

impl Separator {
    /// The comma.
    pub const COMMA: Self = Self(b',');

    /// The separator that `text` names: one character, or `tab`.
    ///
    /// # Errors
    /// With what is required, if it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.as_bytes() {
            _ if text == "tab" || text == "\\t" => Ok(Self(b'\t')),
            [byte] if is_separator(*byte) => Ok(Self(*byte)),
            _ => Err("must be one character, such as ',', ';' or '|', or the word tab".to_owned()),
        }
    }

    pub(crate) const fn byte(self) -> u8 {
        self.0
    }
}

/// Whether fields can be told apart by it: not part of a number, a name or a quoted field.
const fn is_separator(byte: u8) -> bool {
    byte == b'\t'
        || (byte.is_ascii()
            && !byte.is_ascii_alphanumeric()
            && !byte.is_ascii_control()
            && !matches!(byte, b'"' | b'.' | b'-' | b'+' | b'_'))
}

impl Decimal {
    /// The mark that `text` names.
    ///
    /// # Errors
    /// With what is required, if it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "." => Ok(Self::Point),
            "," => Ok(Self::Comma),
            _ => Err("must be '.' or ','".to_owned()),
        }
    }
}

impl Default for TextFormat {
    fn default() -> Self {
        Self {
            separator: Separator::COMMA,
            decimal: Decimal::Point,
        }
    }
}

impl TextFormat {
    /// Whether a number could be taken for two fields.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.separator == Separator::COMMA && self.decimal == Decimal::Comma
    }
}

/// A table in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableFile<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// How it is written, if it is text.
    pub format: TextFormat,
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for TableFile<'a> {
    fn from(path: &'a P) -> Self {
        Self {
            path: path.as_ref(),
            format: TextFormat::default(),
        }
    }
}
