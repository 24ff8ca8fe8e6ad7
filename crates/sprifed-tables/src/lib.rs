#![doc = include_str!("../README.md")]

mod assemble;
mod cell;
mod check;
mod clients;
mod design;
mod enrolment;
mod error;
mod formats;
mod genotypes;
mod join;
mod markers;
mod open;
mod raw;
mod table;
mod text_format;

pub use crate::cell::{CellProblem, CellRole, Defect, Place};
pub use crate::clients::ClientIndex;
pub use crate::design::Design;
pub use crate::enrolment::Enrolment;
pub use crate::error::{DataError, FileError, TableError, Which};
#[cfg(feature = "arrow")]
pub use crate::formats::arrow::read_arrow;
pub use crate::formats::csv::read_csv;
pub use crate::formats::format_names;
pub use crate::formats::npy::read_npy;
#[cfg(feature = "parquet")]
pub use crate::formats::parquet::read_parquet;
pub use crate::formats::plink::read_plink;
pub use crate::formats::svmlight::read_svmlight;
pub use crate::join::{ExtraSamples, SampleTable};
pub use crate::markers::Markers;
pub use crate::open::{
    check, draft_schema_for, read_columns, read_features, read_raw_columns, read_schema,
    read_schema_text, read_table,
};
pub use crate::raw::RawColumns;
pub use crate::table::{LoadCounts, Outline, Table};
pub use crate::text_format::{Decimal, IndexRange, Separator, TableFile, TextFormat};
