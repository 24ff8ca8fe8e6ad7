//! One Newton step of a generalised linear model, from one more sum: the model that predicts, and estimates with intervals.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | z | (1, x): the constant, the features of every model and the kept ones, each in units of the feature scale |
//! | k | how many variables these are |
//! | C² | 1.5 k: the squared norm to which z is clipped |
//! | θ | the start |
//! | g, H | noisy sums of the score and of its curvature at θ |
//! | σ, τ | the standard deviations of the noise on g and on the diagonal of H |
//!
//! # Why
//! docs/proofs/score_step.md. The plain step θ + H⁻¹g is what intervals are about. The model that predicts takes a shrunk
//! step: where the noise outweighs what is known, a plain one would predict noise.

use sprifed_privacy::{Mu, Rounding};
use sprifed_query::{
    Answer, Constant, FeatureList, Limit, LinearModel, Link, PlanError, PlannedBlock, Question,
    ScoreStep,
};

use crate::conclusion::two_sided;
use crate::fit::{Fit, FitStatus};
use crate::inference::{
    Inference, Inferred, Interval, NoInterval, ReportedIntercept, ReportedTerm, Role, ScoreNoise,
};
use crate::joint::noise_covariance;
use crate::least_squares::NoisyNormalEquations;
use crate::moments::second_moments;
use crate::outcome::binary;
use crate::portable::{dot, norm, square};
use crate::selection::{Estimate, wald};
use crate::setting::Setting;
use crate::square_matrix::SquareMatrix;

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// The name of the block of the score.
pub const SCORE_BLOCK: &str = "score";

/// C²/k.
const CLIP_FACTOR: f64 = 1.5;

/// The squared length that a step is expected to have.
const EXPECTED_STEP: f64 = 4.0;

/// The longest step of a model that predicts.
const LONGEST_STEP: f64 = 4.0;

/// A model whose start explains so much of the variance of the response almost separates its values. The score is then far
/// from linear, and intervals from one step are too short.
const ALMOST_SEPARATED: f64 = 0.5;

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

/// A model at which a score is asked, in units of scaled features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Start {
    pub(crate) intercept: f64,
    pub(crate) coefficients: Vec<f64>,
    /// The share of the response's variance that it explains; not within zero and one where noise decides.
    pub(crate) explained: f64,
}

/// What follows from the last second moments.
#[derive(Clone, Debug)]
pub(crate) enum Ended {
    /// The fit.
    Fit(Box<Fit>),
    /// One more question.
    Refit(Box<Refit>),
}

impl Start {
    /// The start for this link; `slopes` say what one unit of each feature adds to the expected response.
    pub(crate) fn of(
        link: Link,
        mean: f64,
        slopes: &[f64],
        means: &[f64],
        covariance: &SquareMatrix,
    ) -> Self {
        match link {
            Link::Logit => binary::start(mean, slopes, means, covariance),
        }
    }
}

/// A refit that is waiting for its answer.
#[derive(Clone, Debug)]
pub(crate) struct Refit {
    pub(crate) link: Link,
    /// The private share of ones, or mean of another outcome.
    pub(crate) mean: f64,
    /// The features of every model, then the kept ones.
    pub(crate) features: Vec<u32>,
    pub(crate) start: Start,
    pub(crate) feature_scale: f64,
    /// Whether there are enough records for intervals of what was not selected.
    pub(crate) has_records: bool,
    /// What the second moments say: p-values, levels and the status. Its estimates are those of a linear model.
    pub(crate) linear: Fit,
}

/// A step and what is known of it.
struct Step {
    /// H⁻¹g, of the constant first.
    plain: Vec<f64>,
    /// That of the model that predicts.
    shrunk: Vec<f64>,
    sampling: SquareMatrix,
    privacy: SquareMatrix,
    condition: f64,
    repaired: usize,
    noise: (f64, f64),
}

impl Refit {
    /// C.
    #[expect(clippy::cast_precision_loss, reason = "a support is small")]
    fn norm(&self) -> f64 {
        (CLIP_FACTOR * (self.features.len() + 1) as f64).sqrt()
    }

    /// The questions, in the order of [`blocks`].
    pub(crate) fn questions(&self) -> Vec<Question> {
        let step = ScoreStep {
            link: self.link,
            support: FeatureList::of(&self.features),
            constant: Constant::One,
            model: self
                .model(self.start.intercept, &self.start.coefficients)
                .into(),
            feature: Limit::nearest(self.feature_scale),
            norm: Limit::nearest(self.norm()),
        };
        vec![
            Question::ScoreGradient(step.clone()),
            Question::ScoreCurvature(step),
        ]
    }

    /// A model of these coefficients of scaled features, in bounded units.
    fn model(&self, intercept: f64, coefficients: &[f64]) -> LinearModel {
        let terms = self.features.iter().zip(coefficients);
        LinearModel {
            intercept,
            terms: terms
                .map(|(feature, value)| (*feature, value / self.feature_scale))
                .collect(),
        }
    }

