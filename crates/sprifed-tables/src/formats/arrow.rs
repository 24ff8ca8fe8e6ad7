//! Arrow IPC files, also called Feather: batches of records, decoded by the `arrow-ipc` crate.
//!
//! That crate panics where a file contradicts itself, so [`sound`] looks at what each message promises before it is decoded.

mod cells;
mod sound;

use std::cell::OnceCell;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use ::arrow_ipc::convert::try_fb_to_schema;
use ::arrow_ipc::reader::{FileDecoder, read_footer_length};
use ::arrow_ipc::{Block, root_as_footer};
use arrow_array::RecordBatch;
use arrow_buffer::{Buffer, MutableBuffer};
use sprifed_schema::{Column, Schema};

use self::sound::Layouts;
use crate::assemble::RowSource;
use crate::cell::{Defect, Place};
use crate::error::{DataError, FileError, TableError};
use crate::formats::{NamedFile, Source};
use crate::table::Table;

/// What a file ends with: the length of its footer, and the bytes that it began with.
const TRAILER: usize = 10;

/// Reads an Arrow IPC file into a bounded table.
///
/// Booleans, integers and floating-point numbers are numeric; text, dictionaries of text, dates and times are not. Batches may
/// be plain or packed with LZ4.
///
/// # Errors
/// If the content is not such a file, has nested columns, or does not fit the schema.
pub fn read_arrow(reader: impl Read + Seek, schema: &Schema) -> Result<Table, DataError> {
    Source::rows(ArrowBatches::open(reader)?).into_table(schema)
}

/// Opens a file of this format.
pub(crate) fn open(file: NamedFile<'_>) -> Result<Source<'static>, DataError> {
    let reader = BufReader::new(file.file);
    Ok(Source::rows(ArrowBatches::open(reader)?))
}

/// An opened file.
pub(crate) struct ArrowBatches<R> {
    reader: R,
    /// Bytes before the footer.
    end: u64,
    layouts: Layouts,
    decoder: FileDecoder,
    columns: Vec<Column>,
    blocks: std::vec::IntoIter<Block>,
    batch: Option<DecodedBatch>,
    /// The place of the present record in its batch.
    row: usize,
    /// Records before the present batch.
    n_before: u64,
}

/// A batch of records, each column of it converted when it is first asked for.
struct DecodedBatch {
    records: RecordBatch,
    numbers: Vec<OnceCell<Vec<f64>>>,
    keys: Vec<OnceCell<Vec<usize>>>,
}

impl<R: Read + Seek> ArrowBatches<R> {
    /// Reads the footer and the dictionaries.
    pub(crate) fn open(mut reader: R) -> Result<Self, DataError> {
        let length = reader.seek(SeekFrom::End(0)).map_err(FileError::from)?;
        let trailer_start = length.checked_sub(TRAILER as u64);
        let trailer_start = trailer_start.ok_or_else(|| malformed("it is cut off"))?;
        let mut trailer = [0; TRAILER];
        read_at(&mut reader, trailer_start, &mut trailer)?;
        let footer_length =
            read_footer_length(trailer).map_err(|_| malformed("it has no footer"))?;
        let end = trailer_start.checked_sub(footer_length as u64);
        let end = end.ok_or_else(|| malformed("its footer is longer than the file"))?;
        let mut footer = vec![0; footer_length];
        read_at(&mut reader, end, &mut footer)?;
        let footer = root_as_footer(&footer).map_err(|_| malformed("its footer is damaged"))?;
        let schema = footer
            .schema()
            .ok_or_else(|| malformed("it has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(malformed("its numbers have their bytes in another order").into());
        }
        let fields = try_fb_to_schema(schema).map_err(|_| malformed("its schema is damaged"))?;
        let columns = cells::columns(&fields)?;
        let layouts = Layouts::of(schema, &fields);
        let mut decoder = FileDecoder::new(Arc::new(fields), footer.version());
        for block in footer.dictionaries().into_iter().flatten() {
            let bytes = read_block(&mut reader, &layouts, end, block)?;
            decoder
                .read_dictionary(block, &bytes)
                .map_err(|_| malformed("a dictionary is damaged"))?;
        }
        let blocks: Vec<Block> = footer
            .recordBatches()
            .into_iter()
            .flatten()
            .copied()
            .collect();
        Ok(Self {
            reader,
            end,
            layouts,
            decoder,
            columns,
            blocks: blocks.into_iter(),
            batch: None,
            row: 0,
            n_before: 0,
        })
    }

    fn next_batch(&mut self) -> Result<bool, DataError> {
        self.n_before += self
            .batch
            .take()
            .map_or(0, |batch| batch.records.num_rows() as u64);
        self.row = 0;
        let Some(block) = self.blocks.next() else {
            return Ok(false);
        };
        let bytes = read_block(&mut self.reader, &self.layouts, self.end, &block)?;
        let records = self.decoder.read_record_batch(&block, &bytes);
        let records = records
            .ok()
            .flatten()
            .ok_or_else(|| malformed("a batch of records is damaged"))?;
        let n_columns = records.num_columns();
        self.batch = Some(DecodedBatch {
            records,
            numbers: vec![OnceCell::new(); n_columns],
            keys: vec![OnceCell::new(); n_columns],
        });
        Ok(true)
    }
}

/// Reads a block that lies before `end`, and refuses one that would not be decoded without a panic.
fn read_block<R: Read + Seek>(
    reader: &mut R,
    layouts: &Layouts,
    end: u64,
    block: &Block,
) -> Result<Buffer, DataError> {
    let size = sound::size_of(block, end).ok_or_else(|| malformed("a block lies outside it"))?;
    // Aligned as its columns must be.
    let mut bytes = MutableBuffer::from_len_zeroed(size);
    read_at(reader, block.offset().cast_unsigned(), &mut bytes)?;
    layouts.check(block, &bytes)?;
    Ok(bytes.into())
}

fn read_at(reader: &mut (impl Read + Seek), start: u64, bytes: &mut [u8]) -> Result<(), FileError> {
    reader.seek(SeekFrom::Start(start))?;
    Ok(reader.read_exact(bytes)?)
}

impl<R: Read + Seek> RowSource for ArrowBatches<R> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> Option<usize> {
        None
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        self.row += 1;
        while self
            .batch
            .as_ref()
            .is_none_or(|batch| self.row >= batch.records.num_rows())
        {
            if !self.next_batch()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn place(&self, _column: usize) -> Place {
        Place::Record(self.n_before + self.row as u64 + 1)
    }

    fn label(&self, column: usize, label: &mut Vec<u8>) {
        if let Some(batch) = &self.batch {
            let array = batch.records.column(column);
            cells::write_label(array, &batch.keys[column], self.row, label);
        }
    }

    fn number(&self, column: usize) -> Result<f64, Defect> {
        let batch = self.batch.as_ref().ok_or(Defect::Text)?;
        let array = batch.records.column(column);
        let numbers = batch.numbers[column].get_or_init(|| cells::numbers(array));
        numbers.get(self.row).copied().ok_or(Defect::Text)
    }
}

fn malformed(problem: &str) -> TableError {
    TableError::Malformed {
        format: "Arrow",
        problem: problem.to_owned(),
        remedy: "write the file again, for example with pandas.DataFrame.to_feather, or as Parquet",
    }
}

#[cfg(test)]
mod tests;
