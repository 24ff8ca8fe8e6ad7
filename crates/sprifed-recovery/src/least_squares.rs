//! PRIVATE-OLS: normal equations with noise in them, repaired before they are solved.

use crate::fit::FitStatus;
use crate::portable::{dot, larger, norm, square};
use crate::square_matrix::{Eigen, SquareMatrix};

#[cfg(test)]
mod tests;

/// Normal equations G·α = g whose entries carry noise.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyNormalEquations {
    /// G: noisy second moments of the support.
    pub gram: SquareMatrix,
    /// g: noisy correlations with the response or residual.
    pub cross: Vec<f64>,
    /// The standard deviation of the noise on an entry of G.
    pub gram_noise: f64,
    /// The standard deviation of the noise on an entry of g.
    pub cross_noise: f64,
}

/// A solution, and how far it can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// α.
    pub coefficients: Vec<f64>,
    /// The standard deviation that the noise in g alone gives each coefficient.
    pub noise_std_devs: Vec<f64>,
    /// The standard deviation that residuals of one unit give each coefficient: the records' own
    /// randomness.
    pub sampling_std_devs: Vec<f64>,
    /// Largest over smallest eigenvalue of G as it came.
    pub condition: f64,
    /// How many eigenvalues were raised.
    pub repaired: usize,
}

/// Second moments with every eigenvalue raised to at least the noise level.
#[derive(Clone, Debug)]
pub(crate) struct Inverted {
    /// G.
    pub(crate) gram: SquareMatrix,
    /// Its inverse.
    pub(crate) inverse: SquareMatrix,
    /// Largest over smallest eigenvalue of G as it came.
    pub(crate) condition: f64,
    /// How many eigenvalues were raised.
    pub(crate) repaired: usize,
}

impl NoisyNormalEquations {
    /// Solves with every eigenvalue of G raised to at least the noise level.
    ///
    /// # Why
    /// A symmetric k×k matrix of independent noise of standard deviation σ has eigenvalues of
    /// order σ√k, half of them negative: an eigenvalue below σ√(k/2) is noise. Left alone it would
    /// be inverted into an arbitrarily large coefficient.
    #[must_use]
    pub fn solve(&self) -> Solution {
        self.invert(|eigenvalue, floor| 1.0 / larger(eigenvalue, floor))
    }

    /// Solves for coefficients that are expected to have the variance `expected`, in the units of
    /// the equations: directions in which the noise outweighs that are shrunk towards zero.
    ///
    /// # Why
    /// In the direction of an eigenvalue λ, g carries λ times the coefficient and noise of variance
    /// v; the linear estimate of least mean squared error is λ/(λ² + v/`expected`) times it. Where
    /// the noise is small this is 1/λ; where it is not, plain inversion would return noise.
    #[must_use]
    pub fn solve_expecting(&self, expected: f64) -> Solution {
        let noise = square(self.cross_noise) / expected;
        self.invert(|eigenvalue, _| {
            let positive = larger(eigenvalue, 0.0);
            positive / larger(square(positive) + noise, f64::MIN_POSITIVE)
        })
    }

    /// Solves with a function of each eigenvalue, and of the noise level, as its inverse.
    fn invert(&self, inverse_of: impl Fn(f64, f64) -> f64) -> Solution {
        let size = self.cross.len();
        if size == 0 {
            return Solution {
                coefficients: Vec::new(),
                noise_std_devs: Vec::new(),
                sampling_std_devs: Vec::new(),
                condition: 1.0,
                repaired: 0,
            };
        }
        let (eigen, floor) = self.eigen();
        let (largest, smallest) = eigen.extremes();
        let condition = largest / smallest;
        let repaired = eigen.values.iter().filter(|value| **value < floor);
        let repaired = repaired.count();
        let inverse = eigen.recompose(|value| inverse_of(value, floor));
        let spread = |row: usize| norm(inverse.row(row)) * self.cross_noise;
        Solution {
            coefficients: inverse.times(&self.cross),
            noise_std_devs: (0..size).map(spread).collect(),
            sampling_std_devs: (0..size)
                .map(|row| larger(inverse[(row, row)], 0.0).sqrt())
                .collect(),
            condition,
            repaired,
        }
    }

    /// The equations for coefficients measured from −`shift` on: g + G·shift.
    #[must_use]
    pub fn shifted(&self, shift: &[f64]) -> Self {
        let moved = self.gram.times(shift);
        let cross = self.cross.iter().zip(&moved);
        Self {
            cross: cross.map(|(cross, moved)| cross + moved).collect(),
            ..self.clone()
        }
    }

    /// The equations of some of the features.
    #[must_use]
    pub fn restricted(&self, chosen: &[usize]) -> Self {
        Self {
            gram: self.gram.restricted(chosen),
            cross: chosen.iter().map(|index| self.cross[*index]).collect(),
            ..*self
        }
    }

