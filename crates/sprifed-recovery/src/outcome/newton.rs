//! One step of Newton's method from the noisy answer to a `ScoreStep`, with what is known of its errors.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | k | how many variables the step is about, the constant first |
//! | C² | 1.5 k: the squared norm to which the variables of a record are clipped |
//! | g, H | noisy sums of the score and of its curvature |
//! | σ, τ | the standard deviations of the noise on g and on the diagonal of H |

use sprifed_privacy::{Mu, Rounding};
use sprifed_query::{Answer, PlanError, PlannedBlock};

use crate::joint::noise_covariance;
use crate::least_squares::NoisyNormalEquations;
use crate::moments::second_moments;
use crate::portable::{dot, norm, square};
use crate::selection::Estimate;
use crate::setting::Setting;
use crate::square_matrix::SquareMatrix;

/// The name of the block of the score.
pub const SCORE_BLOCK: &str = "score";

/// C²/k.
const CLIP_FACTOR: f64 = 1.5;

/// The squared length that a step is expected to have.
const EXPECTED_STEP: f64 = 4.0;

/// The blocks of the score and of its curvature, for at most so many features.
pub(super) fn blocks(
    setting: &Setting,
    n_features: usize,
    gradient: Mu,
    curvature: Mu,
) -> Result<Vec<PlannedBlock>, PlanError> {
    let (planner, size) = (setting.planner(), n_features + 1);
    let dithered = Rounding::Dithered;
    Ok(vec![
        planner.ball(SCORE_BLOCK, size, gradient, dithered)?,
        planner.ball(
            "score curvature",
            size * (size + 1) / 2,
            curvature,
            dithered,
        )?,
    ])
}

/// C, for so many features.
#[expect(clippy::cast_precision_loss, reason = "a support is small")]
pub(super) fn clip_norm(n_features: usize) -> f64 {
    (CLIP_FACTOR * (n_features + 1) as f64).sqrt()
}

/// What a record can contribute at most, in units of C and C².
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    pub(super) residual: f64,
    pub(super) weight: f64,
}

/// A step and what is known of it.
pub(super) struct Step {
    /// H⁻¹g, of the constant first.
    pub(super) plain: Vec<f64>,
    /// That of the model that predicts.
    pub(super) shrunk: Vec<f64>,
    pub(super) sampling: SquareMatrix,
    pub(super) privacy: SquareMatrix,
    pub(super) condition: f64,
    pub(super) repaired: usize,
    /// σ and τ.
    pub(super) noise: (f64, f64),
}

impl Step {
    /// The step for so many features that the two blocks of an answer give.
    #[expect(clippy::cast_precision_loss, reason = "a support is small")]
    pub(super) fn of(answer: &Answer, n_features: usize, most: Most) -> Option<Self> {
        let [gradient, curvature] = answer.blocks.as_slice() else {
            return None;
        };
        let size = n_features + 1;
        let clip = clip_norm(n_features);
        let unit = clip * most.residual;
        let values = gradient.values.iter().chain(core::iter::repeat(&0.0));
        let cross: Vec<f64> = values.take(size).map(|value| value * unit).collect();
        let curvature_norm = clip * most.weight.sqrt();
        let noise = (
            gradient.noise_std_dev * unit,
            curvature.noise_std_dev * square(curvature_norm),
        );
        let equations = NoisyNormalEquations {
            gram: second_moments(curvature, size, curvature_norm),
            cross,
            gram_noise: noise.1,
            cross_noise: noise.0,
        };
        let inverted = equations.inverted();
        let inverse = &inverted.inverse;
        let plain = inverse.times(&equations.cross);
        let of_curvature = noise_covariance(&plain, dot(&plain, &plain), noise.1);
        let added = SquareMatrix::from_fn(size, |row, column| {
            let of_score = if row == column { square(noise.0) } else { 0.0 };
            of_curvature[(row, column)] + of_score
        });
        let shrunk = equations.solve_expecting(EXPECTED_STEP / size as f64);
        Some(Self {
            shrunk: shrunk.coefficients,
            privacy: inverse.times_matrix(&added).times_matrix(inverse),
            sampling: inverted.inverse,
            plain,
            condition: inverted.condition,
            repaired: inverted.repaired,
            noise,
        })
    }

    /// The estimate at `place`, the constant first, from a start with this value there.
    pub(super) fn estimate(&self, place: usize, start: f64) -> Estimate {
        let sampling_variance = self.sampling[(place, place)];
        Estimate {
            value: start + self.plain[place],
            sampling_variance,
            variance: sampling_variance + self.privacy[(place, place)],
        }
    }
}

/// The step of a model that predicts, made at most so long.
pub(super) fn at_most_long(mut step: Vec<f64>, longest: f64) -> Vec<f64> {
    let length = norm(&step);
    if length > longest {
        for entry in &mut step {
            *entry *= longest / length;
        }
    }
    step
}
