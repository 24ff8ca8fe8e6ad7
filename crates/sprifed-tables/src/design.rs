//! The bounded feature matrix.

use sprifed_schema::ColumnError;

use crate::error::TableError;

/// Bounded features of all records, row after row in one piece of memory.
///
/// Rows and not columns, because a client's contribution to every question is made from whole
/// records. `f32` holds a bounded unit to one part in ten million, far below any noise that is
/// added, in half the memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    names: Vec<String>,
    values: Vec<f32>,
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
        Ok(Self { names, values })
    }

    /// The name of each feature.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many records there are.
    pub fn n_records(&self) -> usize {
        self.values.len() / self.names.len()
    }

    /// How many features there are.
    pub fn n_features(&self) -> usize {
        self.names.len()
    }

    /// The features of one record.
    ///
    /// # Panics
    /// If `record` is not less than [`Self::n_records`].
    pub fn row(&self, record: usize) -> &[f32] {
        let start = record * self.names.len();
        &self.values[start..start + self.names.len()]
    }

    /// All rows, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.names.len())
    }

    /// The whole matrix, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}
