//! PLINK 1 genotypes: `.bed` with two bits for each genotype, `.bim` with the markers and `.fam` with the samples.
//!
//! The file that is named is the `.bed`; the other two lie beside it under the same name. A marker becomes a column that
//! counts copies of its first allele (`A1`, column 5 of the `.bim`). Columns before the markers say whose record it is:
//! `FID`, `IID`, `SEX` (1 or 2) and `PHENO`.
//!
//! The `.bed` file is read a marker at a time, as it is stored, and only the markers that are asked for.

mod bed;
mod marker_list;
mod sample_list;

use std::io::{BufRead, BufReader, Read, Seek};

use sprifed_schema::{Column, Schema};

use self::bed::Bed;
use self::sample_list::{SAMPLE_COLUMNS, Sample};
use crate::assemble::{ColumnSource, TakeNumber};
use crate::error::{DataError, FileError, TableError};
use crate::formats::{Format, OpenTable, SampleColumns, Source};
use crate::table::Table;

/// PLINK 1 genotypes.
pub(crate) const FORMAT: Format = Format {
    names: &["PLINK .bed"],
    magic: Some(&bed::MAGIC),
    extension: Some("bed"),
    open: |file| {
        let (markers, samples) = (file.beside("bim")?, file.beside("fam")?);
        let table = PlinkTable::open(file.file, BufReader::new(markers), BufReader::new(samples))?;
        Ok(Box::new(table))
    },
};

/// Reads PLINK 1 genotypes into a bounded table: the content of the `.bed`, the `.bim` and the `.fam` file.
///
/// Columns are called `FID`, `IID`, `SEX` and `PHENO`, then as the markers. A marker without an identifier, and each marker
/// whose identifier occurs more than once, is called by chromosome, position and alleles.
///
/// # Errors
/// If the content is not such files, they do not belong together, or do not fit the schema.
pub fn read_plink(
    bed: impl Read + Seek,
    bim: impl Read,
    fam: impl Read,
    schema: &Schema,
) -> Result<Table, DataError> {
    let table = PlinkTable::open(bed, BufReader::new(bim), BufReader::new(fam))?;
    Box::new(table).into_source().into_table(schema)
}

/// Opened genotypes, with all that is known of markers and samples.
#[derive(Debug)]
pub(crate) struct PlinkTable<R> {
    bed: Bed<R>,
    samples: Vec<Sample>,
    /// Those of the samples, then one for each marker.
    columns: Vec<Column>,
}

impl<R: Read + Seek> PlinkTable<R> {
    /// Reads both lists and compares them with the size of the genotypes.
    pub(crate) fn open(bed: R, bim: impl BufRead, fam: impl BufRead) -> Result<Self, DataError> {
        let samples = sample_list::read(fam)?;
        let markers = marker_list::read(bim)?;
        let bed = Bed::open(bed, samples.len(), markers.len())?;
        let columns = sample_list::columns().chain(markers).collect();
        Ok(Self {
            bed,
            samples,
            columns,
        })
    }
}

impl<R: Read + Seek> ColumnSource for PlinkTable<R> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn n_records(&self) -> usize {
        self.samples.len()
    }

    fn labels(&mut self, column: usize, take: &mut dyn FnMut(&[u8])) -> Result<(), DataError> {
        let Some(marker) = column.checked_sub(SAMPLE_COLUMNS) else {
            for sample in &self.samples {
                take(sample.text(column));
            }
            return Ok(());
        };
        self.bed.visit(marker, |copies| {
            take(match copies {
                None => b"",
                Some(0) => b"0",
                Some(1) => b"1",
                Some(_) => b"2",
            });
        })
    }

    fn numbers(&mut self, column: usize, take: &mut TakeNumber<'_>) -> Result<(), DataError> {
        let Some(marker) = column.checked_sub(SAMPLE_COLUMNS) else {
            for sample in &self.samples {
                take(sample.number(column));
            }
            return Ok(());
        };
        self.bed.visit(marker, |copies| {
            take(Ok(copies.map_or(f64::NAN, f64::from)));
        })
    }

    fn is_packed(&self, column: usize) -> bool {
        column >= SAMPLE_COLUMNS
    }

    fn packed(&mut self, column: usize, codes: &mut Vec<u8>) -> Result<(), DataError> {
        match column.checked_sub(SAMPLE_COLUMNS) {
            Some(marker) => self.bed.read(marker, codes),
            None => Ok(()),
        }
    }
}

impl<R: Read + Seek> OpenTable for PlinkTable<R> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn sample_columns(&self) -> Option<SampleColumns> {
        Some(sample_list::NAMES)
    }

    fn into_source<'s>(self: Box<Self>) -> Source<'s>
    where
        Self: 's,
    {
        Source::Columns(self)
    }
}

/// A refusal of one of the three files.
fn malformed(problem: String) -> TableError {
    TableError::Malformed {
        format: "PLINK",
        problem,
        remedy: "give a .bed, .bim and .fam file of one name, as `plink2 --make-bed` writes them",
    }
}

/// Fields in a line of a list of markers or samples.
const FIELDS: usize = 6;

/// The most bytes of such a line: the alleles of a long insertion fit.
const LONGEST_LINE: u64 = 1 << 20;

/// Hands over the fields of each line of a `.bim` or `.fam` file, which ends so; `take` says what is wrong with them.
fn each_line(
    mut lines: impl BufRead,
    extension: &str,
    mut take: impl FnMut([&str; FIELDS]) -> Result<(), &'static str>,
) -> Result<(), DataError> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let n_read = (&mut lines)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .map_err(FileError::from)?;
        if n_read == 0 {
            break;
        }
        let taken = if n_read as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            Err("is longer than 1 MiB")
        } else {
            fields(&line).and_then(&mut take)
        };
        taken.map_err(|problem| {
            malformed(format!("line {number} of the .{extension} file {problem}"))
        })?;
    }
    Ok(())
}

fn fields(line: &[u8]) -> Result<[&str; FIELDS], &'static str> {
    let line = core::str::from_utf8(line).map_err(|_| "is not text in UTF-8")?;
    let mut found = line.split_ascii_whitespace();
    let mut fields = [""; FIELDS];
    for field in &mut fields {
        *field = found
            .next()
            .ok_or("has fewer than 6 fields, separated by tabs or blanks")?;
    }
    match found.next() {
        None => Ok(fields),
        Some(_) => Err("has more than 6 fields, separated by tabs or blanks"),
    }
}

#[cfg(test)]
mod equality;
#[cfg(test)]
mod tests;
