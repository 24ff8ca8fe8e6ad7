//! Generated records with a known sparse model.
//!
//! Each row has its own stream, derived from the seed, so a world does not depend on how many
//! threads made it.

use rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use serde::{Deserialize, Serialize};
use sprifed_query::{LinearModel, Record, RecordSource};
use sprifed_recovery::Fit;

use crate::kept::Kept;
use crate::odds::{OddsScores, Predictors, logistic, odds_model, projected_factor};
use crate::projection::projection;
use crate::sites::WorldSites;
use crate::times::{self, Spread, TimeScores, hazard_model};
use crate::trial::typical_response;

mod outcome;
#[cfg(test)]
mod tests;

pub use self::outcome::WorldOutcome;

/// How features depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correlation {
    /// Independent features.
    None,
    /// Neighbours at distance d have correlation ρᵈ.
    Autoregressive(f64),
    /// Every two features have the same correlation.
    Equal(f64),
}

/// How much of the response the model leaves unexplained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unexplained {
    /// Standard deviation of the error.
    ErrorStdDev(f64),
    /// Share of the response's variance that the true model explains.
    PopulationR2(f64),
}

/// How the generated numbers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// Raw standard normal features and the response as it is.
    Clean,
    /// The paper's: features clipped at one and rescaled to unit variance, the response generated
    /// from them, clipped at one and rescaled.
    Paper,
}

/// A world to generate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldRequest {
    /// n.
    pub records: usize,
    /// Further records for testing.
    pub test_records: usize,
    /// p.
    pub features: usize,
    /// s: how many features are sought at most.
    pub sparsity: usize,
    /// How many features the true model has.
    pub support: usize,
    /// How features depend on each other.
    pub correlation: Correlation,
    /// How much the model leaves unexplained.
    pub unexplained: Unexplained,
    /// How the numbers are read.
    pub reading: Reading,
    /// What the response is.
    #[serde(default, skip_serializing_if = "WorldOutcome::is_linear")]
    pub outcome: WorldOutcome,
    /// The sites of the records.
    #[serde(default = "no_sites")]
    pub sites: WorldSites,
}

const fn no_sites() -> WorldSites {
    WorldSites::NONE
}

impl WorldRequest {
    /// Independent features and an error of a tenth, read without the paper's clipping; no records to test on.
    #[must_use]
    pub const fn clean(records: usize, features: usize, sparsity: usize) -> Self {
        Self {
            records,
            test_records: 0,
            features,
            sparsity,
            support: sparsity,
            correlation: Correlation::None,
            unexplained: Unexplained::ErrorStdDev(0.1),
            reading: Reading::Clean,
            outcome: WorldOutcome::Linear,
            sites: WorldSites::NONE,
        }
    }

    /// How many numbers a record has: its features, and then an indicator of each site.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.features + self.sites.count
    }
}

/// A generated world.
#[derive(Clone, Debug)]
pub struct World {
    rows: Rows,
    features: Vec<f32>,
    responses: Vec<f32>,
}

/// The records of a world, generated on demand: only the model is held in memory.
#[derive(Clone, Debug)]
pub struct Rows {
    request: WorldRequest,
    seed: u64,
    truth: LinearModel,
    error_std_dev: f64,
    site_means: Vec<f64>,
    /// The number after the last record of each site.
    site_ends: Vec<usize>,
}

/// The variance of a standard normal clipped to [−1, 1]: 1 − 2φ(1).
const CLIPPED_VARIANCE: f64 = 0.516_058_550_961_713_3;

impl Rows {
    /// The rows of this seed, as they are before the response is rescaled in the paper's reading.
    #[must_use]
    pub fn generate(request: WorldRequest, seed: u64) -> Self {
        let mut stream = stream_of(seed, u64::MAX);
        let truth = draw_truth(&request, &mut stream);
        let truth = match request.outcome {
            WorldOutcome::Linear => truth,
            WorldOutcome::Binary { spread, prevalence } => {
                let drawn = quadratic(&truth.terms, &truth.terms, request.correlation).sqrt();
                odds_model(truth, drawn, spread, prevalence)
            }
            WorldOutcome::Survival { spread, events } => {
                let drawn = quadratic(&truth.terms, &truth.terms, request.correlation).sqrt();
                hazard_model(truth, drawn, spread, events)
            }
        };
        // Without a true feature the errors are as large as if those that are sought were true.
        let explained = match truth.terms.is_empty() {
            true => typical_response(request.sparsity).powi(2),
            false => quadratic(&truth.terms, &truth.terms, request.correlation),
        };
        let between = request.sites.r2;
        let (error_std_dev, total) = match request.unexplained {
            Unexplained::ErrorStdDev(error) => {
                (error, (explained + error * error) / (1.0 - between))
            }
            Unexplained::PopulationR2(share) if between > 0.0 => {
                let total = explained / share;
                ((total * (1.0 - share - between).max(0.0)).sqrt(), total)
            }
            Unexplained::PopulationR2(share) => (
                (explained * (1.0 - share) / share).sqrt(),
                explained / share,
            ),
        };
        let std_dev = (total * between).sqrt();
        let site_means = request.sites.means(request.records, std_dev, &mut stream);
        let sizes = request.sites.sizes(request.records).into_iter();
        let site_ends = sizes.scan(0, |end, size| {
            *end += size as usize;
            Some(*end)
        });
        Self {
            request,
            seed,
            truth,
            error_std_dev,
            site_means,
            site_ends: site_ends.collect(),
        }
    }