    /// The fit that the answer gives.
    pub(crate) fn finish(self, answer: &Answer) -> Fit {
        let Some(step) = self.step(answer) else {
            let model = self.model(self.start.intercept, &self.start.coefficients);
            return Fit {
                model,
                ..self.linear
            };
        };
        let moved = |index: usize, value: &f64| value + step.shrunk[index];
        let start = &self.start;
        let coefficients = start.coefficients.iter().enumerate();
        let coefficients: Vec<f64> = coefficients
            .map(|(index, value)| moved(index + 1, value))
            .collect();
        let model = self.model(moved(0, &start.intercept), &coefficients);
        let inference = match self.linear.inference.clone() {
            Inferred::Available(inference) => Inferred::Available(self.report(inference, &step)),
            none @ Inferred::NotAvailable { .. } => none,
        };
        Fit {
            status: self.status(&step),
            model,
            inference,
            residual_scale: None,
            provenance: Some(answer.provenance),
            ..self.linear
        }
    }

    /// Whether the values of the response are almost separated.
    fn is_almost_separated(&self) -> bool {
        self.start.explained >= ALMOST_SEPARATED
    }

    fn status(&self, step: &Step) -> FitStatus {
        let explained = self.start.explained;
        match self.linear.status {
            FitStatus::Complete if self.is_almost_separated() => {
                FitStatus::AlmostSeparated { explained }
            }
            FitStatus::Complete if step.repaired > 0 => FitStatus::IllConditioned {
                condition: step.condition,
                repaired: step.repaired,
            },
            status => status,
        }
    }

    /// The step that the two blocks of an answer give.
    #[expect(clippy::cast_precision_loss, reason = "a support is small")]
    fn step(&self, answer: &Answer) -> Option<Step> {
        let [gradient, curvature] = answer.blocks.as_slice() else {
            return None;
        };
        let size = self.features.len() + 1;
        let clip = self.norm();
        let unit = clip * self.link.most_residual();
        let values = gradient.values.iter().chain(core::iter::repeat(&0.0));
        let cross: Vec<f64> = values.take(size).map(|value| value * unit).collect();
        let curvature_norm = clip * self.link.most_weight().sqrt();
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
        Some(Step {
            shrunk: at_most_long(shrunk.coefficients),
            privacy: inverse.times_matrix(&added).times_matrix(inverse),
            sampling: inverted.inverse,
            plain,
            condition: inverted.condition,
            repaired: inverted.repaired,
            noise,
        })
    }

    /// The report of the second moments with the estimates and intervals of the step.
    fn report(&self, linear: Inference, step: &Step) -> Inference {
        let no_intervals = match linear.no_intervals {
            None if self.is_almost_separated() => Some(NoInterval::AlmostSeparated),
            other => other,
        };
        let has_intervals = no_intervals.is_none();
        let estimate = |place: usize, start: f64| {
            let sampling_variance = step.sampling[(place, place)];
            Estimate {
                value: start + step.plain[place],
                sampling_variance,
                variance: sampling_variance + step.privacy[(place, place)],
            }
        };
        let is_known = no_intervals.is_none_or(|reason| reason == NoInterval::FewRecords);
        let term = |(index, term): (usize, ReportedTerm)| {
            let found = estimate(index + 1, self.start.coefficients[index]);
            let (is_shown, p_value) = match term.role {
                Role::Selected => (has_intervals, term.p_value),
                Role::Always => (
                    has_intervals && self.has_records,
                    (is_known && self.has_records).then(|| two_sided(&found)),
                ),
            };
            let interval = is_shown.then(|| wald(&found, 1.0 - term.level));
            ReportedTerm {
                estimate: found.value / self.feature_scale,
                interval: interval.and_then(|found| Interval::in_units(found, self.feature_scale)),
                p_value: p_value.filter(|p_value| (0.0..=1.0).contains(p_value)),
                privacy_share: found.privacy_share(),
                ..term
            }
        };
        let intercept = linear.intercept.map(|intercept| {
            let found = estimate(0, self.start.intercept);
            let is_shown = has_intervals && self.has_records;
            let interval = is_shown.then(|| wald(&found, 1.0 - intercept.level));
            ReportedIntercept {
                estimate: found.value,
                interval: interval.and_then(|found| Interval::in_units(found, 1.0)),
                privacy_share: found.privacy_share(),
                ..intercept
            }
        });
        Inference {
            no_intervals,
            intercept,
            terms: linear.terms.into_iter().enumerate().map(term).collect(),
            covariance: self.covariance(step, is_known),
            score: Some(ScoreNoise {
                link: self.link,
                mean: self.mean,
                explained: self.start.explained,
                score_noise: step.noise.0,
                curvature_noise: step.noise.1,
            }),
            ..linear
        }
    }

    /// The covariance of intercept and coefficients in bounded units; empty if it does not hold or is not finite.
    fn covariance(&self, step: &Step, is_known: bool) -> Vec<f64> {
        let size = step.plain.len();
        let unit = |place: usize| {
            if place == 0 {
                1.0
            } else {
                1.0 / self.feature_scale
            }
        };
        let mut entries = Vec::with_capacity(size * (size + 1) / 2);
        for row in 0..size {
            for column in row..size {
                let sum = step.sampling[(row, column)] + step.privacy[(row, column)];
                entries.push(unit(row) * unit(column) * sum);
            }
        }
        if is_known && entries.iter().all(|entry| entry.is_finite()) {
            entries
        } else {
            Vec::new()
        }
    }
}

/// The step, made as short as a step that predicts may be.
fn at_most_long(mut step: Vec<f64>) -> Vec<f64> {
    let length = norm(&step);
    if length > LONGEST_STEP {
        for entry in &mut step {
            *entry *= LONGEST_STEP / length;
        }
    }
    step
}
