//! Comma-separated values with a header line, plain or gzipped.

mod number;

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use flate2::bufread::MultiGzDecoder;

use self::number::Field;
use sprifed_schema::{Column, ColumnError, ColumnKind, Schema};

use crate::assemble::{RowSource, from_rows};
use crate::error::{DataError, FileError, TableError};
use crate::formats::{Format, OpenTable};
use crate::raw::RawColumns;
use crate::table::Table;

/// Comma-separated values.
pub(crate) const FORMAT: Format = Format {
    names: &["CSV", "gzipped CSV"],
    magic: None,
    open: |file| Ok(Box::new(open_csv(file)?)),
};

/// How many records decide whether a column is numeric. Few, because they are held in memory.
const SAMPLED_RECORDS: usize = 20;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads comma-separated values, plain or gzipped, into a bounded table.
///
/// The first line names the columns. A field may be quoted. An empty field, `NA`, `N/A`, `null`,
/// `none`, NaN and infinities are missing values.
///
/// # Errors
/// If the content is not such a table, or does not fit the schema.
pub fn read_csv(reader: impl Read, schema: &Schema) -> Result<Table, DataError> {
    Box::new(open_csv(reader)?).into_table(schema)
}

/// Reads the header and the first few records.
pub(crate) fn open_csv<'a>(reader: impl Read + 'a) -> Result<CsvRows<'a>, DataError> {
    let mut buffered = BufReader::with_capacity(1 << 16, reader);
    let is_gzip = buffered
        .fill_buf()
        .map_err(FileError::from)?
        .starts_with(&GZIP_MAGIC);
    let text: Box<dyn Read + 'a> = if is_gzip {
        Box::new(MultiGzDecoder::new(buffered))
    } else {
        Box::new(buffered)
    };
    CsvRows::start(text)
}

/// Records of a CSV file.
pub(crate) struct CsvRows<'a> {
    reader: Reader<Box<dyn Read + 'a>>,
    columns: Vec<Column>,
    sample: VecDeque<ByteRecord>,
    record: ByteRecord,
}

impl<'a> CsvRows<'a> {
    fn start(text: Box<dyn Read + 'a>) -> Result<Self, DataError> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .buffer_capacity(1 << 16)
            .from_reader(text);
        let mut header = ByteRecord::new();
        if !reader.read_byte_record(&mut header).map_err(explain)? {
            return Err(ColumnError::NoHeader.into());
        }
        let mut columns = Vec::with_capacity(header.len());
        for name in &header {
            columns.push(Column {
                name: column_name(name)?,
                kind: ColumnKind::Numeric,
            });
        }
        let mut sample = VecDeque::new();
        while sample.len() < SAMPLED_RECORDS {
            let mut record = ByteRecord::new();
            if !reader.read_byte_record(&mut record).map_err(explain)? {
                break;
            }
            for (column, field) in columns.iter_mut().zip(&record) {
                if Field::parse(field) == Field::Text {
                    column.kind = ColumnKind::Text;
                }
            }
            sample.push_back(record);
        }
        Ok(Self {
            reader,
            columns,
            sample,
            record: ByteRecord::new(),
        })
    }
}

impl RowSource for CsvRows<'_> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> Option<usize> {
        None
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        if let Some(record) = self.sample.pop_front() {
            self.record = record;
            return Ok(true);
        }
        self.reader
            .read_byte_record(&mut self.record)
            .map_err(explain)
    }

    fn label(&self, column: usize, label: &mut Vec<u8>) {
        label.extend_from_slice(self.record.get(column).unwrap_or_default());
    }

    fn numbers(&self, columns: &[usize], numbers: &mut [f64]) -> Result<(), TableError> {
        for (&column, number) in columns.iter().zip(numbers) {
            *number = match Field::parse(self.record.get(column).unwrap_or_default()) {
                Field::Number(value) => value,
                Field::Missing => f64::NAN,
                Field::Text => {
                    return Err(ColumnError::NotNumeric {
                        column: self.columns[column].name.clone(),
                        role: "numeric in the first records",
                    }
                    .into());
                }
            };
        }
        Ok(())
    }
}

impl OpenTable for CsvRows<'_> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn into_table(mut self: Box<Self>, schema: &Schema) -> Result<Table, DataError> {
        from_rows(&mut *self, schema)
    }

    fn into_raw(mut self: Box<Self>, names: &[String]) -> Result<RawColumns, DataError> {
        RawColumns::from_rows(&mut *self, names)
    }
}

fn column_name(bytes: &[u8]) -> Result<String, TableError> {
    match std::str::from_utf8(bytes) {
        Ok(name) => Ok(name.trim().to_owned()),
        Err(_) => Err(TableError::Malformed {
            format: "CSV",
            problem: "a column name is not UTF-8 text".to_owned(),
            remedy: "save the table as UTF-8 text with a header line",
        }),
    }
}

/// The line of a ragged record is named: it is a fact about the file, not about what a record says.
fn explain(problem: ::csv::Error) -> DataError {
    let text = match problem.kind() {
        ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => {
            let line = pos.as_ref().map_or(0, ::csv::Position::line);
            format!("line {line} has {len} fields, the header has {expected_len}")
        }
        _ => "the text cannot be split into records".to_owned(),
    };
    match problem.into_kind() {
        ErrorKind::Io(source) => FileError::Read { source }.into(),
        _ => TableError::Malformed {
            format: "CSV",
            problem: text,
            remedy: "write every record with as many fields as the header, separated by commas",
        }
        .into(),
    }
}

#[cfg(test)]
mod tests;
