//! The sparse text format of SVMlight and LIBSVM: `RESPONSE INDEX:VALUE INDEX:VALUE … # comment`, a record in each line.
//!
//! The format has no header. How many columns there are could be read off the records only, and would reveal them, so the
//! user states the indices. Columns are called `x_INDEX`, and the response `y`. An index that a line does not have is a
//! zero, not a missing value.

use std::io::{BufRead, Read};

use sprifed_schema::{Column, ColumnKind, Schema};

use crate::assemble::RowSource;
use crate::cell::{Defect, Place};
use crate::error::{DataError, FileError, TableError};
use crate::formats::csv::{parse, unpacked};
use crate::formats::{Format, Source};
use crate::table::Table;
use crate::text_format::{Decimal, IndexRange};

/// SVMlight. No byte of it tells it from other text: it is read where the user states its indices.
pub(crate) const FORMAT: Format = Format {
    names: &["svmlight"],
    magic: None,
    extension: None,
    open: |file| {
        let indices = file.text.svmlight.ok_or(TableError::NoIndices)?;
        Ok(Source::rows(SparseRows::new(unpacked(file.file)?, indices)))
    },
};

/// Reads a sparse text file, plain or gzipped, whose indices are `indices`, into a bounded table.
///
/// # Errors
/// If the content is not such a table, or does not fit the schema.
pub fn read_svmlight(
    reader: impl Read,
    indices: IndexRange,
    schema: &Schema,
) -> Result<Table, DataError> {
    let rows = SparseRows::new(unpacked(reader)?, indices);
    Source::rows(rows).into_table(schema)
}

/// The most bytes of a line.
const LONGEST_LINE: u64 = 1 << 30;

/// Records of a sparse text file.
pub(super) struct SparseRows<R> {
    lines: R,
    indices: IndexRange,
    columns: Vec<Column>,
    line: Vec<u8>,
    /// Lines so far, those without a record among them.
    n_lines: u64,
    /// Of each column, the last line that had it and its value there.
    cells: Vec<(u64, Result<f64, Defect>)>,
}

impl<R: BufRead> SparseRows<R> {
    pub(super) fn new(lines: R, indices: IndexRange) -> Self {
        let column = |name: String| Column {
            name,
            kind: ColumnKind::Numeric,
        };
        let features = indices.indices().map(|index| column(format!("x_{index}")));
        let columns: Vec<Column> = core::iter::once(column("y".to_owned()))
            .chain(features)
            .collect();
        Self {
            lines,
            indices,
            line: Vec::new(),
            n_lines: 0,
            cells: vec![(0, Ok(0.0)); columns.len()],
            columns,
        }
    }

    /// Reads the next line; false at the end.
    fn read_line(&mut self) -> Result<bool, DataError> {
        self.line.clear();
        let n_read = (&mut self.lines)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut self.line)
            .map_err(FileError::from)?;
        self.n_lines += 1;
        if n_read as u64 == LONGEST_LINE {
            return Err(malformed(self.n_lines, "is longer than 1 GiB").into());
        }
        Ok(n_read > 0)
    }

    /// Sets the values of the present line; false if it has no record.
    fn parse_line(&mut self) -> Result<bool, &'static str> {
        let record = self
            .line
            .split(|byte| *byte == b'#')
            .next()
            .unwrap_or_default();
        let mut fields = record
            .split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty());
        let Some(response) = fields.next() else {
            return Ok(false);
        };
        self.cells[0] = (self.n_lines, parse(response, Decimal::Point));
        for field in fields {
            let colon = field.iter().position(|byte| *byte == b':');
            let (index, value) = field.split_at(colon.ok_or("has a field without a colon")?);
            let index = core::str::from_utf8(index)
                .ok()
                .and_then(|index| index.parse().ok())
                .ok_or("has an index that is no whole number; write `qid` and the like as a table of another format")?;
            let place = self
                .indices
                .place(index)
                .ok_or("has an index outside --svmlight")?;
            // The response comes before the indices.
            let cell = &mut self.cells[place + 1];
            if cell.0 == self.n_lines {
                return Err("has an index twice");
            }
            *cell = (self.n_lines, parse(&value[1..], Decimal::Point));
        }
        Ok(true)
    }
}

impl<R: BufRead> RowSource for SparseRows<R> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> Option<usize> {
        None
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        while self.read_line()? {
            if self
                .parse_line()
                .map_err(|problem| malformed(self.n_lines, problem))?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn place(&self, _column: usize) -> Place {
        Place::Line(self.n_lines)
    }

    fn label(&self, column: usize, label: &mut Vec<u8>) {
        if let Ok(number) = self.number(column)
            && number.is_finite()
        {
            label.extend_from_slice(number.to_string().as_bytes());
        }
    }

    fn number(&self, column: usize) -> Result<f64, Defect> {
        let (line, value) = self.cells[column];
        if line == self.n_lines { value } else { Ok(0.0) }
    }
}

/// The line is named: it is a fact about the file, not about what a record says.
fn malformed(line: u64, problem: &str) -> TableError {
    TableError::Malformed {
        format: "svmlight",
        problem: format!("line {line} {problem}"),
        remedy: "write each record as RESPONSE INDEX:VALUE …, and pass the first and the last index, as in --svmlight 1-5000",
    }
}

#[cfg(test)]
mod tests;
