//! Small square matrices, in arithmetic that gives the same bits on every processor.
//!
//! Plain loops in a fixed order, with IEEE operations only: no kernel is chosen by what the
//! processor offers, and no product is fused with a sum. All functions end for all entries, numbers
//! or not.

use core::ops::{Index, IndexMut};

use crate::portable::{dot, larger, norm};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// A square matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct SquareMatrix {
    size: usize,
    /// Row by row.
    entries: Vec<f64>,
}

/// The eigenvalues of a symmetric matrix, in no order, and their directions.
#[derive(Clone, Debug)]
pub struct Eigen {
    /// The eigenvalues.
    pub values: Vec<f64>,
    /// One direction in each column.
    pub vectors: SquareMatrix,
}

/// The lower triangle L of a positive matrix L·Lᵀ.
#[derive(Clone, Debug)]
pub(crate) struct Cholesky {
    lower: SquareMatrix,
}

/// How often every entry is rotated away at most. Eight times are usual.
const MOST_SWEEPS: usize = 40;

impl SquareMatrix {
    /// Returns a matrix of zeros.
    #[must_use]
    pub fn zeros(size: usize) -> Self {
        Self {
            size,
            entries: vec![0.0; size * size],
        }
    }

    /// Returns the matrix whose entry in `row` and `column` is `entry(row, column)`.
    #[must_use]
    pub fn from_fn(size: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut entries = Vec::with_capacity(size * size);
        for row in 0..size {
            for column in 0..size {
                entries.push(entry(row, column));
            }
        }
        Self { size, entries }
    }

    /// Returns the matrix with `values` on its diagonal and zeros elsewhere.
    #[must_use]
    pub fn diagonal(values: &[f64]) -> Self {
        Self::from_fn(
            values.len(),
            |row, column| {
                if row == column { values[row] } else { 0.0 }
            },
        )
    }

    /// How many rows and columns it has.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// One row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.size..(row + 1) * self.size]
    }

    /// The rows and columns of `chosen`, in its order.
    #[must_use]
    pub fn restricted(&self, chosen: &[usize]) -> Self {
        Self::from_fn(chosen.len(), |row, column| {
            self[(chosen[row], chosen[column])]
        })
    }

    /// The square root of the sum of all squared entries.
    #[must_use]
    pub fn length(&self) -> f64 {
        norm(&self.entries)
    }

    /// The product with a vector.
    #[must_use]
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.size)
            .map(|row| dot(self.row(row), vector))
            .collect()
    }

    /// The product with a matrix of the same size.
    #[must_use]
    pub fn times_matrix(&self, other: &Self) -> Self {
        Self::from_fn(self.size, |row, column| {
            let mut sum = 0.0;
            for (index, value) in self.row(row).iter().enumerate() {
                sum += value * other[(index, column)];
            }
            sum
        })
    }

    /// The eigenvalues and eigenvectors of the symmetric part, by Jacobi's rotations.
    ///
    /// # Why
    /// Each rotation makes one entry off the diagonal zero and the sum of their squares smaller by
    /// it. The number of sweeps is limited, so that entries that are not numbers end it too.
    #[must_use]
    pub fn symmetric_eigen(&self) -> Eigen {
        let size = self.size;
        let unit = self
            .entries
            .iter()
            .fold(0.0, |most, entry| larger(entry.abs(), most));
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let mut rotated = Self::from_fn(size, |row, column| {
            (self[(row, column)] / unit + self[(column, row)] / unit) / 2.0
        });
        let mut vectors = Self::from_fn(size, |row, column| if row == column { 1.0 } else { 0.0 });
        for _ in 0..MOST_SWEEPS {
            let mut changed = false;
            for p in 0..size {
                for q in p + 1..size {
                    changed |= rotate(&mut rotated, &mut vectors, p, q);
                }
            }
            if !changed {
                break;
            }
        }
        let values = (0..size).map(|k| rotated[(k, k)] * unit).collect();
        Eigen { values, vectors }
    }

    /// The Cholesky factor; none if the matrix is not positive.
    pub(crate) fn cholesky(&self) -> Option<Cholesky> {
        let mut lower = Self::zeros(self.size);
        for row in 0..self.size {
            for column in 0..=row {
                let known = dot(&lower.row(row)[..column], &lower.row(column)[..column]);
                let left = self[(row, column)] - known;
                lower[(row, column)] = if row == column {
                    if !(left > 0.0 && left.is_finite()) {
                        return None;
                    }
                    left.sqrt()
                } else {
                    left / lower[(column, column)]
                };
            }
        }
        Some(Cholesky { lower })
    }

    /// The inverse by elimination with row pivots; none if a pivot is zero or not a number.
    #[must_use]
    pub fn inverse(&self) -> Option<Self> {
        let size = self.size;
        let mut left = self.clone();
        let mut inverse = Self::from_fn(size, |row, column| if row == column { 1.0 } else { 0.0 });
        for step in 0..size {
            let mut pivot = step;
            for row in step + 1..size {
                if left[(row, step)].abs() > left[(pivot, step)].abs() {
                    pivot = row;
                }
            }
            let value = left[(pivot, step)];
            if value == 0.0 || !value.is_finite() {
                return None;
            }
            for column in 0..size {
                for matrix in [&mut left, &mut inverse] {
                    let (upper, lower) = (matrix[(step, column)], matrix[(pivot, column)]);
                    matrix[(pivot, column)] = upper;
                    matrix[(step, column)] = lower / value;
                }
            }
            for row in (0..size).filter(|row| *row != step) {
                let factor = left[(row, step)];
                for column in 0..size {
                    for matrix in [&mut left, &mut inverse] {
                        let change = factor * matrix[(step, column)];
                        matrix[(row, column)] -= change;
                    }
                }
            }
        }
        Some(inverse)
    }
}

