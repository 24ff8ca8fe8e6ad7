//! The coefficients that intervals are about: of the best linear prediction by some features, over the population.
//!
//! A fit that kept one of two correlated features has nothing wrong with it if its coefficient stands for both. What its
//! intervals are meant to contain is the projection of the response on the features that were kept. With independent
//! features that is the true coefficient, and zero for a feature without effect.

use sprifed_query::LinearModel;

use crate::world::Correlation;

#[cfg(test)]
mod tests;

/// The coefficients of the best linear prediction of `truth` by `features`, in their order, where features have unit
/// variance and this correlation; none if two of them are the same.
pub(crate) fn projection(
    truth: &LinearModel,
    features: &[u32],
    correlation: Correlation,
) -> Option<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = features
        .iter()
        .map(|left| {
            let covariances = features
                .iter()
                .map(|right| correlation.between(*left, *right));
            let with_truth = truth.terms.iter();
            let with_truth = with_truth.map(|(at, value)| value * correlation.between(*left, *at));
            covariances.chain([with_truth.sum()]).collect()
        })
        .collect();
    let size = rows.len();
    // Gauss and Jordan; a covariance matrix needs no change of rows.
    for step in 0..size {
        let (before, rest) = rows.split_at_mut(step);
        let (pivot_row, after) = rest.split_first_mut()?;
        let pivot = pivot_row[step];
        if pivot <= 1e-12 {
            return None;
        }
        pivot_row.iter_mut().for_each(|value| *value /= pivot);
        for row in before.iter_mut().chain(after) {
            let factor = row[step];
            for (value, pivot) in row.iter_mut().zip(pivot_row.iter()) {
                *value -= factor * pivot;
            }
        }
    }
    rows.iter().map(|row| row.last().copied()).collect()
}
