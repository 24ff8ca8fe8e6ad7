//! The registry of file formats: one list, by which files are recognised, opened and named in help texts.
//!
//! A file is recognised by its first bytes and not by its name; a name that promises one of these formats, on a file that
//! begins otherwise, is refused. A new format is a file with a [`Format`] and a line in [`Format::ALL`].

#[cfg(feature = "arrow")]
pub(crate) mod arrow;
pub(crate) mod csv;
pub(crate) mod npy;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod plink;
pub(crate) mod svmlight;

use sprifed_schema::{Column, Schema};

use crate::assemble::{ColumnSource, RowSource, from_columns, from_rows};
use crate::error::{DataError, TableError};
use crate::open::NamedFile;
use crate::raw::{RawColumns, RawRequest};
use crate::table::Table;

/// How a table is stored.
pub(crate) struct Format {
    /// What help texts call it: one name for each way to store it.
    pub(crate) names: &'static [&'static str],
    /// The bytes that its files start with; none for the format that any other file is taken for.
    pub(crate) magic: Option<&'static [u8]>,
    /// The end of the names of its files, where no file with that end can be of another format.
    pub(crate) extension: Option<&'static str>,
    /// Reads the columns of an opened file.
    pub(crate) open: fn(NamedFile<'_>) -> Result<Source<'static>, DataError>,
}

/// Parquet, whose files are recognised whether or not its reader is built in.
const PARQUET: Format = Format {
    names: &["Parquet"],
    magic: Some(b"PAR1"),
    extension: Some("parquet"),
    open: open_parquet,
};

/// Arrow IPC, whose files are recognised whether or not its reader is built in.
const ARROW: Format = Format {
    names: &["Arrow"],
    magic: Some(b"ARROW1"),
    extension: Some("arrow"),
    open: open_arrow,
};

impl Format {
    /// Every format, in the order of help texts.
    const ALL: &'static [Self] = &[
        csv::FORMAT,
        PARQUET,
        ARROW,
        npy::FORMAT,
        plink::FORMAT,
        svmlight::FORMAT,
    ];

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

    /// Refuses a file whose name ends in `extension` and promises another format than this one, which its content is.
    pub(crate) fn require_extension(&self, extension: &str) -> Result<(), TableError> {
        let promises = |format: &&Self| {
            format
                .extension
                .is_some_and(|own| own.eq_ignore_ascii_case(extension))
        };
        match Self::ALL.iter().find(promises) {
            Some(promised) if promised.names != self.names => Err(TableError::OtherContent {
                extension: extension.to_owned(),
                format: promised.names[0],
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the names of the file formats, in the order of help texts.
pub fn format_names() -> impl Iterator<Item = &'static str> {
    Format::ALL.iter().flat_map(|format| format.names).copied()
}

#[cfg(feature = "parquet")]
fn open_parquet(file: NamedFile<'_>) -> Result<Source<'static>, DataError> {
    Ok(Source::columns_of(parquet::ParquetColumns::open(
        file.file,
    )?))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(_: NamedFile<'_>) -> Result<Source<'static>, DataError> {
    Err(TableError::NotBuiltIn {
        format: "Parquet",
        remedy: "convert it to CSV, or build with the feature `parquet`",
    }
    .into())
}

#[cfg(feature = "arrow")]
use self::arrow::open as open_arrow;

#[cfg(not(feature = "arrow"))]
fn open_arrow(_: NamedFile<'_>) -> Result<Source<'static>, DataError> {
    Err(TableError::NotBuiltIn {
        format: "Arrow",
        remedy: "convert it to CSV or Parquet, or build with the feature `arrow`",
    }
    .into())
}

/// What the columns of samples are called in a table of genotypes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleColumns {
    /// The family, where the format has it.
    pub(crate) family: Option<&'static str>,
    /// The identifier.
    pub(crate) sample: &'static str,
    pub(crate) sex: Option<&'static str>,
    pub(crate) phenotype: Option<&'static str>,
}

/// An opened table: columns known, values not yet read, in the order in which they are stored.
pub(crate) enum Source<'a> {
    /// Record after record.
    Rows(Box<dyn RowSource + 'a>),
    /// Column after column.
    Columns(Box<dyn ColumnSource + 'a>),
}

impl<'a> Source<'a> {
    pub(crate) fn rows(rows: impl RowSource + 'a) -> Self {
        Self::Rows(Box::new(rows))
    }

    pub(crate) fn columns_of(columns: impl ColumnSource + 'a) -> Self {
        Self::Columns(Box::new(columns))
    }

    pub(crate) fn columns(&self) -> &[Column] {
        match self {
            Self::Rows(rows) => rows.columns(),
            Self::Columns(columns) => columns.columns(),
        }
    }

    /// The columns that say whose genotypes a record has, if it has genotypes.
    pub(crate) fn sample_columns(&self) -> Option<SampleColumns> {
        match self {
            Self::Rows(_) => None,
            Self::Columns(columns) => columns.sample_columns(),
        }
    }

    /// All that the schema asks for, bounded.
    pub(crate) fn into_table(self, schema: &Schema) -> Result<Table, DataError> {
        match self {
            Self::Rows(mut rows) => from_rows(&mut *rows, schema),
            Self::Columns(mut columns) => from_columns(&mut *columns, schema),
        }
    }

    /// Some columns as they are.
    pub(crate) fn into_raw(self, requests: &[RawRequest]) -> Result<RawColumns, DataError> {
        match self {
            Self::Rows(mut rows) => RawColumns::from_rows(&mut *rows, requests),
            Self::Columns(mut columns) => RawColumns::from_columns(&mut *columns, requests),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, format_names};

    #[test]
    fn the_first_bytes_say_the_format_and_anything_else_is_csv() {
        let longest = Format::magic_length();
        for format in Format::ALL {
            let Some(magic) = format.magic else { continue };
            assert!(magic.len() <= longest);
            let found = Format::of(&[magic, b"and more"].concat());
            assert_eq!(found.names, format.names);
        }
        assert_eq!(Format::of(b"").names, super::csv::FORMAT.names);
    }

    #[test]
    fn help_texts_name_every_format() {
        let names: Vec<&str> = format_names().collect();
        assert_eq!(
            names,
            [
                "CSV",
                "gzipped CSV",
                "Parquet",
                "Arrow",
                ".npy",
                "PLINK .bed",
                "svmlight"
            ]
        );
    }
}
