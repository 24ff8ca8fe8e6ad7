//! Columns of a batch as numbers and as text.

use std::cell::OnceCell;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema};
use sprifed_schema::{Column, ColumnKind};

use super::malformed;
use crate::error::TableError;

/// The columns of a file.
///
/// # Errors
/// If one of them is nested or of another kind that no table has.
pub(super) fn columns(schema: &Schema) -> Result<Vec<Column>, TableError> {
    let column = |field: &arrow_schema::FieldRef| {
        let kind = kind(field.data_type())?;
        // The row index of pandas says where a record was, and nothing about its subject.
        let is_row_index = field.name().starts_with("__index_level_");
        Some(Column {
            name: field.name().clone(),
            kind: if is_row_index { ColumnKind::Text } else { kind },
        })
    };
    let columns: Option<Vec<Column>> = schema.fields().iter().map(column).collect();
    columns
        .ok_or_else(|| malformed("a column is nested, binary or decimal; leave such columns out"))
}

fn kind(of: &DataType) -> Option<ColumnKind> {
    match of {
        _ if of.is_integer() || of.is_floating() || *of == DataType::Boolean => {
            Some(ColumnKind::Numeric)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(ColumnKind::Text),
        DataType::Dictionary(_, values)
            if matches!(**values, DataType::Utf8 | DataType::LargeUtf8) =>
        {
            Some(ColumnKind::Text)
        }
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..) => Some(ColumnKind::Date),
        _ => None,
    }
}

/// The number of each record, NaN if it is missing; nothing for a column that has none.
pub(super) fn numbers(array: &ArrayRef) -> Vec<f64> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a wide integer becomes the nearest number"
    )]
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean().iter();
            values
                .map(|value| value.map_or(f64::NAN, |value| f64::from(u8::from(value))))
                .collect()
        }
        DataType::Int8 => each::<Int8Type>(array, f64::from),
        DataType::Int16 => each::<Int16Type>(array, f64::from),
        DataType::Int32 => each::<Int32Type>(array, f64::from),
        DataType::Int64 => each::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => each::<UInt8Type>(array, f64::from),
        DataType::UInt16 => each::<UInt16Type>(array, f64::from),
        DataType::UInt32 => each::<UInt32Type>(array, f64::from),
        DataType::UInt64 => each::<UInt64Type>(array, |value| value as f64),
        DataType::Float16 => each::<Float16Type>(array, f64::from),
        DataType::Float32 => each::<Float32Type>(array, f64::from),
        DataType::Float64 => each::<Float64Type>(array, |value| value),
        _ => Vec::new(),
    }
}

fn each<T: ArrowPrimitiveType>(array: &ArrayRef, number: impl Fn(T::Native) -> f64) -> Vec<f64> {
    let values = array.as_primitive::<T>().iter();
    values
        .map(|value| value.map_or(f64::NAN, &number))
        .collect()
}

/// Writes the text of a record, nothing if it is missing; `keys` are those of a dictionary, once they were asked for.
pub(super) fn write_label(
    array: &ArrayRef,
    keys: &OnceCell<Vec<usize>>,
    row: usize,
    label: &mut Vec<u8>,
) {
    if array.is_null(row) {
        return;
    }
    let text = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row),
        DataType::Utf8View => array.as_string_view().value(row),
        DataType::Boolean => match array.as_boolean().value(row) {
            true => "true",
            false => "false",
        },
        // Identifiers may be longer than a floating-point number is exact.
        DataType::Int64 => {
            label.extend(
                array
                    .as_primitive::<Int64Type>()
                    .value(row)
                    .to_string()
                    .bytes(),
            );
            return;
        }
        DataType::UInt64 => {
            label.extend(
                array
                    .as_primitive::<UInt64Type>()
                    .value(row)
                    .to_string()
                    .bytes(),
            );
            return;
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let keys = keys.get_or_init(|| dictionary.normalized_keys());
            if let Some(key) = keys.get(row) {
                write_label(dictionary.values(), &OnceCell::new(), *key, label);
            }
            return;
        }
        _ => {
            let number = numbers(&array.slice(row, 1));
            let written = number.first().filter(|number| number.is_finite());
            label.extend(written.map(ToString::to_string).unwrap_or_default().bytes());
            return;
        }
    };
    label.extend_from_slice(text.as_bytes());
}
