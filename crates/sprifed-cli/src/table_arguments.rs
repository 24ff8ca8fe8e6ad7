//! Arguments that say how a table is written and which of its columns a fit uses.

use std::num::NonZeroU32;
use std::path::Path;

use clap::Args;
use sprifed_schema::{Schema, SchemaError};
use sprifed_tables::{Decimal, Separator, TableFile, TextFormat};

/// How a text table is written.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct TextArguments {
    /// What separates the fields of a text table: one character, or the word tab.
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = Separator::parse)]
    separator: Separator,
    /// The mark before the decimals of a number in a text table: '.' or ','.
    #[arg(long, value_name = "CHARACTER", default_value = ".", value_parser = Decimal::parse)]
    decimal: Decimal,
}

impl TextArguments {
    /// The table at `path`, written so.
    pub(crate) const fn table<'a>(&self, path: &'a Path) -> TableFile<'a> {
        TableFile {
            path,
            format: TextFormat {
                separator: self.separator,
                decimal: self.decimal,
            },
        }
    }
}

/// Which columns a fit uses, beside what the schema says.
#[derive(Args, Clone, Debug)]
pub(crate) struct ColumnArguments {
    /// Keep these columns in the model, beside those that the schema names: names or patterns, separated by commas.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) always: Vec<String>,
    /// Keep one column in N, by position, of those that are features only by pattern or by default; instead of
    /// `features.every` of the schema.
    #[arg(long, value_name = "N")]
    thin: Option<NonZeroU32>,
}

impl ColumnArguments {
    /// The schema with these choices.
    pub(crate) fn apply(&self, schema: Schema) -> Result<Schema, SchemaError> {
        let schema = schema.with_always(&self.always)?;
        Ok(match self.thin {
            Some(every) => schema.thinned(every),
            None => schema,
        })
    }
}

/// A number of features to choose.
pub(crate) fn parse_sparsity(text: &str) -> Result<u32, String> {
    let required = || format!("--sparsity must be at least 1 and at most {}", u32::MAX);
    match text.trim().parse::<i128>() {
        Ok(number) if number < 1 => Err("--sparsity must be at least 1".to_owned()),
        Ok(number) => u32::try_from(number).map_err(|_| required()),
        Err(_) => Err(required()),
    }
}
