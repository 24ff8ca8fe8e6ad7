//! The header of a `.npy` file: a Python dictionary with three known keys.

use std::io::Read;

use super::item::Item;
use crate::error::{DataError, FileError, TableError};

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) item: Item,
    pub(super) order: Order,
    pub(super) n_rows: usize,
    pub(super) n_columns: usize,
}

/// Which items lie side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Rows,
    Columns,
}

/// Longer than any header of a plain array; NumPy itself refuses headers beyond 10,000 bytes.
const LONGEST: usize = 1 << 16;

impl Header {
    pub(super) fn read(reader: &mut impl Read) -> Result<Self, DataError> {
        let mut start = [0u8; 8];
        fill(reader, &mut start)?;
        let length = match start {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => {
                let mut bytes = [0u8; 2];
                fill(reader, &mut bytes)?;
                usize::from(u16::from_le_bytes(bytes))
            }
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _] => {
                let mut bytes = [0u8; 4];
                fill(reader, &mut bytes)?;
                usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX)
            }
            _ => return Err(malformed("the first bytes are not those of version 1 to 3")),
        };
        if length > LONGEST {
            return Err(malformed("the header is too long"));
        }
        let mut text = vec![0u8; length];
        fill(reader, &mut text)?;
        let text = String::from_utf8(text).map_err(|_| malformed("the header is not text"))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, DataError> {
        let entry = |key| value_of(text, key).ok_or_else(|| malformed("the header lacks a key"));
        let kind = entry("descr")?;
        let kind = kind
            .strip_prefix(['\'', '"'])
            .and_then(|rest| rest.split(['\'', '"']).next())
            .ok_or_else(|| malformed("the items are records with fields, not plain numbers"))?;
        let item = Item::parse(kind)
            .ok_or_else(|| malformed("the items are not real numbers of 1, 2, 4 or 8 bytes"))?;
        let order = entry("fortran_order")?;
        let order = if order.starts_with("True") {
            Order::Columns
        } else {
            Order::Rows
        };
        let shape = entry("shape")?;
        let sizes: Option<Vec<usize>> = shape
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .and_then(|(inside, _)| {
                let sizes = inside
                    .split(',')
                    .map(str::trim)
                    .filter(|size| !size.is_empty());
                sizes.map(|size| size.parse().ok()).collect()
            });
        match sizes.as_deref() {
            Some(&[n_rows, n_columns]) => Ok(Self {
                item,
                order,
                n_rows,
                n_columns,
            }),
            _ => Err(malformed("the array does not have two dimensions")),
        }
    }

    /// The bytes of the whole array, if they can be counted.
    pub(super) fn n_bytes(&self) -> Option<u64> {
        let items = self.n_rows.checked_mul(self.n_columns)?;
        u64::try_from(items.checked_mul(self.item.size())?).ok()
    }
}

/// What follows `'key':` in the dictionary.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let after = ['\'', '"'].into_iter().find_map(|quote| {
        text.split_once(&format!("{quote}{key}{quote}"))
            .map(|(_, after)| after)
    })?;
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}

fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), DataError> {
    reader
        .read_exact(bytes)
        .map_err(|source| match source.kind() {
            std::io::ErrorKind::UnexpectedEof => malformed("the file ends inside the header"),
            _ => FileError::Read { source }.into(),
        })
}

fn malformed(problem: &str) -> DataError {
    TableError::Malformed {
        format: ".npy",
        problem: problem.to_owned(),
        remedy: "save a two-dimensional array of numbers with numpy.save",
    }
    .into()
}
