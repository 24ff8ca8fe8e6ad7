//! The file system: the only module of this crate that touches it.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use sprifed_schema::{CheckReport, Column, Schema, check_columns, check_schema, draft_schema};

use crate::check::add_outcome;
use crate::error::{DataError, FileError};
use crate::formats::{Format, OpenTable};
use crate::raw::RawColumns;
use crate::table::Table;

/// Reads and checks the schema at `path`.
///
/// # Errors
/// If the file cannot be read or is not a schema.
pub fn read_schema(path: &Path) -> Result<Schema, DataError> {
    let text = fs::read_to_string(path).map_err(|source| FileError::Open {
        path: path.to_owned(),
        source,
    })?;
    Ok(Schema::parse(&text)?)
}

/// Reads the table at `path`, in any format of [`format_names`](crate::format_names), bounded by `schema`.
///
/// # Errors
/// If the file cannot be read, or its content does not fit the schema.
pub fn read_table(path: &Path, schema: &Schema) -> Result<Table, DataError> {
    open(path)?.into_table(schema)
}

/// Reads the names and types of the columns of the table at `path`.
///
/// # Errors
/// If the file cannot be read.
pub fn read_columns(path: &Path) -> Result<Vec<Column>, DataError> {
    Ok(open(path)?.columns().to_vec())
}

/// Reads some columns of the table at `path` as they are, for predictions.
///
/// # Errors
/// If the file cannot be read, or a column is absent or not numeric.
pub fn read_raw_columns(path: &Path, names: &[String]) -> Result<RawColumns, DataError> {
    open(path)?.into_raw(names)
}

/// Drafts a schema for the table at `path` from its column names and types.
///
/// # Errors
/// If the file cannot be read, or its columns have no or repeated names.
pub fn draft_schema_for(path: &Path) -> Result<String, DataError> {
    Ok(draft_schema(&read_columns(path)?)?)
}

/// Checks the schema at `schema_path`, and the table at `table_path` against it if there is one.
///
/// # Errors
/// If a file cannot be read, the schema cannot be parsed, or the table has no header. What is wrong
/// between schema and table is in the report.
pub fn check(schema_path: &Path, table_path: Option<&Path>) -> Result<CheckReport, DataError> {
    let schema = read_schema(schema_path)?;
    let Some(table_path) = table_path else {
        return Ok(check_schema(&schema));
    };
    let mut report = check_columns(&schema, &read_columns(table_path)?);
    if report.is_usable() {
        add_outcome(&mut report, read_table(table_path, &schema))?;
    }
    Ok(report)
}

fn open(path: &Path) -> Result<Box<dyn OpenTable>, DataError> {
    let refused = |source| FileError::Open {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(refused)?;
    let mut start = Vec::new();
    (&mut file)
        .take(Format::magic_length() as u64)
        .read_to_end(&mut start)
        .map_err(refused)?;
    file.seek(SeekFrom::Start(0)).map_err(refused)?;
    (Format::of(&start).open)(file)
}
