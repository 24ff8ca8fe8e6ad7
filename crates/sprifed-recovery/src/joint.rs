//! Questions about the constant, some features and the residual together, and what the answer to the
//! last one says of any of these features.

use sprifed_privacy::{Mu, Rounding};
use sprifed_query::{
    Answer, Constant, FeatureList, Limit, LinearModel, PlanError, PlannedBlock, Question,
    ReleasedModel, Scales,
};

use crate::least_squares::{NoisyNormalEquations, Solution};
use crate::moments::{Moments, second_moments};
use crate::portable::{dot, larger, smaller, square};
use crate::selection::{Estimate, GroupEstimate};
use crate::setting::{Intercept, Setting};
use crate::square_matrix::SquareMatrix;

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// The noise on a correlation is at most this share of its sampling error where the clip is loosened.
const NOISE_SHARE: f64 = 0.6;

/// The name of the blocks that robust intervals are made from.
pub const ROBUST_BLOCK: &str = "residual moment";

/// The most by which a clip is loosened.
const LOOSEST: f64 = 8.0;

/// The residual variance is at least this, in the units of the question.
const LEAST_VARIANCE: f64 = 1e-3;

/// The noise in a sum of squares is below so many of its standard deviations with a probability of 95 %.
const NOISE_QUANTILE: f64 = 1.645;

impl Setting {
    /// a: by how much the clip of the last question about so many features is loosened, if its
    /// noise has this standard deviation in normalised units. Public before the question is asked.
    ///
    /// # Why
    /// Standardised variables have a squared norm of about their number k, so a clip at k weighs
    /// half of the records down, which biases coefficients of skewed data. A clip at a·k costs a
    /// times the noise. An entry of the correlations then has noise a·k·ν/√2 beside a sampling error
    /// of √n: a is as large as the share 0.6 allows. The sensitivity is the squared norm to which z
    /// is clipped, whatever it is (docs/proofs/inference_covariance.md#1-the-clip).
    #[must_use]
    pub fn clip_factor(&self, n_features: usize, noise_std_dev: f64) -> f64 {
        self.clip_factor_of(joint_size(n_features), noise_std_dev)
    }

    /// The same for a question whose squared norm is usually about `size`.
    pub(crate) fn clip_factor_of(&self, size: f64, noise_std_dev: f64) -> f64 {
        let sampling = (2.0 * f64::from(self.n_records)).sqrt();
        let most = NOISE_SHARE * sampling / (size * noise_std_dev);
        smaller(larger(most, 1.0), LOOSEST)
    }

    /// The same for the planned `blocks` of the last sum.
    pub(crate) fn planned_clip_factor(&self, n_features: usize, blocks: &[PlannedBlock]) -> f64 {
        self.clip_factor(n_features, self.last_noise(blocks))
    }

    /// The standard deviation of the noise of the last sum, in normalised units.
    pub(crate) fn last_noise(&self, blocks: &[PlannedBlock]) -> f64 {
        let shares = self.origin.most_shares();
        let noise = blocks.first().map(|block| block.noise_std_dev(shares));
        noise.unwrap_or(f64::INFINITY)
    }

    /// The blocks of the last sum, one for each of [`Self::last_questions`].
    pub(crate) fn last_blocks(
        &self,
        n_features: usize,
        cost: Mu,
        robust_cost: Option<Mu>,
    ) -> Result<Vec<PlannedBlock>, PlanError> {
        let (planner, dithered) = (self.planner(), Rounding::Dithered);
        let entries = self.joint_entries(n_features);
        let mut blocks = vec![planner.ball("second moment", entries, cost, dithered)?];
        if let Some(cost) = robust_cost {
            let entries = (n_features + 1) * (n_features + 2) / 2;
            blocks.push(planner.ball(ROBUST_BLOCK, entries, cost, dithered)?);
        }
        Ok(blocks)
    }

