//! How a text file writes a table: what separates its fields, and how its numbers are written.
//!
//! It is a property of one file and not of a study, so the user states it with the file and the schema does not.

use std::path::Path;

use crate::join::SampleTable;

/// How a text file writes a table. Other formats say it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextFormat {
    /// The character between two fields.
    pub separator: Separator,
    /// The mark before the decimals of a number.
    pub decimal: Decimal,
    /// The indices of a table in the sparse format of SVMlight, if it is one.
    pub svmlight: Option<IndexRange>,
}

/// The indices that a sparse table may have: a public fact, as its columns are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexRange {
    first: u32,
    last: u32,
}

impl IndexRange {
    /// The most indices: a table of more would not fit into memory.
    const MOST: u32 = 1 << 23;

    /// The range that `text` names by its first and its last index, such as `1-5000`.
    ///
    /// # Errors
    /// With what is required, if it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let ends: Option<Self> = text.split_once('-').and_then(|(first, last)| {
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last).then_some(Self { first, last })
        });
        let range = ends.ok_or("must be the first and the last index, such as 1-5000")?;
        if range.last - range.first >= Self::MOST {
            return Err(format!("must be at most {} indices", Self::MOST));
        }
        Ok(range)
    }

    /// All of them.
    pub(crate) fn indices(self) -> impl Iterator<Item = u32> {
        self.first..=self.last
    }

    /// The place of an index among them.
    pub(crate) fn place(self, index: u32) -> Option<usize> {
        let is_inside = (self.first..=self.last).contains(&index);
        is_inside.then(|| (index - self.first) as usize)
    }
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
            svmlight: None,
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
    /// A second table, whose rows are joined to the records of this one.
    pub phenotypes: Option<SampleTable<'a>>,
}

impl<'a> TableFile<'a> {
    /// The files whose records a fit of this table uses.
    pub fn paths(&self) -> impl Iterator<Item = &'a Path> + use<'a> {
        core::iter::once(self.path).chain(self.phenotypes.map(|second| second.path))
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for TableFile<'a> {
    fn from(path: &'a P) -> Self {
        Self {
            path: path.as_ref(),
            format: TextFormat::default(),
            phenotypes: None,
        }
    }
}