    /// Writes the features of one row and returns its response.
    fn fill(&self, row: usize, values: &mut [f32]) -> f32 {
        let mut stream = stream_of(self.seed, row as u64);
        let (values, indicators) = values.split_at_mut(self.request.features);
        fill_row(values, &self.request, &mut stream);
        match self.request.outcome {
            WorldOutcome::Linear => {}
            WorldOutcome::Binary { .. } => {
                let share = logistic(self.truth.predict(values));
                return f32::from(u8::from(uniform(&mut stream) < share));
            }
            WorldOutcome::Survival { .. } => {
                return times::draw(self.truth.predict(values), &mut stream);
            }
        }
        let error: f64 = StandardNormal.sample(&mut stream);
        let site = self.site_ends.iter().take_while(|end| row >= **end).count();
        if let Some(indicator) = indicators.get_mut(site) {
            *indicator = 1.0;
        }
        let own = self.site_means.get(site).copied().unwrap_or(0.0);
        let expected = self.truth.predict(values) + own;
        #[expect(clippy::cast_possible_truncation, reason = "records are stored in f32")]
        let exact = (expected + self.error_std_dev * error) as f32;
        exact
    }

    /// The model that generated the responses.
    #[must_use]
    pub const fn truth(&self) -> &LinearModel {
        &self.truth
    }

    /// How many features of the true model `model` has found.
    #[must_use]
    pub fn recovered(&self, model: &LinearModel) -> usize {
        let found = model.support();
        self.truth
            .terms
            .iter()
            .filter(|(feature, _)| found.contains(feature))
            .count()
    }

    /// What `fit` kept; its intervals are judged in the clean reading.
    #[must_use]
    pub fn kept(&self, fit: &Fit) -> Kept {
        let is_clean = self.request.reading == Reading::Clean;
        let correlation = is_clean.then_some(self.request.correlation);
        let targets = |features: &[u32]| {
            let linear = projection(&self.truth, features, correlation?)?;
            Some(match self.request.outcome {
                WorldOutcome::Linear => linear,
                WorldOutcome::Binary { .. } => self.scaled(features, linear, projected_factor),
                WorldOutcome::Survival { .. } => {
                    self.scaled(features, linear, times::projected_factor)
                }
            })
        };
        Kept::of(fit, &self.truth, targets)
    }

    /// The coefficients of the best model of these features, from those of the best linear prediction of the linear
    /// predictor: `factor` says by what these are to be multiplied, from the intercept, the variance of that prediction and
    /// that of the rest.
    fn scaled(
        &self,
        features: &[u32],
        linear: Vec<f64>,
        factor: fn(f64, f64, f64) -> f64,
    ) -> Vec<f64> {
        let (truth, correlation) = (&self.truth, self.request.correlation);
        let terms: Vec<(u32, f64)> = features
            .iter()
            .copied()
            .zip(linear.iter().copied())
            .collect();
        let known = quadratic(&terms, &terms, correlation);
        let all = quadratic(&truth.terms, &truth.terms, correlation);
        let factor = factor(truth.intercept, known, all - known);
        linear.into_iter().map(|slope| factor * slope).collect()
    }

    /// How well `model` predicts the probability of a one over the population; none where the response is a number.
    #[must_use]
    pub fn odds_scores(&self, model: &LinearModel) -> Option<OddsScores> {
        let WorldOutcome::Binary { .. } = self.request.outcome else {
            return None;
        };
        let (truth, correlation) = (&self.truth, self.request.correlation);
        Some(OddsScores::of(&Predictors {
            true_mean: truth.intercept,
            true_variance: quadratic(&truth.terms, &truth.terms, correlation),
            model_mean: model.intercept,
            model_variance: quadratic(&model.terms, &model.terms, correlation),
            covariance: quadratic(&truth.terms, &model.terms, correlation),
        }))
    }