    /// The questions of the last sum: for the second moments of (1, x, residual at `model`), clipped to a squared norm of
    /// `clip_factor` times their number, and, for robust intervals, for those of (1, x) times the residual.
    #[must_use]
    pub fn last_questions(
        &self,
        features: &[u32],
        model: LinearModel,
        scales: Scales,
        clip_factor: f64,
    ) -> Vec<Question> {
        let (support, constant) = (FeatureList::of(features), Constant::One);
        let model = ReleasedModel::from(model);
        let norm = Limit::nearest(joint_norm(features.len(), clip_factor));
        let moments = Question::SecondMoment {
            support: support.clone(),
            constant,
            model: model.clone(),
            scales,
            norm,
        };
        let residuals = Question::ResidualMoment {
            support,
            constant,
            model,
            scales,
            norm,
        };
        if self.robust {
            vec![moments, residuals]
        } else {
            vec![moments]
        }
    }

    /// What the answer to the first of [`Self::last_questions`] about so many features says.
    #[must_use]
    pub fn joint_moments(
        &self,
        answer: &Answer,
        n_features: usize,
        clip_factor: f64,
    ) -> Option<Moments> {
        let block = answer.blocks.first()?;
        let norm = joint_norm(n_features, clip_factor);
        let records = f64::from(self.n_records);
        Some(Moments::decode(block, n_features, true, norm, records))
    }

    /// The moments for a model with or without an intercept, as the setting says.
    #[must_use]
    pub(crate) fn modelled(&self, joint: &Moments) -> Moments {
        match self.intercept {
            Intercept::Estimated => joint.clone(),
            Intercept::Absent => joint.without_constant(),
        }
    }

    /// Entries of the answer to the first of [`Self::last_questions`].
    #[must_use]
    pub const fn joint_entries(&self, n_features: usize) -> usize {
        (n_features + 2) * (n_features + 3) / 2
    }
}

/// k: the variables of a joint question.
#[expect(clippy::cast_precision_loss, reason = "a support is small")]
pub(crate) const fn joint_size(n_features: usize) -> f64 {
    (n_features + 2) as f64
}

pub(crate) fn joint_norm(n_features: usize, clip_factor: f64) -> f64 {
    (clip_factor * joint_size(n_features)).sqrt()
}

/// The answer to the last question, for models of any of the features that it was asked about.
///
/// Units of the equations: of a feature its scale f, of the residual its scale ŝ, of a coefficient
/// ŝ/f.
#[derive(Clone, Debug)]
pub(crate) struct LastAnswer {
    /// M: noisy sums of z·zᵀ with z = (1, x, residual).
    joint: Moments,
    /// The same for the model: without the constant if it has no intercept.
    modelled: Moments,
    has_intercept: bool,
    records: f64,
    /// The first so many features are in every model.
    always: usize,
    /// The coefficients of the model that the residual was measured against.
    current: Vec<f64>,
    /// H, if robust intervals are asked.
    residual_moments: Option<ResidualMoments>,
}

/// Noisy sums of ω²·r²·x·xᵀ, x = (1, features), r the residual, ω the weight that clipping left of a record.
#[derive(Clone, Debug)]
struct ResidualMoments {
    matrix: SquareMatrix,
    /// The standard deviation of the noise on its diagonal.
    noise: f64,
}

/// Least squares on some of the features, without shrinkage.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    /// One if there is an intercept, whose numbers then come first in the matrices.
    pub(crate) first: usize,
    /// The features, by their places in the question.
    pub(crate) places: Vec<usize>,
    /// What the intercept changes by.
    pub(crate) intercept_change: f64,
    /// The coefficients of the features.
    pub(crate) coefficients: Vec<f64>,
    /// V_s: the part of the covariance that is due to the records.
    pub(crate) sampling: SquareMatrix,
    /// V_p: the part that is due to the noise of the answer.
    pub(crate) privacy: SquareMatrix,
    /// Squared sums of the features, as far as clipping left them.
    pub(crate) squares: Vec<f64>,
    /// σ².
    pub(crate) residual_variance: f64,
    /// What σ² would be with the sum of squares at the upper end of what the noise leaves open.
    ///
    /// # Why
    /// With few records the noise can take most of the sum of squares away. docs/proofs/selective_inference.md#5-how-many-are-kept.
    pub(crate) residual_variance_bound: f64,
    /// Largest over smallest eigenvalue of the second moments as they came.
    pub(crate) condition: f64,
    /// How many eigenvalues were raised to the level of the noise.
    pub(crate) repaired: usize,
}

