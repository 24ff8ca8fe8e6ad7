//! The coefficients that intervals are about: of the best linear prediction by some features, over the population.
//!
//! A fit that kept one of two correlated features has nothing wrong with it if its coefficient stands for both. What its
//! intervals are meant to contain is the projection of the response on the features that were kept. With independent
//! features that is the true coefficient, and zero for a feature without effect.

use sprifed_query::LinearModel;

use crate::odds::reference::solved;
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
    let rows = features.iter().map(|left| {
        let covariances = features
            .iter()
            .map(|right| correlation.between(*left, *right));
        let with_truth = truth.terms.iter();
        let with_truth = with_truth.map(|(at, value)| value * correlation.between(*left, *at));
        covariances.chain([with_truth.sum()]).collect()
    });
    solved(rows.collect())
}
