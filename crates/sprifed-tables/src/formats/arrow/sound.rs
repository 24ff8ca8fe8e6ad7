//! What a message promises, compared with what it has, before its columns are decoded.

use std::collections::BTreeMap;

use arrow_ipc::{Block, CompressionType, MessageHeader, RecordBatch, root_as_message};
use arrow_schema::{DataType, Schema};

use super::malformed;
use crate::error::TableError;

/// What a message begins with: a mark and the length of its description, or only the length.
const MARK: [u8; 4] = [0xFF; 4];

/// Content begins at multiples of so many bytes.
const ALIGNED: usize = 8;

/// The most records of a batch.
const MOST_RECORDS: i64 = u32::MAX as i64;

/// By how much LZ4 can shorten at most: one byte stands for 255.
const LARGEST_RATIO: u64 = 256;

/// The bytes of the block if it lies before `end`.
pub(super) fn size_of(block: &Block, end: u64) -> Option<usize> {
    let start = u64::try_from(block.offset()).ok()?;
    let description = u64::try_from(block.metaDataLength()).ok()?;
    let body = u64::try_from(block.bodyLength()).ok()?;
    let size = description.checked_add(body)?;
    let is_inside = start.checked_add(size)? <= end;
    is_inside.then(|| usize::try_from(size).ok()).flatten()
}

/// The kinds of the columns of a file and of its dictionaries, which say how long their content can be.
#[derive(Debug)]
pub(super) struct Layouts {
    columns: Vec<DataType>,
    /// The values of each dictionary, by its number.
    dictionaries: BTreeMap<i64, DataType>,
}

impl Layouts {
    /// Those of the schema as it is stored, and as it was read.
    pub(super) fn of(stored: arrow_ipc::Schema<'_>, read: &Schema) -> Self {
        let kinds = read.fields().iter().map(|field| field.data_type());
        let fields = stored.fields().into_iter().flatten().zip(kinds.clone());
        let dictionaries = fields.filter_map(|(stored, kind)| match kind {
            DataType::Dictionary(_, values) => {
                Some((stored.dictionary()?.id(), (**values).clone()))
            }
            _ => None,
        });
        Self {
            dictionaries: dictionaries.collect(),
            columns: kinds.cloned().collect(),
        }
    }

    /// Refuses a message whose columns lie outside it, or are of no possible length.
    pub(super) fn check(&self, block: &Block, bytes: &[u8]) -> Result<(), TableError> {
        let short = || malformed("a message is cut off");
        let description = usize::try_from(block.metaDataLength()).map_err(|_| short())?;
        if !description.is_multiple_of(ALIGNED) {
            return Err(malformed("a message does not begin where it may"));
        }
        let (description, body) = bytes.split_at_checked(description).ok_or_else(short)?;
        let description = match description.strip_prefix(&MARK) {
            Some(rest) => rest.get(4..),
            None => description.get(4..),
        };
        let message = root_as_message(description.ok_or_else(short)?);
        let message = message.map_err(|_| malformed("a message is damaged"))?;
        let other_kind = || malformed("a message is of another kind");
        match message.header_type() {
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch().ok_or_else(other_kind)?;
                check_batch(batch, &self.columns, body)
            }
            MessageHeader::DictionaryBatch => {
                let dictionary = message
                    .header_as_dictionary_batch()
                    .ok_or_else(other_kind)?;
                let values = self.dictionaries.get(&dictionary.id());
                let values =
                    values.ok_or_else(|| malformed("a dictionary belongs to no column"))?;
                let batch = dictionary.data().ok_or_else(other_kind)?;
                check_batch(batch, core::slice::from_ref(values), body)
            }
            _ => Err(other_kind()),
        }
    }
}

fn check_batch(
    batch: RecordBatch<'_>,
    columns: &[DataType],
    body: &[u8],
) -> Result<(), TableError> {
    if !(0..=MOST_RECORDS).contains(&batch.length()) {
        return Err(malformed("a batch has an impossible number of records"));
    }
    for node in batch.nodes().into_iter().flatten() {
        if node.length() != batch.length() || !(0..=node.length()).contains(&node.null_count()) {
            return Err(malformed("a column has an impossible number of values"));
        }
    }
    let packing = batch.compression().map(|packing| packing.codec());
    if packing.is_some_and(|codec| codec != CompressionType::LZ4_FRAME) {
        return Err(TableError::NotBuiltIn {
            format: "Arrow packed with Zstandard",
            remedy: "write it with compression \"lz4\"",
        });
    }
    let is_packed = packing.is_some();
    let mut buffers = batch.buffers().into_iter().flatten();
    let mut variadic = batch.variadicBufferCounts().into_iter().flatten();
    for column in columns {
        let n_further = match column {
            DataType::Utf8View => variadic
                .next()
                .and_then(|count| usize::try_from(count).ok()),
            _ => Some(0),
        };
        let n_further =
            n_further.ok_or_else(|| malformed("a column has an impossible number of parts"))?;
        // What is missing has a bit for each record.
        let widths = core::iter::once(1).chain(widths(column).iter().copied());
        for width in widths.chain(core::iter::repeat_n(1, n_further)) {
            let buffer = buffers
                .next()
                .ok_or_else(|| malformed("a column lacks a part"))?;
            let start = usize::try_from(buffer.offset()).ok();
            let length = usize::try_from(buffer.length()).ok();
            let content = start
                .filter(|start| start.is_multiple_of(ALIGNED))
                .zip(length)
                .and_then(|(start, length)| body.get(start..)?.get(..length));
            let content = content.ok_or_else(|| malformed("a column lies outside its message"))?;
            let length = match is_packed && !content.is_empty() {
                true => unpacked_length(content)?,
                false => content.len() as u64,
            };
            if !length.is_multiple_of(width) {
                return Err(malformed("a column has an impossible length"));
            }
        }
    }
    Ok(())
}

/// The bytes of a value in each part of a column, besides the one that says what is missing.
fn widths(of: &DataType) -> &'static [u64] {
    match of {
        DataType::Utf8 => &[4, 1],
        DataType::LargeUtf8 => &[8, 1],
        DataType::Utf8View => &[16],
        DataType::Dictionary(keys, _) => widths(keys),
        other => match other.primitive_width() {
            Some(2) => &[2],
            Some(4) => &[4],
            Some(8) => &[8],
            _ => &[1],
        },
    }
}

/// How long packed content becomes: it begins with that, or with -1 if it is not packed after all.
fn unpacked_length(content: &[u8]) -> Result<u64, TableError> {
    let (length, packed) = content
        .split_first_chunk::<8>()
        .ok_or_else(|| malformed("packed content is cut off"))?;
    let length = match i64::from_le_bytes(*length) {
        -1 => packed.len() as u64,
        length => u64::try_from(length)
            .map_err(|_| malformed("packed content has an impossible length"))?,
    };
    match length <= LARGEST_RATIO.saturating_mul(packed.len() as u64) {
        true => Ok(length),
        false => Err(malformed("packed content has an impossible length")),
    }
}
