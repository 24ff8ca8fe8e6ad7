//! The paper's noise, as its pseudocode says: **not private**, for simulation and study only.
//!
//! The noise is a continuous Gaussian in floating point, made for sensitivities that do not hold
//! (see [`sprifed_privacy::paper`]); the sums are exact and no record is clipped. No ledger is
//! charged, no guarantee follows, and every answer says that it is simulated.

use core::f64::consts::TAU;

use rand_core::Rng;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use sprifed_noise::{NoiseGenerator, Provenance};
use sprifed_privacy::Mu;
use sprifed_query::{
    Answer, AnswerBlock, FeatureSet, LinearModel, Question, Record, Records, SumBackend, SumQuery,
};

use sprifed_recovery::{correlate_clipped_rows, correlate_rows};

#[cfg(test)]
mod tests;

/// The standard deviations of [SPRIFED, Algorithms 2, 3, 4 and 5], in units of the rescaled data,
/// with X_M = y_M = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperNoise {
    /// σ₁√p = √p/μ_p: on correlations with all features.
    pub vector_std: f64,
    /// σ₂√s = √s/μ_s: on the entries of PRIVATE-OLS.
    pub support_std: f64,
    /// σ₁ = 1/μ_p: on the one entry that DP-GCD asks for again.
    pub coordinate_std: f64,
    /// B_C: what the noise on gradients is multiplied with. The paper's tables need one.
    pub gradient_factor: f64,
    /// What each product of feature and residual is clipped at, as for the paper's real data.
    pub gradient_clip: Option<f64>,
}

impl PaperNoise {
    /// The paper's noise with B_C = 1 and no clipping.
    #[must_use]
    pub fn of(n_features: u32, sparsity: u32, per_vector: Mu, per_support: Mu) -> Self {
        Self {
            vector_std: f64::from(n_features).sqrt() / per_vector.get(),
            support_std: f64::from(sparsity).sqrt() / per_support.get(),
            coordinate_std: 1.0 / per_vector.get(),
            gradient_factor: 1.0,
            gradient_clip: None,
        }
    }

    /// No noise at all: the algorithms without privacy.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            vector_std: 0.0,
            support_std: 0.0,
            coordinate_std: 0.0,
            gradient_factor: 1.0,
            gradient_clip: None,
        }
    }
}

/// Why the backend did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PaperBackendError {
    /// The paper's algorithms ask nothing of the kind.
    #[error("the paper gives no noise for {found}; only its own algorithms can be simulated")]
    NotInPaper {
        /// The request.
        found: String,
    },
}

/// Answers the paper's questions with the paper's noise: NOT PRIVATE.
#[derive(Debug)]
pub struct PaperBackend<'a> {
    rows: Vec<&'a [f32]>,
    responses: Vec<f64>,
    n_features: usize,
    noise: PaperNoise,
    normal: NormalNoise,
}

impl<'a> PaperBackend<'a> {
    /// A backend over `records`, already clipped and rescaled as the paper does; the same `seed`
    /// gives the same noise.
    #[must_use]
    pub fn open(records: &Records<'a>, noise: PaperNoise, seed: u64) -> Self {
        let rows: Vec<&'a [f32]> = records.iter().map(|record| record.features).collect();
        let responses = records
            .iter()
            .map(|record| f64::from(record.response))
            .collect();
        let n_features = records.n_features();
        Self {
            rows,
            responses,
            n_features,
            noise,
            normal: NormalNoise::seeded(seed),
        }
    }

