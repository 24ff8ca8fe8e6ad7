//! The file system: the only module of this crate that touches it.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use sprifed_schema::{
    CheckReport, Column, FeatureReading, Schema, SchemaError, SchemaText, check_columns,
    check_schema, draft_schema,
};

use crate::check::add_outcome;
use crate::error::{DataError, FileError, TableError};
use crate::formats::{Format, Source, svmlight};
use crate::join::Joined;
use crate::raw::{RawColumns, RawRequest};
use crate::table::Table;
use crate::text_format::{TableFile, TextFormat};

/// An opened file and where it lies.
#[derive(Debug)]
pub(crate) struct NamedFile<'a> {
    pub(crate) file: File,
    path: &'a Path,
    /// How it is written, if it is text.
    pub(crate) text: TextFormat,
}

impl NamedFile<'_> {
    /// The file of the same name that ends in `extension`.
    pub(crate) fn beside(&self, extension: &str) -> Result<File, FileError> {
        let path = self.path.with_extension(extension);
        File::open(&path).map_err(|source| FileError::Open { path, source })
    }
}

/// Reads and checks the schema at `path`, with the bounds file that it names.
///
/// # Errors
/// If a file cannot be read or is not a schema.
pub fn read_schema(path: &Path) -> Result<Schema, DataError> {
    let text = read_schema_text(path)?;
    Ok(Schema::of_text(&text).map_err(|error| named(error, path))?)
}

/// Reads the text of the schema at `path`, and of the bounds file that it names, beside it.
///
/// # Errors
/// If a file cannot be read or is not a schema.
pub fn read_schema_text(path: &Path) -> Result<SchemaText, DataError> {
    let schema = read_text(path)?;
    let name = SchemaText::bounds_name(&schema).map_err(|error| named(error, path))?;
    let bounds = name.map(|name| read_text(&path.parent().unwrap_or(Path::new("")).join(name)));
    Ok(SchemaText {
        schema,
        bounds: bounds.transpose()?,
    })
}

fn read_text(path: &Path) -> Result<String, FileError> {
    fs::read_to_string(path).map_err(|source| FileError::Open {
        path: path.to_owned(),
        source,
    })
}

/// The error with the name of the file where it has a line.
fn named(error: SchemaError, path: &Path) -> SchemaError {
    let name = path.file_name().unwrap_or(path.as_os_str());
    match error {
        SchemaError::Placeholder { line, others, .. } => SchemaError::Placeholder {
            place: name.to_string_lossy().into_owned(),
            line,
            others,
        },
        other => other,
    }
}

/// Reads a table, in any format of [`format_names`](crate::format_names), bounded by `schema`.
///
/// # Errors
/// If the file cannot be read, or its content does not fit the schema.
pub fn read_table<'a>(file: impl Into<TableFile<'a>>, schema: &Schema) -> Result<Table, DataError> {
    match open(file.into())? {
        Opened::Alone(table) => table.into_table(schema),
        Opened::Joined(tables) => tables.into_table(schema),
    }
}

/// Reads the names of the columns of a table, and their types where the file states them; no cell.
///
/// # Errors
/// If the file cannot be read.
pub fn read_columns<'a>(file: impl Into<TableFile<'a>>) -> Result<Vec<Column>, DataError> {
    Ok(open(file.into())?.columns().to_vec())
}

/// Reads some columns of a table as they are.
///
/// # Errors
/// If the file cannot be read, or a column is absent or not numeric.
pub fn read_raw_columns<'a>(
    file: impl Into<TableFile<'a>>,
    names: &[String],
) -> Result<RawColumns, DataError> {
    let requests: Vec<RawRequest> = names.iter().cloned().map(RawRequest::Number).collect();
    open(file.into())?.into_raw(&requests)
}

/// How the response that a model is scored against is read.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseReading {
    /// The numbers of this column, as they are.
    Number(String),
    /// One where a column has a level, and zero elsewhere.
    Level(FeatureReading),
    /// Whether the event occurred, and then the time as it is.
    Time {
        /// How the event is read.
        event: FeatureReading,
        /// The column of times.
        time: String,
    },
}

/// Reads what a model needs for its predictions, then `response` if one is asked for.
///
/// # Errors
/// If the file cannot be read, a column is absent, or one of numbers is not numeric.
pub fn read_features<'a>(
    file: impl Into<TableFile<'a>>,
    features: Vec<FeatureReading>,
    response: Option<ResponseReading>,
) -> Result<RawColumns, DataError> {
    let features = features.into_iter().map(RawRequest::Feature);
    let response = response.map_or_else(Vec::new, |response| match response {
        ResponseReading::Number(name) => vec![RawRequest::Number(name)],
        ResponseReading::Level(reading) => vec![RawRequest::Feature(reading)],
        ResponseReading::Time { event, time } => {
            vec![RawRequest::Feature(event), RawRequest::Number(time)]
        }
    });
    let requests: Vec<RawRequest> = features.chain(response).collect();
    open(file.into())?.into_raw(&requests)
}

/// Drafts a schema for a table from its header; no cell is read.
///
/// # Errors
/// If the file cannot be read, or its columns have no or repeated names.
pub fn draft_schema_for<'a>(file: impl Into<TableFile<'a>>) -> Result<String, DataError> {
    Ok(draft_schema(&read_columns(file)?)?)
}

/// Checks the schema at `schema_path`, and a table against it if there is one.
///
/// # Errors
/// If a file cannot be read, the schema cannot be parsed, or the table has no header. What is wrong
/// between schema and table is in the report, all of it.
pub fn check(schema_path: &Path, table: Option<TableFile<'_>>) -> Result<CheckReport, DataError> {
    let schema = read_schema(schema_path)?;
    let Some(table) = table else {
        return Ok(check_schema(&schema));
    };
    let mut report = check_columns(&schema, &read_columns(table)?);
    if report.is_usable() {
        add_outcome(&mut report, &schema, read_table(table, &schema))?;
    }
    Ok(report)
}

/// One table, or two that are joined, values not yet read.
enum Opened {
    Alone(Source<'static>),
    Joined(Joined),
}

impl Opened {
    fn columns(&self) -> &[Column] {
        match self {
            Self::Alone(table) => table.columns(),
            Self::Joined(tables) => tables.columns(),
        }
    }

    fn into_raw(self, requests: &[RawRequest]) -> Result<RawColumns, DataError> {
        match self {
            Self::Alone(table) => table.into_raw(requests),
            Self::Joined(tables) => tables.into_raw(requests),
        }
    }
}

fn open(table: TableFile<'_>) -> Result<Opened, DataError> {
    if table.format.is_ambiguous() {
        return Err(TableError::DecimalSeparator.into());
    }
    let first = open_file(table.path, table.format)?;
    Ok(match table.phenotypes {
        None => Opened::Alone(first),
        Some(asked) => {
            let text = TextFormat {
                svmlight: None,
                ..table.format
            };
            let second = open_file(asked.path, text)?;
            Opened::Joined(Joined::new(first, second, asked)?)
        }
    })
}

fn open_file(path: &Path, text: TextFormat) -> Result<Source<'static>, DataError> {
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
    let format = match Format::of(&start) {
        // No other text can be told from it, so the user says so.
        format if format.magic.is_none() && text.svmlight.is_some() => &svmlight::FORMAT,
        format => format,
    };
    if let Some(extension) = path.extension() {
        format.require_extension(&extension.to_string_lossy())?;
    }
    (format.open)(NamedFile { file, path, text })
}
