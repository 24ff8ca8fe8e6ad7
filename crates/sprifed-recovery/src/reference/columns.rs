//! Records as a matrix: rows where they lie, single columns in double precision, least squares on a
//! few of them.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use sprifed_query::Records;

use crate::correlate::correlate_rows;

/// A design matrix and its response.
#[derive(Debug)]
pub struct Matrix<'a> {
    rows: Vec<&'a [f32]>,
    n_features: usize,
    /// The responses.
    pub responses: Vec<f64>,
}

impl<'a> Matrix<'a> {
    /// The matrix of these records.
    #[must_use]
    pub fn of(records: &Records<'a>) -> Self {
        let rows = records.iter().map(|record| record.features).collect();
        let responses = records
            .iter()
            .map(|record| f64::from(record.response))
            .collect();
        Self {
            rows,
            n_features: records.n_features(),
            responses,
        }
    }

    /// How many columns.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Xᵀv.
    #[must_use]
    pub fn correlate(&self, weights: &[f64]) -> Vec<f64> {
        correlate_rows(&self.rows, weights, self.n_features)
    }

    /// Xw.
    #[must_use]
    pub fn combine(&self, weights: &[f64]) -> Vec<f64> {
        let product = |row: &&[f32]| -> f64 {
            row.iter()
                .zip(weights)
                .map(|(value, weight)| f64::from(*value) * weight)
                .sum()
        };
        self.rows.par_iter().map(product).collect()
    }

    /// One column.
    #[must_use]
    pub fn column(&self, feature: usize) -> Vec<f64> {
        let value = |row: &&[f32]| f64::from(row[feature]);
        self.rows.par_iter().with_min_len(512).map(value).collect()
    }
}

/// Least squares on columns that are added one by one: the Cholesky factor of their Gram matrix
/// grows by a row for each.
#[derive(Debug)]
pub(crate) struct GrowingLeastSquares {
    columns: Vec<Vec<f64>>,
    factor: Vec<Vec<f64>>,
    correlations: Vec<f64>,
}

/// A column adds nothing if a smaller fraction than this of its squared length is new.
const LEAST_NEW: f64 = 1e-12;

impl GrowingLeastSquares {
    pub(crate) const fn new() -> Self {
        Self {
            columns: Vec::new(),
            factor: Vec::new(),
            correlations: Vec::new(),
        }
    }

    /// Adds a column, or refuses one that the others explain.
    #[must_use]
    pub(crate) fn add(&mut self, column: Vec<f64>, responses: &[f64]) -> bool {
        let mut row: Vec<f64> = Vec::with_capacity(self.columns.len() + 1);
        for (earlier, factor) in self.columns.iter().zip(&self.factor) {
            let known = dot(&factor[..row.len()], &row);
            row.push((dot(earlier, &column) - known) / factor[row.len()]);
        }
        let square = dot(&column, &column);
        let new = square - dot(&row, &row);
        if new <= LEAST_NEW * square {
            return false;
        }
        row.push(new.sqrt());
        self.correlations.push(dot(&column, responses));
        self.factor.push(row);
        self.columns.push(column);
        true
    }

    /// The coefficients, in the order of the columns.
    pub(crate) fn solve(&self) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::with_capacity(self.factor.len());
        for (row, correlation) in self.factor.iter().zip(&self.correlations) {
            let known = dot(&row[..values.len()], &values);
            values.push((correlation - known) / row[values.len()]);
        }
        for index in (0..values.len()).rev() {
            let later = index + 1..values.len();
            let known: f64 = later.map(|row| self.factor[row][index] * values[row]).sum();
            values[index] = (values[index] - known) / self.factor[index][index];
        }
        values
    }

    /// y less what the columns explain with `coefficients`.
    pub(crate) fn residuals(&self, responses: &[f64], coefficients: &[f64]) -> Vec<f64> {
        let mut residuals = responses.to_vec();
        for (column, coefficient) in self.columns.iter().zip(coefficients) {
            add_multiple(&mut residuals, column, -coefficient);
        }
        residuals
    }
}

/// Σ left·right in four lanes.
#[must_use]
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (left_groups, left_rest) = left.as_chunks::<4>();
    let (right_groups, right_rest) = right.as_chunks::<4>();
    let mut lanes = [0.0; 4];
    for (left, right) in left_groups.iter().zip(right_groups) {
        for (lane, (left, right)) in lanes.iter_mut().zip(left.iter().zip(right)) {
            *lane += left * right;
        }
    }
    let rest: f64 = left_rest
        .iter()
        .zip(right_rest)
        .map(|(left, right)| left * right)
        .sum();
    lanes.iter().sum::<f64>() + rest
}

/// values += multiple·column.
pub fn add_multiple(values: &mut [f64], column: &[f64], multiple: f64) {
    for (value, entry) in values.iter_mut().zip(column) {
        *value += multiple * entry;
    }
}