impl LastAnswer {
    /// Reads `answer`; `current` are the coefficients of the model that the residual was measured
    /// against, in units of the equations.
    pub(crate) fn new(
        setting: &Setting,
        answer: &Answer,
        current: Vec<f64>,
        clip_factor: f64,
    ) -> Option<Self> {
        let joint = setting.joint_moments(answer, current.len(), clip_factor)?;
        let residual_moments = if setting.robust {
            Some(ResidualMoments::of(answer, current.len(), clip_factor)?)
        } else {
            None
        };
        Some(Self {
            residual_moments,
            modelled: setting.modelled(&joint),
            joint,
            has_intercept: setting.intercept == Intercept::Estimated,
            records: f64::from(setting.n_records),
            always: setting.always as usize,
            current,
        })
    }

    /// τ: the standard deviation of the noise on the diagonal.
    pub(crate) const fn noise(&self) -> f64 {
        self.joint.noise()
    }

    /// The same of the residual moments, if they were asked.
    pub(crate) fn residual_noise(&self) -> Option<f64> {
        self.residual_moments.as_ref().map(|moments| moments.noise)
    }

    /// Σω: what clipping left of the records.
    pub(crate) fn weights(&self) -> f64 {
        self.joint.matrix()[(0, 0)]
    }

    /// Means and covariance of the features at `places`, as far as clipping left them.
    pub(crate) fn spread(&self, places: &[usize]) -> (Vec<f64>, SquareMatrix) {
        let matrix = self.joint.matrix();
        let count = smaller(larger(self.weights(), 0.5 * self.records), self.records);
        let mean = |place: &usize| matrix[(0, place + 1)] / count;
        let means: Vec<f64> = places.iter().map(mean).collect();
        let covariance = SquareMatrix::from_fn(places.len(), |row, column| {
            let product = matrix[(places[row] + 1, places[column] + 1)] / count;
            product - means[row] * means[column]
        });
        (means, covariance)
    }

    /// How many features are in every model.
    pub(crate) const fn always(&self) -> usize {
        self.always
    }

    /// The normal equations of all features, for coefficients measured from zero.
    pub(crate) fn equations(&self) -> NoisyNormalEquations {
        self.modelled.normal_equations().shifted(&self.current)
    }

    /// The features of every model, and `kept`.
    pub(crate) fn places(&self, kept: &[usize]) -> Vec<usize> {
        (0..self.always).chain(kept.iter().copied()).collect()
    }

    /// Shrunk coefficients of the features of every model and of `kept`, in this order, and what the
    /// intercept changes by.
    pub(crate) fn shrunk(&self, kept: &[usize]) -> (Vec<f64>, f64, Solution) {
        let places = self.places(kept);
        let mut changes: Vec<f64> = self.current.iter().map(|value| -value).collect();
        let dropped: Vec<f64> = (0..self.current.len())
            .map(|place| {
                if places.contains(&place) {
                    0.0
                } else {
                    self.current[place]
                }
            })
            .collect();
        let equations = self.modelled.normal_equations();
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let expected = 1.0 / places.len().max(1) as f64;
        let solution = equations
            .shifted(&dropped)
            .restricted(&places)
            .solve_expecting(expected);
        let mut coefficients = Vec::with_capacity(places.len());
        for (place, change) in places.iter().zip(&solution.coefficients) {
            changes[*place] = *change;
            coefficients.push(self.current[*place] + change);
        }
        let intercept_change = self.modelled.intercept_change(&changes);
        (coefficients, intercept_change, solution)
    }

