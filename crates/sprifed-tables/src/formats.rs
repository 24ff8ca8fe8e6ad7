//! File formats, recognised by their first bytes and not by their names.

pub(crate) mod csv;
pub(crate) mod npy;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;

use sprifed_schema::{Column, Schema};

use crate::error::DataError;
use crate::raw::RawColumns;
use crate::table::Table;

/// How a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Npy,
    Parquet,
}

impl Format {
    /// How many bytes [`Format::of`] wants to see.
    pub(crate) const MAGIC_LENGTH: usize = 6;

    /// The format of content that starts with `magic`; anything unknown, gzip included, is CSV.
    pub(crate) fn of(magic: &[u8]) -> Self {
        if magic.starts_with(b"\x93NUMPY") {
            Self::Npy
        } else if magic.starts_with(b"PAR1") {
            Self::Parquet
        } else {
            Self::Csv
        }
    }
}

/// An opened table, columns known, values not yet read.
pub(crate) trait OpenTable {
    fn columns(&self) -> &[Column];
    /// All that the schema asks for, bounded.
    fn into_table(self: Box<Self>, schema: &Schema) -> Result<Table, DataError>;
    /// The named columns as they are.
    fn into_raw(self: Box<Self>, names: &[String]) -> Result<RawColumns, DataError>;
}