    fn answer_question(&mut self, question: &Question) -> Result<AnswerBlock, PaperBackendError> {
        let (sums, std_dev, unit) = match question {
            Question::ResponseCorrelation {
                features,
                feature_limit,
                response_limit,
            } => {
                let sums = self.correlations(&self.responses, features);
                let unit = feature_limit.get() * response_limit.get();
                (sums, self.noise.vector_std, unit)
            }
            Question::FeatureCorrelation {
                feature,
                features,
                feature_limit,
            } => {
                let sums = self.correlations(&self.column(*feature), features);
                (sums, self.noise.vector_std, feature_limit.get().powi(2))
            }
            Question::BoxedGradient {
                model,
                features,
                feature_limit,
                residual_limit,
            } => {
                let sums = self.gradient(model.as_model(), features);
                // Only Algorithm 5 queries the gradient of one feature, in its line 10.
                let std_dev = match features.len() {
                    1 => self.noise.coordinate_std,
                    _ => self.noise.vector_std,
                } * self.noise.gradient_factor;
                (sums, std_dev, feature_limit.get() * residual_limit.get())
            }
            Question::SupportResponse {
                feature,
                feature_limit,
                response_limit,
            } => {
                let sums = vec![dot(&self.column(*feature), &self.responses)];
                let unit = feature_limit.get() * response_limit.get();
                (sums, self.noise.support_std, unit)
            }
            Question::SupportRow {
                support,
                feature_limit,
            } => {
                let own = support.last().map_or(Vec::new(), |last| self.column(last));
                let sums = support.iter().map(|other| dot(&own, &self.column(other)));
                let sums = sums.collect();
                (sums, self.noise.support_std, feature_limit.get().powi(2))
            }
            other => {
                return Err(PaperBackendError::NotInPaper {
                    found: name_of(other),
                });
            }
        };
        let values = sums
            .into_iter()
            .map(|sum| (sum + std_dev * self.normal.draw()) / unit);
        Ok(AnswerBlock {
            values: values.collect(),
            noise_std_dev: std_dev / unit,
        })
    }

    fn correlations(&self, weights: &[f64], features: &FeatureSet) -> Vec<f64> {
        among(
            features,
            &correlate_rows(&self.rows, weights, self.n_features),
        )
    }

    fn gradient(&self, model: &LinearModel, features: &FeatureSet) -> Vec<f64> {
        let residuals = self.residuals(model);
        let Some(limit) = self.noise.gradient_clip else {
            return self.correlations(&residuals, features);
        };
        among(
            features,
            &correlate_clipped_rows(&self.rows, &residuals, self.n_features, limit),
        )
    }

    fn column(&self, feature: u32) -> Vec<f64> {
        let value = |row: &&[f32]| row.get(feature as usize).copied().map_or(0.0, f64::from);
        self.rows.iter().map(value).collect()
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "responses came in single precision"
    )]
    fn residuals(&self, model: &LinearModel) -> Vec<f64> {
        let pairs = self.rows.par_iter().zip(&self.responses);
        let residual = |(features, response): (&&'a [f32], &f64)| {
            model.residual(Record {
                features,
                response: *response as f32,
                is_present: true,
            })
        };
        pairs.map(residual).collect()
    }
}

impl SumBackend for PaperBackend<'_> {
    type Error = PaperBackendError;

    fn answer(&mut self, query: &SumQuery) -> Result<Answer, PaperBackendError> {
        let blocks = query
            .questions
            .iter()
            .map(|question| self.answer_question(question));
        Ok(Answer {
            blocks: blocks.collect::<Result<_, _>>()?,
            provenance: Provenance::Simulated,
            absent: Vec::new(),
        })
    }
}

/// Standard normal numbers in floating point, two for each pair of uniform ones.
#[derive(Debug)]
struct NormalNoise {
    generator: NoiseGenerator,
    spare: Option<f64>,
}

impl NormalNoise {
    fn seeded(seed: u64) -> Self {
        Self {
            generator: NoiseGenerator::simulated(seed),
            spare: None,
        }
    }

    /// Box and Muller's transformation.
    fn draw(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let length = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sine, cosine) = (TAU * self.uniform()).sin_cos();
        self.spare = Some(length * sine);
        length * cosine
    }

    /// Uniform on [0, 1), on a grid of 2⁻⁵³.
    #[expect(
        clippy::disallowed_methods,
        reason = "simulated noise, which protects no record"
    )]
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    fn uniform(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (0.5f64).powi(53)
    }
}

fn among(features: &FeatureSet, all: &[f64]) -> Vec<f64> {
    features
        .iter()
        .map(|feature| all.get(feature as usize).copied().unwrap_or(0.0))
        .collect()
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

/// The variant's name, without what it is about.
fn name_of(question: &Question) -> String {
    let text = format!("{question:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_owned()
}
