#![doc = include_str!("../README.md")]

mod assemble;
mod check;
mod clients;
mod columns;
mod design;
mod draft;
mod enrolment;
mod error;
mod formats;
mod mapping;
mod open;
mod pattern;
mod raw;
mod schema;
mod table;
mod toml_text;
mod units;

pub use crate::check::{
    CheckReport, ColumnReport, SchemaReport, TableReport, check_columns, check_schema,
};
pub use crate::clients::ClientIndex;
pub use crate::columns::{Column, ColumnKind};
pub use crate::design::Design;
pub use crate::draft::{PLACEHOLDER, draft_schema};
pub use crate::enrolment::Enrolment;
pub use crate::error::{DataError, FileError, SchemaError, TableError};
pub use crate::formats::csv::read_csv;
pub use crate::formats::npy::read_npy;
#[cfg(feature = "parquet")]
pub use crate::formats::parquet::read_parquet;
pub use crate::mapping::{Mapping, OriginalModel, UnitModel};
pub use crate::open::{
    check, draft_schema_for, read_columns, read_raw_columns, read_schema, read_table,
};
pub use crate::raw::RawColumns;
pub use crate::schema::{
    MissingPolicy, MissingResponsePolicy, PrivacyUnit, PublicBounds, RecordPolicy, Response,
    Schema, Transform,
};
pub use crate::table::{LoadCounts, Outline, Table};
pub use crate::toml_text::{TomlProblem, line_at, parse_toml};
pub use crate::units::Units;
