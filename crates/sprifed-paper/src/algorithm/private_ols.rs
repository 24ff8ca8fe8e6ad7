//! PRIVATE-OLS [SPRIFED, Algorithm 2]: least squares on the support, one row of sums for each
//! feature as it is chosen.

use sprifed_noise::Provenance;
use sprifed_query::{AnswerBlock, FeatureList, Limit, LinearModel, Question};

use super::{Limits, Solver};
use sprifed_recovery::SquareMatrix;
use sprifed_recovery::portable::{larger, norm};
use sprifed_recovery::{Fit, FitStatus, Inferred, NoInference};
use sprifed_recovery::{NoisyNormalEquations, Solution};

/// The support so far, its noisy normal equations and their solution, in units of the data.
#[derive(Clone, Debug)]
pub(super) struct PrivateOls {
    limits: Limits,
    solver: Solver,
    support: Vec<u32>,
    gram: SquareMatrix,
    cross: Vec<f64>,
    gram_noise: f64,
    cross_noise: f64,
    solution: Option<Solution>,
}

impl PrivateOls {
    pub(super) fn new(sparsity: usize, limits: Limits, solver: Solver) -> Self {
        Self {
            limits,
            solver,
            support: Vec::new(),
            gram: SquareMatrix::zeros(sparsity),
            cross: vec![0.0; sparsity],
            gram_noise: 0.0,
            cross_noise: 0.0,
            solution: None,
        }
    }

    pub(super) const fn limits(&self) -> Limits {
        self.limits
    }

    pub(super) fn support(&self) -> &[u32] {
        &self.support
    }

    /// The coefficients of the last solution, in the order of the support.
    pub(super) fn coefficients(&self) -> &[f64] {
        self.solution
            .as_ref()
            .map_or(&[], |solution| &solution.coefficients)
    }

    pub(super) fn model(&self) -> LinearModel {
        let terms = self
            .support
            .iter()
            .copied()
            .zip(self.coefficients().iter().copied());
        LinearModel {
            intercept: 0.0,
            terms: terms.collect(),
        }
    }

    /// Adds the unchosen feature of largest absolute correlation to the support.
    ///
    /// `correlations` are of all features, in order; those of chosen ones are not looked at.
    pub(super) fn choose(&mut self, correlations: &[f64]) -> Option<u32> {
        let mut best: Option<(u32, f64)> = None;
        for (feature, correlation) in (0..).zip(correlations) {
            let size = correlation.abs();
            if best.is_none_or(|(_, largest)| size > largest) && !self.support.contains(&feature) {
                best = Some((feature, size));
            }
        }
        let feature = best.map(|(feature, _)| feature);
        self.support.extend(feature);
        feature
    }

    /// Adds a feature that was chosen otherwise.
    pub(super) fn add(&mut self, feature: u32) {
        self.support.push(feature);
    }

    /// x_l·y, and x_l·x_k for every k of the support, where l is the feature just chosen.
    pub(super) fn questions(&self) -> Vec<Question> {
        let Some(feature) = self.support.last().copied() else {
            return Vec::new();
        };
        let feature_limit = Limit::nearest(self.limits.feature);
        let response_limit = Limit::nearest(self.limits.response);
        vec![
            Question::SupportResponse {
                feature,
                feature_limit,
                response_limit,
            },
            Question::SupportRow {
                support: FeatureList::of(&self.support),
                feature_limit,
            },
        ]
    }

    /// Takes the answers to [`Self::questions`] and solves.
    pub(super) fn take_row(&mut self, response: &AnswerBlock, row: &AnswerBlock) {
        let Some(last) = self.support.len().checked_sub(1) else {
            return;
        };
        let square = self.limits.feature * self.limits.feature;
        let product = self.limits.feature * self.limits.response;
        if let Some(value) = response.values.first() {
            self.cross[last] = value * product;
        }
        for (column, value) in row.values.iter().enumerate().take(last + 1) {
            self.gram[(last, column)] = value * square;
            self.gram[(column, last)] = value * square;
        }
        self.gram_noise = row.noise_std_dev * square;
        self.cross_noise = response.noise_std_dev * product;
        self.solve();
    }

    /// Takes correlations that were released for all features: γ₀, and the column of the feature
    /// just chosen, both in units of the data; then solves.
    ///
    /// # Why
    /// The entry of features k and l is then known twice, with different noise. As in the paper's
    /// ablation both are used as they are, so the matrix is not symmetric.
    pub(super) fn take_noisy_column(
        &mut self,
        responses: (&[f64], f64),
        columns: &[Vec<f64>],
        column_noise: f64,
    ) {
        let entry = |values: &[f64], feature: u32| values.get(feature as usize).copied();
        for (row, feature) in self.support.iter().enumerate() {
            self.cross[row] = entry(responses.0, *feature).unwrap_or(0.0);
            for (index, column) in columns.iter().enumerate().take(self.support.len()) {
                self.gram[(row, index)] = entry(column, *feature).unwrap_or(0.0);
            }
        }
        self.gram_noise = column_noise;
        self.cross_noise = responses.1;
        self.solve();
    }

    fn solve(&mut self) {
        let size = self.support.len();
        let equations = NoisyNormalEquations {
            gram: SquareMatrix::from_fn(size, |row, column| self.gram[(row, column)]),
            cross: self.cross[..size].to_vec(),
            gram_noise: self.gram_noise,
            cross_noise: self.cross_noise,
        };
        self.solution = Some(match self.solver {
            Solver::Repaired => equations.solve(),
            Solver::Plain => solve_plainly(&equations),
        });
    }

    /// The model and how far it can be trusted.
    pub(super) fn finish(self, provenance: Option<Provenance>) -> Fit {
        let model = self.model();
        let status = match self.solution {
            Some(solution) => solution.status_of(&solution.coefficients),
            None => FitStatus::NoFeatureAboveNoise { largest_ratio: 0.0 },
        };
        Fit {
            sites: Vec::new(),
            model,
            inference: Inferred::NotAvailable {
                reason: NoInference::Procedure,
            },
            status,
            residual_scale: None,
            baseline: None,
            cuts: Vec::new(),
            provenance,
        }
    }
}

/// G⁻¹g with G as it is; a G without inverse, which noise excludes, is repaired.
fn solve_plainly(equations: &NoisyNormalEquations) -> Solution {
    let Some(inverse) = equations.gram.inverse() else {
        return equations.solve();
    };
    let noise = |row: usize| norm(inverse.row(row)) * equations.cross_noise;
    let spread = |row: usize| larger(inverse[(row, row)], 0.0).sqrt();
    Solution {
        coefficients: inverse.times(&equations.cross),
        noise_std_devs: (0..equations.cross.len()).map(noise).collect(),
        sampling_std_devs: (0..equations.cross.len()).map(spread).collect(),
        condition: equations.gram.length() * inverse.length(),
        repaired: 0,
    }
}
