//! One column of one row group, in batches.

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;

/// Records that are decoded at once.
const RECORDS_AT_ONCE: usize = 1 << 13;

/// Whether stored integers are to be read with a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signedness {
    Signed,
    Unsigned,
}

/// The values of one column of one row group.
pub(super) struct Batches {
    reader: ColumnReader,
    /// The definition level of a value that is present.
    present: i16,
    signedness: Signedness,
}

impl Batches {
    pub(super) fn new(reader: ColumnReader, present: i16, signedness: Signedness) -> Self {
        Self {
            reader,
            present,
            signedness,
        }
    }

    /// Hands over each number, NaN where it is missing, and says how many there were.
    pub(super) fn numbers(&mut self, take: &mut dyn FnMut(f64)) -> Result<usize, ParquetError> {
        use ColumnReader as Reader;
        let (present, signedness) = (self.present, self.signedness);
        match &mut self.reader {
            Reader::BoolColumnReader(reader) => each(reader, present, |value| {
                take(value.map_or(f64::NAN, |v| f64::from(u8::from(*v))))
            }),
            Reader::Int32ColumnReader(reader) => each(reader, present, |value| {
                take(value.map_or(f64::NAN, |v| match signedness {
                    Signedness::Signed => f64::from(*v),
                    Signedness::Unsigned => f64::from(v.cast_unsigned()),
                }));
            }),
            Reader::Int64ColumnReader(reader) => each(reader, present, |value| {
                take(value.map_or(f64::NAN, |v| wide_integer(*v, signedness)));
            }),
            Reader::FloatColumnReader(reader) => each(reader, present, |value| {
                take(value.map_or(f64::NAN, |v| f64::from(*v)))
            }),
            Reader::DoubleColumnReader(reader) => each(reader, present, |value| {
                take(value.map_or(f64::NAN, |v| *v))
            }),
            _ => Err(ParquetError::General(
                "a numeric column was expected".to_owned(),
            )),
        }
    }

    /// Hands over each value as text, empty where it is missing, and says how many there were.
    pub(super) fn labels(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, ParquetError> {
        use ColumnReader as Reader;
        let present = self.present;
        match &mut self.reader {
            Reader::ByteArrayColumnReader(reader) => each(reader, present, |value| {
                take(value.map_or(&[][..], ::parquet::data_type::ByteArray::data));
            }),
            Reader::FixedLenByteArrayColumnReader(reader) => each(reader, present, |value| {
                take(value.map_or(&[][..], |bytes| bytes.data()));
            }),
            Reader::Int32ColumnReader(reader) => {
                each(reader, present, |value| written(value, take))
            }
            Reader::Int64ColumnReader(reader) => {
                each(reader, present, |value| written(value, take))
            }
            Reader::BoolColumnReader(reader) => each(reader, present, |value| written(value, take)),
            Reader::FloatColumnReader(reader) => {
                each(reader, present, |value| written(value, take))
            }
            Reader::DoubleColumnReader(reader) => {
                each(reader, present, |value| written(value, take))
            }
            _ => Err(ParquetError::General(
                "clients and levels must be text, numbers or truth values".to_owned(),
            )),
        }
    }
}

fn written(value: Option<&impl ToString>, take: &mut dyn FnMut(&[u8])) {
    take(
        value
            .map(ToString::to_string)
            .unwrap_or_default()
            .as_bytes(),
    );
}

#[expect(
    clippy::cast_precision_loss,
    reason = "beyond 2^53 the nearest number is good enough"
)]
fn wide_integer(value: i64, signedness: Signedness) -> f64 {
    match signedness {
        Signedness::Signed => value as f64,
        Signedness::Unsigned => value.cast_unsigned() as f64,
    }
}

/// Hands over each value of a flat column, `None` where it is missing.
fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    present: i16,
    mut take: impl FnMut(Option<&T::T>),
) -> Result<usize, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut n_records = 0;
    loop {
        values.clear();
        levels.clear();
        let levels_wanted = (present > 0).then_some(&mut levels);
        let (n_read, _, _) =
            reader.read_records(RECORDS_AT_ONCE, levels_wanted, None, &mut values)?;
        if n_read == 0 {
            return Ok(n_records);
        }
        n_records += n_read;
        if present == 0 {
            values.iter().for_each(|value| take(Some(value)));
            continue;
        }
        let mut next = values.iter();
        for &level in &levels {
            take(if level == present { next.next() } else { None });
        }
    }
}
