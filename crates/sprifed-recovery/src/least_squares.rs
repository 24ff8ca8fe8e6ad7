//! PRIVATE-OLS: normal equations with noise in them, repaired before they are solved.

use nalgebra::{DMatrix, DVector, Dyn, SymmetricEigen};

use crate::fit::FitStatus;

#[cfg(test)]
mod tests;

/// Normal equations G·α = g whose entries carry noise.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyNormalEquations {
    /// G: noisy second moments of the support.
    pub gram: DMatrix<f64>,
    /// g: noisy correlations with the response or residual.
    pub cross: DVector<f64>,
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
    /// Largest over smallest eigenvalue of G as it came.
    pub condition: f64,
    /// How many eigenvalues were raised.
    pub repaired: usize,
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
        let size = self.cross.len();
        if size == 0 {
            let (coefficients, noise_std_devs) = (Vec::new(), Vec::new());
            return Solution { coefficients, noise_std_devs, condition: 1.0, repaired: 0 };
        }
        let (eigen, floor) = self.eigen();
        let condition = eigen.eigenvalues.max() / eigen.eigenvalues.min();
        let repaired = eigen.eigenvalues.iter().filter(|value| **value < floor).count();
        let inverted = eigen.eigenvalues.map(|value| 1.0 / value.max(floor));
        let inverse = recompose(&eigen.eigenvectors, &inverted);
        let coefficients = &inverse * &self.cross;
        let spread = |row: usize| inverse.row(row).norm() * self.cross_noise;
        Solution {
            coefficients: coefficients.iter().copied().collect(),
            noise_std_devs: (0..size).map(spread).collect(),
            condition,
            repaired,
        }
    }

    /// The equations for coefficients measured from −`shift` on: g + G·shift.
    #[must_use]
    pub fn shifted(&self, shift: &DVector<f64>) -> Self {
        Self { cross: &self.cross + &self.gram * shift, ..self.clone() }
    }

    /// The equations of some of the features.
    #[must_use]
    pub fn restricted(&self, chosen: &[usize]) -> Self {
        let size = chosen.len();
        let gram = DMatrix::from_fn(size, size, |row, column| {
            self.gram[(chosen[row], chosen[column])]
        });
        let cross = DVector::from_fn(size, |row, _| self.cross[chosen[row]]);
        Self { gram, cross, ..*self }
    }

    /// G with every eigenvalue raised to at least the noise level, and how many were raised.
    #[must_use]
    pub fn repaired_gram(&self) -> (DMatrix<f64>, usize) {
        let (eigen, floor) = self.eigen();
        let repaired = eigen.eigenvalues.iter().filter(|value| **value < floor).count();
        let raised = eigen.eigenvalues.map(|value| value.max(floor));
        (recompose(&eigen.eigenvectors, &raised), repaired)
    }

    fn eigen(&self) -> (SymmetricEigen<f64, Dyn>, f64) {
        let symmetric = (&self.gram + self.gram.transpose()) / 2.0;
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let level = self.gram_noise * (self.cross.len() as f64 / 2.0).sqrt();
        (SymmetricEigen::new(symmetric), level.max(1e-9))
    }
}

fn recompose(vectors: &DMatrix<f64>, values: &DVector<f64>) -> DMatrix<f64> {
    vectors * DMatrix::from_diagonal(values) * vectors.transpose()
}

impl Solution {
    /// The status of a fit that ends with these coefficients, of which this is the last change.
    #[must_use]
    pub fn status_of(&self, coefficients: &[f64]) -> FitStatus {
        let ratios = coefficients.iter().zip(&self.noise_std_devs);
        let largest_ratio = ratios
            .map(|(coefficient, noise)| coefficient.abs() / noise.max(f64::MIN_POSITIVE))
            .fold(0.0, f64::max);
        if largest_ratio < 2.0 {
            return FitStatus::NoFeatureAboveNoise { largest_ratio };
        }
        if self.repaired > 0 {
            let (condition, repaired) = (self.condition, self.repaired);
            return FitStatus::IllConditioned { condition, repaired };
        }
        FitStatus::Complete
    }
}
