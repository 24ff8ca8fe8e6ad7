//! The bounded feature matrix.

use std::borrow::Cow;
use std::cell::Cell;

use sprifed_schema::ColumnError;

use crate::error::TableError;
use crate::genotypes::Layout;

thread_local! {
    /// The numbers of the row that this thread looks at, so that a pass does not allocate each of them.
    static ROW: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// Bounded features of all records, row after row.
///
/// Rows and not columns, because a client's contribution to every question is made from whole
/// records. `f32` holds a bounded unit to one part in ten million, far below any noise that is
/// added, in half the memory. Genotypes have two bits each and become numbers while their row is looked at.
#[derive(Debug, Clone)]
pub struct Design {
    names: Vec<String>,
    n_records: usize,
    /// The features that are stored as numbers, row after row.
    numbers: Vec<f32>,
    genotypes: Option<Genotypes>,
}

/// The features that are stored as genotypes, row after row.
#[derive(Debug, Clone)]
pub(crate) struct Genotypes {
    pub(crate) layout: Layout,
    pub(crate) codes: Vec<u8>,
    /// Which records do not count: their rows are zeros.
    pub(crate) is_blank: Vec<bool>,
}

impl Design {
    /// The matrix whose rows, one after another, are `values`, with one name for each column.
    ///
    /// # Caller must
    /// have bounded every value: this is the entry for generated data, files come through the
    /// readers, which bound.
    ///
    /// # Errors
    /// If there is no column, or the last row is not whole.
    pub fn new(names: Vec<String>, values: Vec<f32>) -> Result<Self, TableError> {
        if names.is_empty() {
            return Err(ColumnError::NoFeatures.into());
        }
        if !values.len().is_multiple_of(names.len()) {
            return Err(TableError::Malformed {
                format: "matrix",
                problem: format!(
                    "{} values do not make rows of {}",
                    values.len(),
                    names.len()
                ),
                remedy: "give whole rows",
            });
        }
        Ok(Self {
            n_records: values.len() / names.len(),
            names,
            numbers: values,
            genotypes: None,
        })
    }

    /// The matrix of which some features are `numbers` and the others genotypes.
    pub(crate) fn coded(names: Vec<String>, numbers: Vec<f32>, genotypes: Genotypes) -> Self {
        Self {
            names,
            n_records: genotypes.is_blank.len(),
            numbers,
            genotypes: Some(genotypes),
        }
    }

    /// The name of each feature.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many records there are.
    pub const fn n_records(&self) -> usize {
        self.n_records
    }

    /// How many features there are.
    pub const fn n_features(&self) -> usize {
        self.names.len()
    }

    /// How many bytes the matrix has in memory.
    pub fn n_bytes(&self) -> usize {
        let codes = self.genotypes.as_ref().map_or(0, |coded| coded.codes.len());
        size_of_val(&*self.numbers) + codes
    }

    /// The features of one record.
    ///
    /// # Panics
    /// If `record` is not less than [`Self::n_records`].
    pub fn row(&self, record: usize) -> Cow<'_, [f32]> {
        match &self.genotypes {
            None => Cow::Borrowed(self.plain_row(record)),
            Some(genotypes) => {
                let mut row = vec![0.0; self.names.len()];
                genotypes.read_row(record, &self.numbers, &mut row);
                Cow::Owned(row)
            }
        }
    }

    /// Shows the features of one record.
    ///
    /// # Panics
    /// If `record` is not less than [`Self::n_records`].
    pub fn with_row(&self, record: usize, visit: impl FnOnce(&[f32])) {
        let Some(genotypes) = &self.genotypes else {
            return visit(self.plain_row(record));
        };
        // A row within a row finds an empty one and allocates its own.
        let mut row = ROW.take();
        row.resize(self.names.len(), 0.0);
        genotypes.read_row(record, &self.numbers, &mut row);
        visit(&row);
        ROW.set(row);
    }

    /// All rows, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Cow<'_, [f32]>> {
        (0..self.n_records).map(|record| self.row(record))
    }

    /// The whole matrix, row after row.
    pub fn values(&self) -> Cow<'_, [f32]> {
        match &self.genotypes {
            None => Cow::Borrowed(&self.numbers),
            Some(_) => self.rows().flat_map(Cow::into_owned).collect(),
        }
    }

    fn plain_row(&self, record: usize) -> &[f32] {
        let start = record * self.names.len();
        &self.numbers[start..start + self.names.len()]
    }
}

impl PartialEq for Design {
    /// Whether the numbers are the same, however they are stored.
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
            && self.n_records == other.n_records
            && self.rows().eq(other.rows())
    }
}

impl Genotypes {
    fn read_row(&self, record: usize, numbers: &[f32], row: &mut [f32]) {
        if self.is_blank[record] {
            row.fill(0.0);
            return;
        }
        let (n_numbers, n_bytes) = (self.layout.numbers_of_row(), self.layout.bytes_of_row());
        let numbers = &numbers[record * n_numbers..(record + 1) * n_numbers];
        let codes = &self.codes[record * n_bytes..(record + 1) * n_bytes];
        self.layout.decode(numbers, codes, row);
    }
}
