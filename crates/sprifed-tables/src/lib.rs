#![doc = include_str!("../README.md")]

mod assemble;
mod cell;
mod check;
mod clients;
mod design;
mod enrolment;
mod error;
mod formats;
mod open;
mod raw;
mod table;
mod text_format;

pub use crate::cell::{CellProblem, CellRole, Defect, Place};
pub use crate::clients::ClientIndex;
pub use crate::design::Design;
pub use crate::enrolment::Enrolment;
pub use crate::error::{DataError, FileError, TableError};
pub use crate::formats::csv::read_csv;
pub use crate::formats::format_names;
pub use crate::formats::npy::read_npy;
#[cfg(feature = "parquet")]
pub use crate::formats::parquet::read_parquet;
pub use crate::open::{
    ResponseReading, check, draft_schema_for, read_columns, read_features, read_raw_columns,
    read_schema, read_schema_text, read_table,
};
pub use crate::raw::RawColumns;
pub use crate::table::{LoadCounts, Outline, Table};
pub use crate::text_format::{Decimal, Separator, TableFile, TextFormat};
