//! Orthogonal matching pursuit on the records themselves.

use sprifed_query::Records;

use super::columns::{GrowingLeastSquares, Matrix};
use super::exact_fit;
use crate::fit::Fit;

#[cfg(test)]
mod tests;

/// Orthogonal matching pursuit: `sparsity` times the feature of largest absolute correlation with
/// the residual joins, and all coefficients are fitted again. NOT PRIVATE.
///
/// Columns are not scaled to a common length, as in scikit-learn's `orthogonal_mp`; it ends early,
/// as there, when nothing is left to explain or a pick adds nothing new. Terms are in the order of
/// the picks.
#[must_use]
pub fn non_private_omp(records: &Records<'_>, sparsity: usize) -> Fit {
    let matrix = Matrix::of(records);
    let mut least_squares = GrowingLeastSquares::new();
    let mut support: Vec<u32> = Vec::new();
    let mut coefficients = Vec::new();
    let mut residuals = matrix.responses.clone();
    while support.len() < sparsity.min(matrix.n_features()) {
        let Some(feature) = strongest(&matrix.correlate(&residuals)) else {
            break;
        };
        let is_known = support.contains(&feature);
        let column = matrix.column(feature as usize);
        if is_known || !least_squares.add(column, &matrix.responses) {
            break;
        }
        support.push(feature);
        coefficients = least_squares.solve();
        residuals = least_squares.residuals(&matrix.responses, &coefficients);
    }
    exact_fit(support.into_iter().zip(coefficients).collect())
}

/// The first feature of largest absolute correlation, if any is not zero.
fn strongest(correlations: &[f64]) -> Option<u32> {
    let mut best = (None, 0.0);
    for (feature, correlation) in (0..).zip(correlations) {
        if correlation.abs() > best.1 {
            best = (Some(feature), correlation.abs());
        }
    }
    best.0
}