    /// Least squares on the features of every model and on `kept`, with eigenvalues of the second
    /// moments raised to the level of the noise, and the covariance of the coefficients.
    ///
    /// # Notation
    /// | symbol | is |
    /// |---|---|
    /// | G, g, h | second moments of x = (1?, features), of x with r, of r |
    /// | r | the residual, with the coefficients of features that are left out put back |
    /// | δ | G⁻¹g |
    /// | V_s | σ²G⁻¹, and with robust intervals a larger one ([`robust_covariance`]) |
    /// | V_p | G⁻¹BG⁻¹, B the covariance of the noise N in N·v, v = r − x'δ |
    ///
    /// # Why
    /// docs/proofs/inference_covariance.md#2-the-covariance. The sum of squares is divided by the records and not by
    /// their weights: G has the same weights, and they cancel.
    pub(crate) fn solve(&self, kept: &[usize]) -> Solved {
        let places = self.places(kept);
        let first = usize::from(self.has_intercept);
        let matrix = self.joint.matrix();
        let size = matrix.size();
        let constant = self.has_intercept.then_some(0);
        let features = places.iter().map(|place| place + 1);
        let variables: Vec<usize> = constant.into_iter().chain(features).collect();
        let mut residual = vec![0.0; size];
        residual[size - 1] = 1.0;
        for (place, value) in self.current.iter().enumerate() {
            if !places.contains(&place) {
                residual[place + 1] = *value;
            }
        }
        let products = matrix.times(&residual);
        let cross: Vec<f64> = variables.iter().map(|place| products[*place]).collect();
        let equations = NoisyNormalEquations {
            gram: matrix.restricted(&variables),
            cross,
            gram_noise: self.noise(),
            cross_noise: self.noise(),
        };
        let inverted = equations.inverted();
        let changes = inverted.inverse.times(&equations.cross);
        let left = dot(&residual, &products) - dot(&equations.cross, &changes);
        #[expect(clippy::cast_precision_loss, reason = "a support is small")]
        let freedom = larger(self.records - variables.len() as f64, 1.0);
        let residual_variance = larger(left, LEAST_VARIANCE * self.records) / freedom;
        let length = dot(&residual, &residual) + dot(&changes, &changes);
        // The noise N adds v'Nv to the sum of squares: its standard deviation is τ|v|².
        let added = NOISE_QUANTILE * self.noise() * length / freedom;
        let covariance = noise_covariance(&changes, length, self.noise());
        let inverse = &inverted.inverse;
        let privacy = inverse.times_matrix(&covariance).times_matrix(inverse);
        let sampling = match &self.residual_moments {
            None => SquareMatrix::from_fn(variables.len(), |row, column| {
                residual_variance * inverse[(row, column)]
            }),
            Some(moments) => {
                let asked = matrix[(size - 1, size - 1)];
                let put_back = larger(left - asked, 0.0) / self.records;
                let moments = moments.matrix.restricted(&variables);
                let middle = SquareMatrix::from_fn(variables.len(), |row, column| {
                    let known = moments[(row, column)] + put_back * inverted.gram[(row, column)];
                    known * (self.records / freedom)
                });
                robust_covariance(inverse, &middle, residual_variance)
            }
        };
        let after = |(index, place): (usize, &usize)| self.current[*place] + changes[first + index];
        Solved {
            first,
            coefficients: places.iter().enumerate().map(after).collect(),
            intercept_change: if first == 1 { changes[0] } else { 0.0 },
            squares: (first..variables.len())
                .map(|index| inverted.gram[(index, index)])
                .collect(),
            places,
            sampling,
            privacy,
            residual_variance,
            residual_variance_bound: residual_variance + added,
            condition: inverted.condition,
            repaired: inverted.repaired,
        }
    }
}

impl ResidualMoments {
    /// Reads the second block of the answer to the last question about so many features.
    fn of(answer: &Answer, n_features: usize, clip_factor: f64) -> Option<Self> {
        let block = answer.blocks.get(1)?;
        // u = 2·ω·r·x/C², so u·uᵀ is in units of (C²/2)².
        let unit = square(joint_norm(n_features, clip_factor)) / 2.0;
        Some(Self {
            matrix: second_moments(block, n_features + 1, unit),
            noise: block.noise_std_dev * square(unit),
        })
    }
}

