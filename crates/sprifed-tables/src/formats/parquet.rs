//! Apache Parquet, read a column at a time by the low-level readers of the `parquet` crate.
//!
//! Its Arrow layer would cost minutes of build time and a second copy of the table.

mod column;

use std::fs::File;

use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use self::column::{Batches, Signedness};
use sprifed_schema::{Column, ColumnKind, Schema};

use crate::assemble::{ColumnSource, TakeNumber};
use crate::error::{DataError, TableError};
use crate::formats::Source;
use crate::table::Table;

/// Reads a Parquet file into a bounded table.
///
/// Booleans, integers and floating-point numbers are numeric; text, dates, decimals and nested
/// columns are not. Pages may be plain, Snappy or gzip, and Zstandard with the feature
/// `parquet-zstd`.
///
/// # Errors
/// If the content is not such a file, or does not fit the schema.
pub fn read_parquet(file: File, schema: &Schema) -> Result<Table, DataError> {
    Source::columns_of(ParquetColumns::open(file)?).into_table(schema)
}

/// An opened Parquet file.
pub(crate) struct ParquetColumns<R: ChunkReader> {
    reader: SerializedFileReader<R>,
    columns: Vec<Column>,
    n_records: usize,
}

impl<R: ChunkReader + 'static> ParquetColumns<R> {
    pub(crate) fn open(chunks: R) -> Result<Self, DataError> {
        let reader = SerializedFileReader::new(chunks).map_err(explain)?;
        let metadata = reader.metadata();
        let described = metadata.file_metadata().schema_descr().columns();
        let columns: Vec<Column> = described
            .iter()
            .map(|column| Column {
                name: column.path().string(),
                kind: kind(column),
            })
            .collect();
        let mut n_records = 0usize;
        for group in metadata.row_groups() {
            let rows =
                usize::try_from(group.num_rows()).map_err(|_| malformed("a negative size"))?;
            n_records = n_records
                .checked_add(rows)
                .ok_or_else(|| malformed("too many rows"))?;
            for chunk in group.columns() {
                require_codec(chunk.compression())?;
            }
        }
        Ok(Self {
            reader,
            columns,
            n_records,
        })
    }

    /// Runs over one column, row group after row group.
    fn visit(
        &self,
        column: usize,
        visit: &mut dyn FnMut(&mut Batches) -> Result<usize, ParquetError>,
    ) -> Result<(), DataError> {
        let descriptor = self
            .reader
            .metadata()
            .file_metadata()
            .schema_descr()
            .column(column);
        if descriptor.max_rep_level() > 0 {
            return Err(malformed("a column holds lists").into());
        }
        let signedness = signedness(&descriptor);
        let mut n_seen = 0;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(explain)?;
            let reader = group.get_column_reader(column).map_err(explain)?;
            let mut batches = Batches::new(reader, descriptor.max_def_level(), signedness);
            n_seen += visit(&mut batches).map_err(explain)?;
        }
        if n_seen == self.n_records {
            return Ok(());
        }
        Err(malformed("a column is shorter or longer than the table").into())
    }
}

impl<R: ChunkReader + 'static> ColumnSource for ParquetColumns<R> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> usize {
        self.n_records
    }

    fn labels(&mut self, column: usize, take: &mut dyn FnMut(&[u8])) -> Result<(), DataError> {
        self.visit(column, &mut |batches| batches.labels(take))
    }

    fn numbers(&mut self, column: usize, take: &mut TakeNumber<'_>) -> Result<(), DataError> {
        self.visit(column, &mut |batches| {
            batches.numbers(&mut |number| take(Ok(number)))
        })
    }
}

/// A number whose stored form is not its value, such as a decimal, counts as text; so
/// does a row index, which would otherwise become a feature unasked.
fn kind(column: &ColumnDescriptor) -> ColumnKind {
    use ConvertedType as Converted;
    let is_plain = matches!(
        column.converted_type(),
        Converted::NONE
            | Converted::INT_8
            | Converted::INT_16
            | Converted::INT_32
            | Converted::INT_64
            | Converted::UINT_8
            | Converted::UINT_16
            | Converted::UINT_32
            | Converted::UINT_64
    );
    let is_number = matches!(
        column.physical_type(),
        Type::BOOLEAN | Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE
    );
    // Nanosecond timestamps have no converted type, only a logical one.
    let is_integer_or_unmarked = column
        .logical_type_ref()
        .is_none_or(|logical| matches!(logical, LogicalType::Integer { .. }));
    let is_flat = column.max_rep_level() == 0;
    // The row index of pandas says where a record was, and nothing about its subject.
    let is_row_index = column.name().starts_with("__index_level_");
    let is_date = matches!(
        column.converted_type(),
        Converted::DATE
            | Converted::TIME_MILLIS
            | Converted::TIME_MICROS
            | Converted::TIMESTAMP_MILLIS
            | Converted::TIMESTAMP_MICROS
    ) || matches!(
        column.logical_type_ref(),
        Some(LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. })
    );
    if is_date {
        ColumnKind::Date
    } else if is_plain && is_number && is_integer_or_unmarked && is_flat && !is_row_index {
        ColumnKind::Numeric
    } else {
        ColumnKind::Text
    }
}

fn signedness(column: &ColumnDescriptor) -> Signedness {
    use ConvertedType as Converted;
    match column.converted_type() {
        Converted::UINT_8 | Converted::UINT_16 | Converted::UINT_32 | Converted::UINT_64 => {
            Signedness::Unsigned
        }
        _ => Signedness::Signed,
    }
}

fn require_codec(codec: Compression) -> Result<(), TableError> {
    match codec {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) => Ok(()),
        Compression::ZSTD(_) if cfg!(feature = "parquet-zstd") => Ok(()),
        Compression::ZSTD(_) => Err(TableError::NotBuiltIn {
            format: "Parquet packed with Zstandard",
            remedy: "write it with compression \"snappy\", or build with the feature `parquet-zstd`",
        }),
        _ => Err(TableError::NotBuiltIn {
            format: "Parquet packed with an unusual codec",
            remedy: "write it with compression \"snappy\"",
        }),
    }
}

fn explain(problem: ParquetError) -> DataError {
    malformed(&problem.to_string()).into()
}

fn malformed(problem: &str) -> TableError {
    TableError::Malformed {
        format: "Parquet",
        problem: problem.to_owned(),
        remedy: "write the file again, for example with pandas.DataFrame.to_parquet",
    }
}

#[cfg(test)]
mod tests;
