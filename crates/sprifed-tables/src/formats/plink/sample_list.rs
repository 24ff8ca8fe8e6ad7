//! The `.fam` file: a sample in each line.

use std::io::BufRead;

use sprifed_schema::{Column, ColumnKind, is_missing_text};

use super::each_line;
use crate::cell::Defect;
use crate::error::{DataError, TableError};
use crate::formats::SampleColumns;

/// How many columns say something of a sample.
pub(super) const SAMPLE_COLUMNS: usize = 4;

/// The column of families.
pub(super) const FAMILY: usize = 0;

/// What stands for a sample without family.
const NO_FAMILY: &str = "0";

const SEX: usize = 2;

/// What stands for a missing phenotype.
const NO_PHENOTYPE: &str = "-9";

/// A line of the file: family, sample, sex and phenotype, as they are written.
#[derive(Debug)]
pub(super) struct Sample([Box<str>; SAMPLE_COLUMNS]);

/// What these columns are called.
pub(super) const NAMES: SampleColumns = SampleColumns {
    family: Some("FID"),
    sample: "IID",
    sex: Some("SEX"),
    phenotype: Some("PHENO"),
};

/// The columns of what is said of samples.
pub(super) fn columns() -> impl Iterator<Item = Column> {
    let columns: [(&str, ColumnKind); SAMPLE_COLUMNS] = [
        ("FID", ColumnKind::Text),
        ("IID", ColumnKind::Text),
        ("SEX", ColumnKind::Numeric),
        ("PHENO", ColumnKind::Numeric),
    ];
    columns.into_iter().map(|(name, kind)| Column {
        name: name.to_owned(),
        kind,
    })
}

/// All samples, in the order of the file.
pub(super) fn read(lines: impl BufRead) -> Result<Vec<Sample>, DataError> {
    let mut samples = Vec::new();
    each_line(lines, "fam", |[family, sample, _, _, sex, phenotype]| {
        samples.push(Sample([family, sample, sex, phenotype].map(Box::from)));
        Ok(())
    })?;
    if samples.is_empty() {
        return Err(TableError::NoRecords.into());
    }
    Ok(samples)
}

impl Sample {
    /// What `column` says, empty if it is missing.
    pub(super) fn text(&self, column: usize) -> &[u8] {
        let text = &*self.0[column];
        match column {
            SEX if !matches!(text, "1" | "2") => b"",
            _ if is_numeric(column) && is_missing(text) => b"",
            _ => text.as_bytes(),
        }
    }

    /// Its family, if it has one.
    pub(super) fn family(&self) -> Option<&[u8]> {
        let family = &*self.0[FAMILY];
        (family != NO_FAMILY).then_some(family.as_bytes())
    }

    /// The number in `column`, NaN if it is missing.
    pub(super) fn number(&self, column: usize) -> Result<f64, Defect> {
        let text = &*self.0[column];
        match column {
            SEX if !matches!(text, "1" | "2") => Ok(f64::NAN),
            _ if is_missing(text) => Ok(f64::NAN),
            // Cases are 2 and controls 1. Whether this column is of that kind could be told only from all its cells.
            _ if column != SEX && text == "0" => Err(Defect::ZeroPhenotype),
            _ => text.parse().map_err(|_| Defect::Text),
        }
    }
}

const fn is_numeric(column: usize) -> bool {
    column >= SEX
}

fn is_missing(phenotype: &str) -> bool {
    phenotype == NO_PHENOTYPE || is_missing_text(phenotype)
}
