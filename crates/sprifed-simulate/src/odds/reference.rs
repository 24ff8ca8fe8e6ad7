//! Zeros and ones without privacy: the maximum of the likelihood of a few features, to be compared with.

use sprifed_query::{LinearModel, Records};

use super::logistic;

#[cfg(test)]
mod tests;

/// Newton's method ends after so many steps.
const MOST_STEPS: usize = 50;

/// A step is at most so long: where features separate the ones, there is no maximum.
const LONGEST_STEP: f64 = 5.0;

/// The logistic model of these features with the largest likelihood. NOT PRIVATE.
pub(crate) fn most_likely_odds(records: &Records<'_>, features: &[u32]) -> LinearModel {
    let size = features.len() + 1;
    let mut model = vec![0.0; size];
    for _ in 0..MOST_STEPS {
        let mut equations = vec![vec![0.0; size + 1]; size];
        for record in records.iter() {
            let values = features
                .iter()
                .map(|feature| f64::from(record.features[*feature as usize]));
            let z: Vec<f64> = core::iter::once(1.0).chain(values).collect();
            let predictor: f64 = z.iter().zip(&model).map(|(z, value)| z * value).sum();
            let share = logistic(predictor);
            for (row, left) in z.iter().enumerate() {
                equations[row][size] += left * (f64::from(record.response) - share);
                for (column, right) in z.iter().enumerate() {
                    equations[row][column] += share * (1.0 - share) * left * right;
                }
            }
        }
        let Some(step) = solved(equations) else {
            break;
        };
        let length = step.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        let share = (LONGEST_STEP / length).min(1.0);
        for (value, change) in model.iter_mut().zip(&step) {
            *value += share * change;
        }
        if length < 1e-9 {
            break;
        }
    }
    LinearModel {
        intercept: model[0],
        terms: features
            .iter()
            .copied()
            .zip(model[1..].iter().copied())
            .collect(),
    }
}

/// The solution of equations whose last column is the right side; none where they are singular.
pub(crate) fn solved(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
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
