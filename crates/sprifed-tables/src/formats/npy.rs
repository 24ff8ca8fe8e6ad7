//! NumPy's `.npy`: one two-dimensional array of numbers.
//!
//! The format has no column names, so the columns are called `x_0`, `x_1`, … by position, and the
//! schema names the response (and the client column, if any) the same way. Arrays in row order are
//! streamed; arrays in column order, which pandas often writes, are read a column at a time.

mod header;
mod item;

use std::io::{BufReader, Read, Seek, SeekFrom};

use self::header::{Header, Order};
use sprifed_schema::{Column, ColumnKind, Schema};

use crate::assemble::{ColumnSource, RowSource, TakeNumber};
use crate::cell::{Defect, Place};
use crate::error::{DataError, FileError, TableError};
use crate::formats::{Format, Source};
use crate::table::Table;

/// NumPy arrays.
pub(crate) const FORMAT: Format = Format {
    names: &[".npy"],
    magic: Some(b"\x93NUMPY"),
    extension: Some("npy"),
    open: |file| Ok(NpyArray::open(BufReader::new(file.file))?.into_source()),
};

/// Reads a `.npy` array into a bounded table; columns are called `x_0`, `x_1`, … by position.
///
/// # Errors
/// If the content is not a two-dimensional array of real numbers, or does not fit the schema.
pub fn read_npy(reader: impl Read + Seek, schema: &Schema) -> Result<Table, DataError> {
    NpyArray::open(reader)?.into_source().into_table(schema)
}

/// An opened array.
#[derive(Debug)]
pub(crate) struct NpyArray<R> {
    reader: R,
    header: Header,
    /// Where the first item is.
    start: u64,
    columns: Vec<Column>,
    /// The bytes of the current row, or of part of the current column.
    bytes: Vec<u8>,
    rows_left: usize,
}

/// Items of a column that are read at once.
const ITEMS_AT_ONCE: usize = 1 << 14;

impl<R: Read + Seek> NpyArray<R> {
    /// Reads the header and compares the size it promises with the size of the file.
    pub(crate) fn open(mut reader: R) -> Result<Self, DataError> {
        let header = Header::read(&mut reader)?;
        let start = reader.stream_position().map_err(FileError::from)?;
        let end = reader.seek(SeekFrom::End(0)).map_err(FileError::from)?;
        reader
            .seek(SeekFrom::Start(start))
            .map_err(FileError::from)?;
        // Before anything is allocated: a header may promise any size.
        if header.n_bytes() != Some(end.saturating_sub(start)) {
            return Err(TableError::Malformed {
                format: ".npy",
                problem: format!(
                    "the header promises {} rows of {} columns, but {} bytes follow",
                    header.n_rows,
                    header.n_columns,
                    end.saturating_sub(start)
                ),
                remedy: "save the array again with numpy.save",
            }
            .into());
        }
        // Also before anything is allocated: no rows of endless width take no bytes.
        if header.n_rows == 0 {
            return Err(TableError::NoRecords.into());
        }
        let columns = (0..header.n_columns)
            .map(|at| Column {
                name: format!("x_{at}"),
                kind: ColumnKind::Numeric,
            })
            .collect();
        let rows_left = header.n_rows;
        Ok(Self {
            reader,
            header,
            start,
            columns,
            bytes: Vec::new(),
            rows_left,
        })
    }

    /// Rows or columns, as they are stored.
    fn into_source<'s>(self) -> Source<'s>
    where
        Self: 's,
    {
        match self.header.order {
            Order::Rows => Source::rows(self),
            Order::Columns => Source::columns_of(self),
        }
    }
}

impl<R: Read + Seek> RowSource for NpyArray<R> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> Option<usize> {
        Some(self.header.n_rows)
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        if self.rows_left == 0 {
            return Ok(false);
        }
        self.rows_left -= 1;
        self.bytes
            .resize(self.header.n_columns * self.header.item.size(), 0);
        self.reader
            .read_exact(&mut self.bytes)
            .map_err(FileError::from)?;
        Ok(true)
    }

    fn label(&self, column: usize, label: &mut Vec<u8>) {
        write_label(self.header.item.decode(&self.bytes, column), label);
    }

    fn place(&self, _column: usize) -> Place {
        Place::Record((self.header.n_rows - self.rows_left) as u64)
    }

    fn number(&self, column: usize) -> Result<f64, Defect> {
        Ok(self.header.item.decode(&self.bytes, column))
    }
}

impl<R: Read + Seek> ColumnSource for NpyArray<R> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> usize {
        self.header.n_rows
    }

    fn labels(&mut self, column: usize, take: &mut dyn FnMut(&[u8])) -> Result<(), DataError> {
        let mut label = Vec::new();
        ColumnSource::numbers(self, column, &mut |number| {
            label.clear();
            write_label(number.unwrap_or(f64::NAN), &mut label);
            take(&label);
        })
    }

    fn numbers(&mut self, column: usize, take: &mut TakeNumber<'_>) -> Result<(), DataError> {
        let item = self.header.item;
        let skipped = (column * self.header.n_rows * item.size()) as u64;
        self.reader
            .seek(SeekFrom::Start(self.start + skipped))
            .map_err(FileError::from)?;
        let mut left = self.header.n_rows;
        while left > 0 {
            let count = left.min(ITEMS_AT_ONCE);
            self.bytes.resize(count * item.size(), 0);
            self.reader
                .read_exact(&mut self.bytes)
                .map_err(FileError::from)?;
            (0..count).for_each(|at| take(Ok(item.decode(&self.bytes, at))));
            left -= count;
        }
        Ok(())
    }
}

/// Writes the number that names a client; a number that is not finite leaves the name empty.
fn write_label(number: f64, label: &mut Vec<u8>) {
    if number.is_finite() {
        label.extend_from_slice(number.to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests;