    /// How well `model` tells whose event comes first; none where the response is no time.
    #[must_use]
    pub fn time_scores(&self, model: &LinearModel) -> Option<TimeScores> {
        let WorldOutcome::Survival { .. } = self.request.outcome else {
            return None;
        };
        let (truth, correlation) = (&self.truth, self.request.correlation);
        Some(TimeScores::of(Spread {
            truth: quadratic(&truth.terms, &truth.terms, correlation),
            model: quadratic(&model.terms, &model.terms, correlation),
            covariance: quadratic(&truth.terms, &model.terms, correlation),
        }))
    }

    /// The mean squared error of `model` over the population of the clean reading, and that of
    /// predicting zero. Of sites, it is that for records of a new one; of zeros and ones, the error of a probability, and
    /// that of the share of ones; of times, the error of the probability that the first of two records has its event first,
    /// and that of a half.
    #[must_use]
    pub fn population_errors(&self, model: &LinearModel) -> (f64, f64) {
        if let Some(scores) = self.odds_scores(model) {
            return (scores.brier, scores.null_brier);
        }
        if let Some(scores) = self.time_scores(model) {
            return (scores.brier, scores.null_brier);
        }
        let mut difference = self.truth.terms.clone();
        difference.extend(
            model
                .terms
                .iter()
                .map(|(feature, value)| (*feature, -value)),
        );
        let correlation = self.request.correlation;
        let sizes = self.request.sites.sizes(self.request.records);
        let means = sizes.iter().zip(&self.site_means);
        let between: f64 = means
            .map(|(size, mean)| f64::from(*size) * mean * mean)
            .sum();
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
        let between = between / self.request.records.max(1) as f64;
        let noise = self.error_std_dev * self.error_std_dev + between;
        let wrong = quadratic(&difference, &difference, correlation);
        let all = quadratic(&self.truth.terms, &self.truth.terms, correlation);
        (
            wrong + model.intercept * model.intercept + noise,
            all + noise,
        )
    }
}

impl RecordSource for Rows {
    fn n_features(&self) -> usize {
        self.request.columns()
    }

    fn n_units(&self) -> usize {
        self.request.records
    }

    fn visit_unit(&self, unit: usize, visit: &mut dyn FnMut(Record<'_>)) {
        let mut values = vec![0f32; self.request.columns()];
        let response = self.fill(unit, &mut values);
        visit(Record {
            features: &values,
            response,
            is_present: true,
        });
    }
}

impl World {
    /// The world of this seed.
    #[must_use]
    pub fn generate(request: WorldRequest, seed: u64) -> Self {
        let source = Rows::generate(request, seed);
        let rows = request.records + request.test_records;
        let mut features = vec![0f32; rows * request.columns()];
        let mut responses = vec![0f32; rows];
        features
            .par_chunks_exact_mut(request.columns().max(1))
            .zip(responses.par_iter_mut())
            .enumerate()
            .for_each(|(row, (values, response))| *response = source.fill(row, values));
        if request.reading == Reading::Paper {
            clip_and_rescale(&mut responses);
        }
        Self {
            rows: source,
            features,
            responses,
        }
    }

    /// The requested world.
    #[must_use]
    pub const fn request(&self) -> WorldRequest {
        self.rows.request
    }

    /// The features of the training records, row by row, each followed by the indicators of its site.
    #[must_use]
    pub fn features(&self) -> &[f32] {
        let request = self.rows.request;
        &self.features[..request.records * request.columns()]
    }

    /// The responses of the training records.
    #[must_use]
    pub fn responses(&self) -> &[f32] {
        &self.responses[..self.rows.request.records]
    }

    /// The model that generated the responses.
    #[must_use]
    pub const fn truth(&self) -> &LinearModel {
        &self.rows.truth
    }

    /// How many features of the true model `model` has found.
    #[must_use]
    pub fn recovered(&self, model: &LinearModel) -> usize {
        self.rows.recovered(model)
    }

    /// How well `model` predicts the probability of a one over the population; none where the response is a number.
    #[must_use]
    pub fn odds_scores(&self, model: &LinearModel) -> Option<OddsScores> {
        self.rows.odds_scores(model)
    }

    /// How well `model` tells whose event comes first; none where the response is no time.
    #[must_use]
    pub fn time_scores(&self, model: &LinearModel) -> Option<TimeScores> {
        self.rows.time_scores(model)
    }

    /// What `fit` kept; its intervals are judged in the clean reading.
    #[must_use]
    pub fn kept(&self, fit: &Fit) -> Kept {
        self.rows.kept(fit)
    }

