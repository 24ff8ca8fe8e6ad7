#![doc = include_str!("../README.md")]

mod check;
mod coding;
mod columns;
mod covariates;
mod draft;
mod error;
mod mapping;
mod marker;
mod pattern;
mod reading;
mod region;
mod schema;
mod terms;
mod toml_text;
mod units;

pub use crate::check::{
    CheckReport, ColumnReport, SchemaReport, SiteReport, TableReport, check_columns, check_schema,
};
pub use crate::coding::{CellDefect, CellNote, Coding, LevelCoding, NumberCoding, is_missing_text};
pub use crate::columns::{Column, ColumnKind, Selection, positions_by_name, require_numeric};
pub use crate::covariates::{CovariateGroup, Covariates};
pub use crate::draft::{PLACEHOLDER, draft_schema};
pub use crate::error::{ColumnError, SchemaError};
pub use crate::mapping::{CodedColumn, Mapping, OriginalModel, UnitModel};
pub use crate::marker::Marker;
pub use crate::reading::FeatureReading;
pub use crate::region::Region;
pub use crate::schema::{
    BinaryLevels, EventTime, MissingPolicy, MissingResponsePolicy, PublicBounds, PublicResponse,
    RecordPolicy, Response, Schema, SchemaText, SiteColumn, Transform,
};
pub use crate::terms::{DataTerms, TermsError};
pub use crate::toml_text::{TomlProblem, line_at, parse_toml};
pub use crate::units::{Bounded, Units};
