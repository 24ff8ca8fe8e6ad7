//! Arguments that say how a table is written, which other table is joined to it, and which of its columns a fit uses.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use sprifed_schema::{Region, Schema, SchemaError};
use sprifed_tables::{
    Decimal, ExtraSamples, IndexRange, SampleTable, Separator, TableFile, TextFormat,
};

use crate::choices::extra_samples;

/// How tables are written, and what is joined to them.
#[derive(Args, Clone, Debug)]
pub(crate) struct TableArguments {
    /// What separates the fields of a text table: one character, or the word tab.
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = Separator::parse)]
    separator: Separator,
    /// The mark before the decimals of a number in a text table: '.' or ','.
    #[arg(long, value_name = "CHARACTER", default_value = ".", value_parser = Decimal::parse)]
    decimal: Decimal,
    /// The table is in the sparse text format of SVMlight and LIBSVM, and has these indices: the first and the last, as in
    /// 1-5000. Its columns are y, x_1, x_2 and so on. How many there are is not read off the records.
    #[arg(long, value_name = "FIRST-LAST", value_parser = IndexRange::parse)]
    svmlight: Option<IndexRange>,
    /// A second table with phenotypes or covariates, whose rows are joined to the records by the identifier of samples.
    #[arg(long, value_name = "FILE")]
    phenotypes: Option<PathBuf>,
    /// The column of identifiers in the table of --phenotypes [default beside genotypes: IID, and FID if it has that].
    #[arg(long, value_name = "NAME", requires = "phenotypes")]
    sample_column: Option<String>,
    /// What happens to samples of --phenotypes that the first table does not have.
    #[arg(long, value_parser = extra_samples(), default_value = "refuse")]
    extra_samples: ExtraSamples,
}

impl TableArguments {
    /// The table at `path`, written so and joined so.
    pub(crate) fn table<'a>(&'a self, path: &'a Path) -> TableFile<'a> {
        TableFile {
            path,
            format: TextFormat {
                separator: self.separator,
                decimal: self.decimal,
                svmlight: self.svmlight,
            },
            phenotypes: self.phenotypes.as_deref().map(|path| SampleTable {
                path,
                sample_column: self.sample_column.as_deref(),
                extra: self.extra_samples,
            }),
        }
    }

    /// The table that is joined to each.
    pub(crate) fn phenotypes(&self) -> Option<&Path> {
        self.phenotypes.as_deref()
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
    /// Keep genetic markers of these regions only, of those that are features only by pattern or by default: chromosomes or
    /// stretches of them, such as 6:25000000-35000000, separated by commas; instead of `features.regions` of the schema.
    #[arg(long, value_name = "REGIONS", value_delimiter = ',', value_parser = Region::parse)]
    region: Vec<Region>,
}

impl ColumnArguments {
    /// The schema with these choices.
    pub(crate) fn apply(&self, schema: Schema) -> Result<Schema, SchemaError> {
        let schema = schema.with_always(&self.always)?;
        let schema = match self.region.is_empty() {
            true => schema,
            false => schema.within(self.region.clone()),
        };
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