/// Makes the entry of `p` and `q` zero; false if it was as good as zero.
fn rotate(matrix: &mut SquareMatrix, vectors: &mut SquareMatrix, p: usize, q: usize) -> bool {
    let entry = matrix[(p, q)];
    let (first, last) = (matrix[(p, p)], matrix[(q, q)]);
    let negligible = f64::EPSILON / 8.0 * (first.abs() + last.abs());
    // Not `<=`: what is not a number is left alone too.
    if !(entry.abs() > negligible && entry.abs() > f64::MIN_POSITIVE) {
        return false;
    }
    let ratio = (last - first) / (2.0 * entry);
    let length = (ratio * ratio + 1.0).sqrt();
    let tangent = if ratio >= 0.0 {
        1.0 / (ratio + length)
    } else {
        1.0 / (ratio - length)
    };
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    matrix[(p, p)] = first - tangent * entry;
    matrix[(q, q)] = last + tangent * entry;
    matrix[(p, q)] = 0.0;
    matrix[(q, p)] = 0.0;
    for k in 0..matrix.size {
        if k != p && k != q {
            let (a, b) = (matrix[(k, p)], matrix[(k, q)]);
            let (a, b) = (cosine * a - sine * b, sine * a + cosine * b);
            matrix[(k, p)] = a;
            matrix[(p, k)] = a;
            matrix[(k, q)] = b;
            matrix[(q, k)] = b;
        }
        let (a, b) = (vectors[(k, p)], vectors[(k, q)]);
        vectors[(k, p)] = cosine * a - sine * b;
        vectors[(k, q)] = sine * a + cosine * b;
    }
    true
}

impl Eigen {
    /// V·diag(f(λ))·Vᵀ.
    pub(crate) fn recompose(&self, of_value: impl Fn(f64) -> f64) -> SquareMatrix {
        let size = self.values.len();
        let values: Vec<f64> = self.values.iter().map(|value| of_value(*value)).collect();
        let mut result = SquareMatrix::zeros(size);
        for row in 0..size {
            for column in 0..=row {
                let mut sum = 0.0;
                for (k, value) in values.iter().enumerate() {
                    sum += self.vectors[(row, k)] * value * self.vectors[(column, k)];
                }
                result[(row, column)] = sum;
                result[(column, row)] = sum;
            }
        }
        result
    }

    /// The largest and the smallest eigenvalue.
    #[must_use]
    pub fn extremes(&self) -> (f64, f64) {
        let mut values = self.values.iter().copied();
        let first = values.next().unwrap_or(0.0);
        values.fold((first, first), |(largest, smallest), value| {
            (
                if value > largest { value } else { largest },
                if value < smallest { value } else { smallest },
            )
        })
    }
}

impl Cholesky {
    /// The solution x of L·Lᵀ·x = `right`.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution = self.forward(right);
        for row in (0..solution.len()).rev() {
            let mut left = solution[row];
            for (later, value) in solution.iter().enumerate().skip(row + 1) {
                left -= self.lower[(later, row)] * value;
            }
            solution[row] = left / self.lower[(row, row)];
        }
        solution
    }

    /// The solution x of L·x = `right`; its squared norm is rightᵀ·(L·Lᵀ)⁻¹·right.
    pub(crate) fn forward(&self, right: &[f64]) -> Vec<f64> {
        let mut solution: Vec<f64> = Vec::with_capacity(right.len());
        for (row, value) in right.iter().enumerate().take(self.lower.size) {
            let known = dot(&self.lower.row(row)[..row], &solution);
            solution.push((value - known) / self.lower[(row, row)]);
        }
        solution
    }
}

impl Index<(usize, usize)> for SquareMatrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.entries[row * self.size..(row + 1) * self.size][column]
    }
}

impl IndexMut<(usize, usize)> for SquareMatrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.entries[row * self.size..(row + 1) * self.size][column]
    }
}
