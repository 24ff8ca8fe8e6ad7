//! The answer to a second-moment question, as a matrix again.

use core::f64::consts::SQRT_2;

use sprifed_query::{
    Answer, AnswerBlock, Constant, FeatureList, Limit, LinearModel, Question, Scales,
};

use crate::least_squares::NoisyNormalEquations;
use crate::portable::dot;
use crate::setting::{Intercept, Setting};
use crate::square_matrix::SquareMatrix;

#[cfg(test)]
mod tests;

/// Noisy sums of z·zᵀ with z = (1?, x_S, residual), each variable in its own unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    matrix: SquareMatrix,
    noise: f64,
    intercept: bool,
    records: f64,
}

impl Setting {
    /// The question for the second moments of (1?, x_S, residual at `model`).
    #[must_use]
    pub fn moment_question(&self, support: &[u32], model: LinearModel, scales: Scales) -> Question {
        Question::SecondMoment {
            support: FeatureList::of(support),
            constant: Constant::one_if(self.intercept == Intercept::Estimated),
            model: model.into(),
            scales,
            norm: Limit::nearest(self.moment_norm(support.len())),
        }
    }

    /// What the answer to [`Self::moment_question`] says.
    #[must_use]
    pub fn moments_of(&self, answer: &Answer, support: usize) -> Option<Moments> {
        let block = answer.blocks.first()?;
        let intercept = self.intercept == Intercept::Estimated;
        let (norm, records) = (self.moment_norm(support), f64::from(self.n_records));
        Some(Moments::decode(block, support, intercept, norm, records))
    }

    /// Entries of the upper triangle of (1?, x_S, residual).
    #[must_use]
    pub fn moment_entries(&self, support: usize) -> usize {
        let size = self.moment_size(support);
        size * (size + 1) / 2
    }

    /// Standardised variables have a norm of about the square root of their number.
    fn moment_norm(&self, support: usize) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let size = self.moment_size(support) as f64;
        size.sqrt()
    }

    fn moment_size(&self, support: usize) -> usize {
        support + 1 + usize::from(self.intercept == Intercept::Estimated)
    }
}

/// Reads the weighted upper triangle of `size` variables back, of which the vector was clipped to `norm`.
pub(crate) fn second_moments(block: &AnswerBlock, size: usize, norm: f64) -> SquareMatrix {
    let mut matrix = SquareMatrix::zeros(size);
    let mut values = block.values.iter();
    for row in 0..size {
        for column in row..size {
            let value = values.next().copied().unwrap_or(0.0) * norm * norm;
            let weight = if row == column { 1.0 } else { SQRT_2 };
            matrix[(row, column)] = value / weight;
            matrix[(column, row)] = value / weight;
        }
    }
    matrix
}

impl Moments {
    /// Reads the weighted upper triangle of an answer about `records` records back; `norm` is what
    /// z was clipped to.
    #[must_use]
    pub fn decode(
        block: &AnswerBlock,
        support: usize,
        intercept: bool,
        norm: f64,
        records: f64,
    ) -> Self {
        Self {
            matrix: second_moments(block, support + 1 + usize::from(intercept), norm),
            noise: block.noise_std_dev * norm * norm,
            intercept,
            records,
        }
    }

    /// The normal equations for the support, the intercept eliminated.
    #[must_use]
    pub fn normal_equations(&self) -> NoisyNormalEquations {
        let size = self.matrix.size();
        let first = usize::from(self.intercept);
        let support = size - 1 - first;
        let matrix = &self.matrix;
        let mut gram =
            SquareMatrix::from_fn(support, |row, column| matrix[(first + row, first + column)]);
        let residuals = (first..first + support).map(|row| matrix[(row, size - 1)]);
        let mut cross: Vec<f64> = residuals.collect();
        if self.intercept {
            let count = self.count();
            let sums = &matrix.row(0)[1..=support];
            for (row, left) in sums.iter().enumerate() {
                for (column, right) in sums.iter().enumerate() {
                    gram[(row, column)] -= left * right / count;
                }
                cross[row] -= left * (matrix[(0, size - 1)] / count);
            }
        }
        NoisyNormalEquations {
            gram,
            cross,
            gram_noise: self.noise,
            cross_noise: self.noise / SQRT_2,
        }
    }

    /// The whole matrix, of z·zᵀ.
    pub(crate) const fn matrix(&self) -> &SquareMatrix {
        &self.matrix
    }

    /// The standard deviation of the noise on the diagonal of [`Self::matrix`].
    pub(crate) const fn noise(&self) -> f64 {
        self.noise
    }

    /// The same without the constant, for a model without an intercept.
    pub(crate) fn without_constant(&self) -> Self {
        let first = usize::from(self.intercept);
        let places: Vec<usize> = (first..self.matrix.size()).collect();
        Self {
            matrix: self.matrix.restricted(&places),
            intercept: false,
            ..*self
        }
    }

    /// What the intercept changes by once the coefficients change by `changes`; zero without one.
    #[must_use]
    pub fn intercept_change(&self, changes: &[f64]) -> f64 {
        if !self.intercept {
            return 0.0;
        }
        let explained = dot(&self.matrix.row(0)[1..], changes);
        (self.matrix[(0, self.matrix.size() - 1)] - explained) / self.count()
    }

    /// The standard deviation of the noise on the mean of the residual, in its unit.
    #[must_use]
    pub fn mean_noise(&self) -> f64 {
        self.noise / SQRT_2 / self.count()
    }

    /// The records, each with the weight that clipping left it. Their number is public, so that no
    /// noise on this weight can turn a mean into an arbitrarily large one.
    fn count(&self) -> f64 {
        self.matrix[(0, 0)].clamp(0.5 * self.records, self.records)
    }
}
