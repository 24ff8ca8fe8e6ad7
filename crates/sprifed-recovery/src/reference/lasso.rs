//! The Lasso on the records themselves: coordinate descent on a growing working set.

use sprifed_query::Records;

use super::columns::{GrowingLeastSquares, Matrix, add_multiple, dot};
use super::exact_fit;
use crate::fit::Fit;

#[cfg(test)]
mod tests;

/// A solution is accepted when its duality gap is below this fraction of ‖y‖².
const TOLERANCE: f64 = 1e-10;

/// Limits on the work for one penalty; they are far from binding on sensible data.
const MOST_EXTENSIONS: usize = 100;
const MOST_SWEEPS: usize = 10_000;

/// Penalties of the path, from the one at which everything is zero down to a thousandth of it.
const PATH: u32 = 100;
const PATH_RATIO: f64 = 1e-3;

/// The Lasso's `sparsity` strongest features, refitted by least squares. NOT PRIVATE.
///
/// The penalty is the first of a path of decreasing ones at which as many features are active.
/// Terms are in decreasing order of the Lasso's coefficients.
#[must_use]
pub fn non_private_lasso(records: &Records<'_>, sparsity: usize) -> Fit {
    let mut descent = Descent::open(Matrix::of(records));
    let largest = descent.largest_penalty();
    for index in 1..PATH {
        let fraction = f64::from(index) / f64::from(PATH - 1);
        descent.solve(largest * PATH_RATIO.powf(fraction));
        if descent.terms().len() >= sparsity {
            break;
        }
    }
    let mut least_squares = GrowingLeastSquares::new();
    let mut support = Vec::new();
    for (feature, _) in descent.terms().into_iter().take(sparsity) {
        let column = descent.matrix.column(feature as usize);
        if least_squares.add(column, &descent.matrix.responses) {
            support.push(feature);
        }
    }
    exact_fit(support.into_iter().zip(least_squares.solve()).collect())
}

/// The Lasso at one penalty: the minimum of ‖y − Xw‖²/(2n) + penalty·‖w‖₁. NOT PRIVATE.
///
/// Terms are in decreasing order of their coefficients.
#[must_use]
pub fn non_private_lasso_at(records: &Records<'_>, penalty: f64) -> Fit {
    let mut descent = Descent::open(Matrix::of(records));
    descent.solve(penalty);
    exact_fit(descent.terms())
}

/// A feature of the working set.
struct WorkingFeature {
    feature: usize,
    column: Vec<f64>,
    square: f64,
    coefficient: f64,
}

struct Descent<'a> {
    matrix: Matrix<'a>,
    working_set: Vec<WorkingFeature>,
    residuals: Vec<f64>,
}

impl<'a> Descent<'a> {
    fn open(matrix: Matrix<'a>) -> Self {
        let residuals = matrix.responses.clone();
        Self {
            matrix,
            working_set: Vec::new(),
            residuals,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
    fn records(&self) -> f64 {
        self.residuals.len() as f64
    }

    /// The least penalty at which all coefficients are zero.
    fn largest_penalty(&self) -> f64 {
        largest(&self.matrix.correlate(&self.matrix.responses)) / self.records()
    }

    /// Non-zero coefficients, the largest first.
    fn terms(&self) -> Vec<(u32, f64)> {
        let active = self
            .working_set
            .iter()
            .filter(|one| one.coefficient.abs() > 0.0);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "features are numbered in 32 bits"
        )]
        let mut terms: Vec<(u32, f64)> = active
            .map(|one| (one.feature as u32, one.coefficient))
            .collect();
        terms.sort_by(|left, right| right.1.abs().total_cmp(&left.1.abs()));
        terms
    }

    /// Descends from the current coefficients to the minimum for `penalty`.
    ///
    /// # Why
    /// A feature outside the working set with |x_jᵀr| ≤ n·penalty is zero at the minimum; those
    /// that break this join, the worst first. The duality gap of all features bounds how far the
    /// objective is from its minimum.
    fn solve(&mut self, penalty: f64) {
        let scaled = penalty * self.records();
        let scale = dot(&self.matrix.responses, &self.matrix.responses);
        for _ in 0..MOST_EXTENSIONS {
            let correlations = self.matrix.correlate(&self.residuals);
            if self.duality_gap(&correlations, scaled) <= TOLERANCE * scale {
                return;
            }
            self.extend(&correlations, scaled);
            self.descend(scaled, TOLERANCE * scale);
        }
    }

    /// How far the objective, times n, can be above its minimum.
    fn duality_gap(&self, correlations: &[f64], scaled: f64) -> f64 {
        let size = dot(&self.residuals, &self.residuals);
        let shrink = (scaled / largest(correlations).max(f64::MIN_POSITIVE)).min(1.0);
        let penalty: f64 = self
            .working_set
            .iter()
            .map(|one| one.coefficient.abs())
            .sum();
        let aligned = dot(&self.residuals, &self.matrix.responses);
        0.5 * size * (1.0 + shrink * shrink) + scaled * penalty - shrink * aligned
    }

    /// Lets the worst offenders outside the working set join it.
    fn extend(&mut self, correlations: &[f64], scaled: f64) {
        let mut offenders: Vec<(usize, f64)> = (correlations.iter().map(|value| value.abs()))
            .enumerate()
            .filter(|(_, size)| *size > scaled)
            .filter(|(feature, _)| self.working_set.iter().all(|one| one.feature != *feature))
            .collect();
        offenders.sort_by(|left, right| right.1.total_cmp(&left.1));
        offenders.truncate(self.working_set.len().max(10));
        for (feature, _) in offenders {
            let column = self.matrix.column(feature);
            let square = dot(&column, &column);
            self.working_set.push(WorkingFeature {
                feature,
                column,
                square,
                coefficient: 0.0,
            });
        }
    }

    /// Sweeps over the working set until its own duality gap is small.
    fn descend(&mut self, scaled: f64, accepted: f64) {
        for sweep in 1..=MOST_SWEEPS {
            for one in self.working_set.iter_mut().filter(|one| one.square > 0.0) {
                let before = one.coefficient;
                let wanted = dot(&one.column, &self.residuals) + one.square * before;
                one.coefficient = soft_threshold(wanted, scaled) / one.square;
                let change = one.coefficient - before;
                if change.abs() > 0.0 {
                    add_multiple(&mut self.residuals, &one.column, -change);
                }
            }
            if sweep % 5 == 0 {
                let inside = self
                    .working_set
                    .iter()
                    .map(|one| dot(&one.column, &self.residuals));
                if self.duality_gap(&inside.collect::<Vec<_>>(), scaled) <= 0.1 * accepted {
                    return;
                }
            }
        }
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

fn soft_threshold(value: f64, threshold: f64) -> f64 {
    value.signum() * (value.abs() - threshold).max(0.0)
}