    /// The mean squared error of `model` on new records, and that of predicting zero.
    ///
    /// Exact over the population in the clean reading, on the test records in the paper's.
    #[must_use]
    pub fn errors(&self, model: &LinearModel) -> (f64, f64) {
        match self.rows.request.reading {
            Reading::Clean => self.rows.population_errors(model),
            Reading::Paper => self.test_errors(model),
        }
    }

    fn test_errors(&self, model: &LinearModel) -> (f64, f64) {
        let request = self.rows.request;
        let start = request.records;
        let rows = self.features[start * request.columns()..]
            .chunks_exact(request.columns())
            .zip(&self.responses[start..]);
        let mut sums = (0.0, 0.0);
        for (row, response) in rows {
            let response = f64::from(*response);
            sums.0 += (response - model.predict(row)).powi(2);
            sums.1 += response * response;
        }
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 records")]
        let count = request.test_records.max(1) as f64;
        (sums.0 / count, sums.1 / count)
    }
}

/// The numbers below `count` in an order that the seed decides: for splits and sub-samples that can
/// be repeated.
#[must_use]
pub fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut stream = stream_of(seed, u64::MAX - 1);
    let mut order: Vec<usize> = (0..count).collect();
    for place in (1..count).rev() {
        #[expect(clippy::cast_possible_truncation, reason = "at most `place`")]
        let other = (stream.next_u64() % (place as u64 + 1)) as usize;
        order.swap(place, other);
    }
    order
}

pub(crate) fn stream_of(seed: u64, row: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(row))
}

/// A number from zero to below one.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
pub(crate) fn uniform(stream: &mut Xoshiro256PlusPlus) -> f64 {
    (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A random support with coefficients from N(2, 1).
fn draw_truth(request: &WorldRequest, stream: &mut Xoshiro256PlusPlus) -> LinearModel {
    let mut terms: Vec<(u32, f64)> = Vec::new();
    while terms.len() < request.support.min(request.features) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "below the number of features"
        )]
        let feature = (stream.next_u64() % request.features as u64) as u32;
        if terms.iter().all(|(known, _)| *known != feature) {
            let deviate: f64 = StandardNormal.sample(stream);
            terms.push((feature, 2.0 + deviate));
        }
    }
    LinearModel {
        intercept: 0.0,
        terms,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "records are stored in f32")]
fn fill_row(values: &mut [f32], request: &WorldRequest, stream: &mut Xoshiro256PlusPlus) {
    for value in values.iter_mut() {
        *value = StandardNormal.sample(stream);
    }
    match request.correlation {
        Correlation::None => {}
        Correlation::Autoregressive(correlation) => {
            let (keep, fresh) = (
                correlation as f32,
                (1.0 - correlation * correlation).sqrt() as f32,
            );
            let mut before = values.first().copied().unwrap_or(0.0);
            for value in values.iter_mut().skip(1) {
                before = keep * before + fresh * *value;
                *value = before;
            }
        }
        Correlation::Equal(correlation) => {
            let common: f32 = StandardNormal.sample(stream);
            let (shared, own) = (correlation.sqrt() as f32, (1.0 - correlation).sqrt() as f32);
            for value in values.iter_mut() {
                *value = shared * common + own * *value;
            }
        }
    }
    if request.reading == Reading::Paper {
        let rescale = (1.0 / CLIPPED_VARIANCE.sqrt()) as f32;
        for value in values.iter_mut() {
            *value = value.clamp(-1.0, 1.0) * rescale;
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "records are stored in f32, and there are far fewer than 2^53"
)]
fn clip_and_rescale(responses: &mut [f32]) {
    for response in responses.iter_mut() {
        *response = response.clamp(-1.0, 1.0);
    }
    let count = responses.len().max(1) as f64;
    let mean = responses.iter().map(|y| f64::from(*y)).sum::<f64>() / count;
    let variance = responses
        .iter()
        .map(|y| (f64::from(*y) - mean).powi(2))
        .sum::<f64>()
        / count;
    let rescale = (1.0 / variance.sqrt().max(1e-12)) as f32;
    for response in responses.iter_mut() {
        *response *= rescale;
    }
}

impl Correlation {
    /// The population covariance of two features of unit variance.
    pub(crate) fn between(self, left: u32, right: u32) -> f64 {
        match self {
            _ if left == right => 1.0,
            Self::None => 0.0,
            Self::Autoregressive(rho) => rho.powf(f64::from(left.abs_diff(right))),
            Self::Equal(rho) => rho,
        }
    }
}

/// aᵀ Σ b for sparse vectors under the population covariance.
fn quadratic(left: &[(u32, f64)], right: &[(u32, f64)], correlation: Correlation) -> f64 {
    left.iter()
        .map(|(a, x)| {
            right
                .iter()
                .map(|(b, y)| x * y * correlation.between(*a, *b))
                .sum::<f64>()
        })
        .sum()
}