    /// G and its inverse, with every eigenvalue raised to at least the noise level.
    pub(crate) fn inverted(&self) -> Inverted {
        let (eigen, floor) = self.eigen();
        let (largest, smallest) = eigen.extremes();
        let repaired = eigen.values.iter().filter(|value| **value < floor);
        Inverted {
            condition: largest / smallest,
            repaired: repaired.count(),
            gram: eigen.recompose(|value| larger(value, floor)),
            inverse: eigen.recompose(|value| 1.0 / larger(value, floor)),
        }
    }

    /// The equations of all but the first `count` variables, with those eliminated: eigenvalues of
    /// their own second moments are raised to at least the noise level first.
    #[must_use]
    pub fn eliminating(&self, count: usize) -> Self {
        let size = self.cross.len();
        if count == 0 || count >= size {
            return self.clone();
        }
        let (first, rest): (Vec<usize>, Vec<usize>) = (0..size).partition(|index| *index < count);
        let inverse = self.restricted(&first).inverted().inverse;
        let explained = inverse.times(&self.cross[..count]);
        let shared = |index: usize| &self.gram.row(index)[..count];
        let mut left = self.restricted(&rest);
        for (row, index) in rest.iter().enumerate() {
            left.cross[row] -= dot(shared(*index), &explained);
            let weights = inverse.times(shared(*index));
            for (column, other) in rest.iter().enumerate() {
                left.gram[(row, column)] -= dot(&weights, shared(*other));
            }
        }
        left
    }

    /// G with every eigenvalue raised to at least the noise level, and how many were raised.
    #[must_use]
    pub fn repaired_gram(&self) -> (SquareMatrix, usize) {
        let (eigen, floor) = self.eigen();
        let repaired = eigen.values.iter().filter(|value| **value < floor);
        let repaired = repaired.count();
        (eigen.recompose(|value| larger(value, floor)), repaired)
    }

    fn eigen(&self) -> (Eigen, f64) {
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let level = self.gram_noise * (self.cross.len() as f64 / 2.0).sqrt();
        (self.gram.symmetric_eigen(), larger(level, 1e-9))
    }
}

impl Solution {
    /// The same without its first `count` coefficients.
    pub(crate) fn without_first(&self, count: usize) -> Self {
        let rest = |values: &[f64]| values.get(count..).unwrap_or(&[]).to_vec();
        Self {
            coefficients: rest(&self.coefficients),
            noise_std_devs: rest(&self.noise_std_devs),
            sampling_std_devs: rest(&self.sampling_std_devs),
            ..*self
        }
    }

    /// The status of a fit that ends with these coefficients; `change` is their last change.
    #[must_use]
    pub fn status_of(&self, coefficients: &[f64]) -> FitStatus {
        self.status_above(coefficients, 2.0)
    }

    /// As [`Self::status_of`], for features that were picked among `candidates` and equations whose
    /// unit of the residual is its standard deviation.
    ///
    /// # Why
    /// The best of p features without any effect has a correlation of up to √(2 ln(20 p)) standard
    /// errors with the response, in all but one of twenty data sets (union bound). So much of the
    /// records' own randomness is counted as noise, beside three standard deviations of the noise
    /// in the last answer, which is fresh and picked from a few only. Where the equations had to be
    /// repaired, standard errors say nothing, and the repair is what is reported.
    #[must_use]
    pub fn status_among(&self, coefficients: &[f64], candidates: u32) -> FitStatus {
        let status = self.status_above(coefficients, OUTSTANDING);
        if status != FitStatus::Complete {
            return status;
        }
        let selected = (2.0 * libm::log(20.0 * f64::from(candidates))).sqrt() / OUTSTANDING;
        let both = self.noise_std_devs.iter().zip(&self.sampling_std_devs);
        let noise: Vec<f64> = both
            .map(|(noise, sampling)| norm(&[*noise, selected * sampling]))
            .collect();
        let largest_ratio = largest_ratio(coefficients, &noise);
        if largest_ratio < OUTSTANDING {
            return FitStatus::NoFeatureAboveNoise { largest_ratio };
        }
        FitStatus::Complete
    }

    fn status_above(&self, coefficients: &[f64], required: f64) -> FitStatus {
        let largest_ratio = largest_ratio(coefficients, &self.noise_std_devs);
        if largest_ratio < required {
            return FitStatus::NoFeatureAboveNoise { largest_ratio };
        }
        if self.repaired > 0 {
            let (condition, repaired) = (self.condition, self.repaired);
            return FitStatus::IllConditioned {
                condition,
                repaired,
            };
        }
        FitStatus::Complete
    }
}

/// How many standard deviations of noise a coefficient must have to count as found.
const OUTSTANDING: f64 = 3.0;

fn largest_ratio(coefficients: &[f64], noise: &[f64]) -> f64 {
    let ratios = coefficients.iter().zip(noise);
    ratios
        .map(|(coefficient, noise)| coefficient.abs() / larger(*noise, f64::MIN_POSITIVE))
        .fold(0.0, |most, ratio| larger(ratio, most))
}