/// The covariance of coefficients that allows for errors of unequal variance: G⁻¹HG⁻¹ with the eigenvalues of
/// G^(−1/2)·H·G^(−1/2) raised to at least σ². `inverse` is G⁻¹, `middle` H, `variance` σ².
///
/// # Why
/// docs/proofs/inference_covariance.md#3-errors-of-unequal-variance. H is noisy and may be negative in some direction. In no
/// direction is the result below σ²G⁻¹ or below G⁻¹HG⁻¹, so no combination of coefficients has too small a variance.
fn robust_covariance(inverse: &SquareMatrix, middle: &SquareMatrix, variance: f64) -> SquareMatrix {
    let root = inverse
        .symmetric_eigen()
        .recompose(|value| larger(value, 0.0).sqrt());
    let whitened = root.times_matrix(middle).times_matrix(&root);
    let raised = whitened
        .symmetric_eigen()
        .recompose(|value| larger(value, variance));
    root.times_matrix(&raised).times_matrix(&root)
}

/// The covariance of N·v in the coordinates of `part`, v having the squared length `length`:
/// (τ²/2)(|v|²·I + v·vᵀ).
///
/// # Why
/// N is symmetric with independent entries, of variance τ² on the diagonal and τ²/2 off it. So
/// var (Nv)_i = τ²v_i² + (τ²/2)Σ_{j≠i} v_j², and cov((Nv)_i, (Nv)_l) = var(N_il)·v_i·v_l.
pub(crate) fn noise_covariance(part: &[f64], length: f64, noise: f64) -> SquareMatrix {
    let half = square(noise) / 2.0;
    SquareMatrix::from_fn(part.len(), |row, column| {
        let diagonal = if row == column { length } else { 0.0 };
        half * (diagonal + part[row] * part[column])
    })
}

impl Solved {
    /// The estimate of the feature at `index` of [`Self::places`] in units of scaled features, where
    /// one unit of the residual is `scale`; `inflation` multiplies the part of its variance that is
    /// due to the records.
    pub(crate) fn estimate(&self, index: usize, scale: f64, inflation: f64) -> Estimate {
        let place = (self.first + index, self.first + index);
        let unit = square(scale);
        let sampling_variance = unit * inflation * self.sampling[place];
        Estimate {
            value: scale * self.coefficients[index],
            sampling_variance,
            variance: sampling_variance + unit * self.privacy[place],
        }
    }

    /// The estimates of the features at `indices` of [`Self::places`] as one group, with variances as of
    /// [`Self::estimate`]; none if these cannot be inverted.
    pub(crate) fn group_estimate(
        &self,
        indices: &[usize],
        scale: f64,
        inflation: f64,
    ) -> Option<GroupEstimate> {
        let places: Vec<usize> = indices.iter().map(|index| self.first + index).collect();
        let unit = square(scale);
        let sampling = SquareMatrix::from_fn(places.len(), |row, column| {
            unit * inflation * self.sampling[(places[row], places[column])]
        });
        let whole = SquareMatrix::from_fn(places.len(), |row, column| {
            sampling[(row, column)] + unit * self.privacy[(places[row], places[column])]
        });
        // Only of positive matrices are these the inverses of covariances.
        sampling.cholesky()?;
        whole.cholesky()?;
        let (sampling, whole) = (sampling.inverse()?, whole.inverse()?);
        let values: Vec<f64> = indices
            .iter()
            .map(|index| scale * self.coefficients[*index])
            .collect();
        let precisions = (0..places.len()).map(|at| (sampling[(at, at)], whole[(at, at)]));
        Some(GroupEstimate {
            squared_distance: dot(&values, &whole.times(&values)),
            precisions: precisions.collect(),
        })
    }

    /// The share of the variance that is due to the noise, counted as in the matrices.
    pub(crate) fn privacy_share(&self, index: usize) -> Option<f64> {
        let (sampling, privacy) = (self.sampling[(index, index)], self.privacy[(index, index)]);
        let share = privacy / (sampling + privacy);
        (0.0..=1.0).contains(&share).then_some(share)
    }
}
