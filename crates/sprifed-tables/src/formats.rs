//! The registry of file formats: one list, by which files are recognised, opened and named in help texts.
//!
//! A file is recognised by its first bytes and not by its name. A new format is a file with a [`Format`] and a line in
//! [`Format::ALL`].

pub(crate) mod csv;
pub(crate) mod npy;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;

use std::fs::File;

use sprifed_schema::{Column, Schema};

use crate::error::DataError;
use crate::raw::{RawColumns, RawRequest};
use crate::table::Table;
use crate::text_format::TextFormat;

/// How a table is stored.
pub(crate) struct Format {
    /// What help texts call it: one name for each way to store it.
    pub(crate) names: &'static [&'static str],
    /// The bytes that its files start with; none for the format that any other file is taken for.
    pub(crate) magic: Option<&'static [u8]>,
    /// Reads the columns of an opened file; text is written as stated.
    pub(crate) open: fn(File, TextFormat) -> Result<Box<dyn OpenTable>, DataError>,
}

/// Parquet, whose files are recognised whether or not its reader is built in.
const PARQUET: Format = Format {
    names: &["Parquet"],
    magic: Some(b"PAR1"),
    open: open_parquet,
};

impl Format {
    /// Every format, in the order of help texts.
    const ALL: &'static [Self] = &[csv::FORMAT, PARQUET, npy::FORMAT];

    /// How many bytes [`Format::of`] wants to see.
    pub(crate) fn magic_length() -> usize {
        let lengths = Self::ALL.iter().filter_map(|format| format.magic);
        lengths.map(<[u8]>::len).max().unwrap_or(0)
    }

    /// The format of content that starts with `start`; anything unknown, gzip included, is CSV.
    pub(crate) fn of(start: &[u8]) -> &'static Self {
        let starts = |format: &&Self| format.magic.is_some_and(|magic| start.starts_with(magic));
        Self::ALL.iter().find(starts).unwrap_or(&csv::FORMAT)
    }
}

/// Returns the names of the file formats, in the order of help texts.
pub fn format_names() -> impl Iterator<Item = &'static str> {
    Format::ALL.iter().flat_map(|format| format.names).copied()
}

#[cfg(feature = "parquet")]
fn open_parquet(file: File, _: TextFormat) -> Result<Box<dyn OpenTable>, DataError> {
    Ok(Box::new(parquet::ParquetColumns::open(file)?))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(_: File, _: TextFormat) -> Result<Box<dyn OpenTable>, DataError> {
    Err(crate::error::TableError::NotBuiltIn {
        format: "Parquet",
        remedy: "convert it to CSV, or build with the feature `parquet`",
    }
    .into())
}

/// An opened table, columns known, values not yet read.
pub(crate) trait OpenTable {
    fn columns(&self) -> &[Column];
    /// All that the schema asks for, bounded.
    fn into_table(self: Box<Self>, schema: &Schema) -> Result<Table, DataError>;
    /// Some columns as they are.
    fn into_raw(self: Box<Self>, requests: &[RawRequest]) -> Result<RawColumns, DataError>;
}

#[cfg(test)]
mod tests {
    use super::{Format, format_names};

    #[test]
    fn the_first_bytes_say_the_format_and_anything_else_is_csv() {
        let longest = Format::magic_length();
        for format in Format::ALL {
            let magic = format.magic.unwrap_or_default();
            assert!(magic.len() <= longest);
            let found = Format::of(&[magic, b"and more"].concat());
            assert_eq!(found.names, format.names);
        }
        assert_eq!(Format::of(b"").names, super::csv::FORMAT.names);
    }

    #[test]
    fn help_texts_name_every_format() {
        let names: Vec<&str> = format_names().collect();
        assert_eq!(names, ["CSV", "gzipped CSV", "Parquet", ".npy"]);
    }
}
