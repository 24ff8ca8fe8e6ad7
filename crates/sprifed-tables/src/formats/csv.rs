//! Comma-separated values with a header line, plain or gzipped; other separators if the user states them.

mod number;

pub(crate) use self::number::parse;

use std::io::{BufRead, BufReader, Read};

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use flate2::bufread::MultiGzDecoder;

use sprifed_schema::{Column, ColumnError, ColumnKind, Schema};

use crate::assemble::RowSource;
use crate::cell::{Defect, Place};
use crate::error::{DataError, FileError, TableError};
use crate::formats::{Format, Source};
use crate::table::Table;
use crate::text_format::{Decimal, TextFormat};

/// Comma-separated values.
pub(crate) const FORMAT: Format = Format {
    names: &["CSV", "gzipped CSV"],
    magic: None,
    extension: None,
    open: |file| Ok(Source::rows(open_csv(file.file, file.text)?)),
};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads comma-separated values, plain or gzipped, into a bounded table.
///
/// The first line names the columns. A field may be quoted. An empty field, `NA`, `N/A`, `null`,
/// `none` and NaN are missing values.
///
/// # Errors
/// If the content is not such a table, or does not fit the schema.
pub fn read_csv(reader: impl Read, schema: &Schema) -> Result<Table, DataError> {
    Source::rows(open_csv(reader, TextFormat::default())?).into_table(schema)
}

/// Reads the header.
pub(crate) fn open_csv<'a>(
    reader: impl Read + 'a,
    format: TextFormat,
) -> Result<CsvRows<'a>, DataError> {
    CsvRows::start(unpacked(reader)?, format)
}

/// The text of a file that may be gzipped.
pub(crate) fn unpacked<'a>(reader: impl Read + 'a) -> Result<Box<dyn BufRead + 'a>, FileError> {
    let mut buffered = BufReader::with_capacity(1 << 16, reader);
    let is_gzip = buffered.fill_buf()?.starts_with(&GZIP_MAGIC);
    Ok(if is_gzip {
        let text = MultiGzDecoder::new(buffered);
        Box::new(BufReader::with_capacity(1 << 16, text))
    } else {
        Box::new(buffered)
    })
}

/// Records of a CSV file.
pub(crate) struct CsvRows<'a> {
    reader: Reader<Box<dyn BufRead + 'a>>,
    columns: Vec<Column>,
    record: ByteRecord,
    decimal: Decimal,
}

impl<'a> CsvRows<'a> {
    fn start(text: Box<dyn BufRead + 'a>, format: TextFormat) -> Result<Self, DataError> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(format.separator.byte())
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
                kind: ColumnKind::Unstated,
            });
        }
        require_header(&columns)?;
        if let [only] = columns.as_slice() {
            require_separated(&only.name)?;
        }
        Ok(Self {
            reader,
            columns,
            record: ByteRecord::new(),
            decimal: format.decimal,
        })
    }
}

/// Refuses a header that is a record: most of its names are numbers, and not such as count columns (0, 1, 2, …). Names are
/// public and shown, so a record must not be taken for them.
fn require_header(columns: &[Column]) -> Result<(), ColumnError> {
    let names = || columns.iter().map(|column| column.name.as_str());
    let is_number = |name: &&str| name.replace(',', ".").parse::<f64>().is_ok();
    let numbers = names().filter(is_number).count();
    let whole: Option<Vec<u32>> = names()
        .filter(is_number)
        .map(|name| name.parse().ok())
        .collect();
    let counts = whole.is_some_and(|whole| whole.is_sorted_by(|first, second| first < second));
    if 2 * numbers <= columns.len() || counts {
        return Ok(());
    }
    Err(ColumnError::RecordAsHeader {
        numbers,
        fields: columns.len(),
    })
}

/// Refuses a single column whose name seems to be several. It is not shown: it may be a record.
fn require_separated(name: &str) -> Result<(), TableError> {
    let known = [
        (';', "semicolons"),
        ('\t', "tabs"),
        (',', "commas"),
        ('|', "bars"),
        (' ', "spaces"),
    ];
    let mut known = known.into_iter();
    let Some((separator, separators)) = known.find(|(mark, _)| name.contains(*mark)) else {
        return Ok(());
    };
    Err(TableError::OtherSeparator {
        separators,
        separator,
    })
}

impl RowSource for CsvRows<'_> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> Option<usize> {
        None
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        self.reader
            .read_byte_record(&mut self.record)
            .map_err(explain)
    }

    fn place(&self, _column: usize) -> Place {
        Place::Line(self.record.position().map_or(0, ::csv::Position::line))
    }

    fn label(&self, column: usize, label: &mut Vec<u8>) {
        label.extend_from_slice(self.record.get(column).unwrap_or_default());
    }

    #[inline]
    fn number(&self, column: usize) -> Result<f64, Defect> {
        parse(self.record.get(column).unwrap_or_default(), self.decimal)
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
            remedy: "write every record with as many fields as the header, separated as the header is",
        }
        .into(),
    }
}

#[cfg(test)]
mod tests;
