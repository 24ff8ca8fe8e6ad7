//! What a procedure may be expected to find, from public facts alone and within milliseconds.
//!
//! A forecast generates records and runs the procedure on them, which takes seconds to minutes. The choice of a procedure
//! cannot wait for that, so this module draws *scores* instead of records: the correlations of the true features,
//! their sampling error, the noise of each question and the largest of all false scores. It follows each procedure
//! question by question, with the shares of its plan. The draws have a fixed seed, so an answer is the same each time.
//!
//! Assumed: standardised features, normal errors, coefficients from N(2, 1) and the stated share of explained variance.
//! Slow tests compare it with trials on generated records. It is an approximation and no promise.

use rand_distr::{Distribution, Gumbel, StandardNormal};
use sprifed_query::PlanError;
use sprifed_recovery::selection::normal::quantile;
use sprifed_recovery::{
    BudgetNoise, CHOICES_SHARE, CertifiedProcedure, GRADIENTS_SHARE, Keep, PrivateChoice, Setting,
    best_clip, kept_signal,
};

use crate::world::{Correlation, stream_of};

#[cfg(test)]
mod tests;

/// What is assumed of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumed {
    /// Share of the response's variance that the true model explains.
    pub population_r2: f64,
    /// How features depend on each other.
    pub correlation: Correlation,
}

/// What a procedure may be expected to find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The share of the true features that is found.
    pub recovered_share: f64,
    /// R² on new records; predicting the mean has zero.
    pub test_r2: f64,
}

/// How many models are drawn.
const DRAWS: u64 = 64;

/// The seed of the draws.
const SEED: u64 = 20_261_118;

/// The share of ρ or μ² that argmax OMP, the sieve and GRAD give to each other kind of question.
const ARGMAX_UPDATES: f64 = 0.27;
const ARGMAX_FINAL: f64 = 0.13;
const SUMS_FINAL: f64 = 0.08;
const WORKING_SHARE: f64 = 0.05;

/// The plan of argmax OMP fills the budget by composing privacy losses, which buys about this much more ρ than zCDP.
const ARGMAX_GAIN: f64 = 1.1;

/// The sums find what the approximation says with this share of the records: it leaves out that rows are clipped and that
/// the scale of the residual is itself an estimate.
const SUMS_EFFICIENCY: f64 = 0.8;

/// A pooled estimate enters the model between rounds at this many of its standard deviations.
const THRESHOLD: f64 = 4.0;

/// A finalist is told from chance by the last question at this many of its standard errors.
const FINAL_THRESHOLD: f64 = 1.5;

/// The largest share of false features among those that are kept, by which features are significant.
const FALSE_SHARE: f64 = 0.1;

/// Recall under AR(0.9) over that without correlation, by trials at p = 2500, s = 5, n = 1500 (docs/recovery.md). Up to
/// AR(0.5) there is no difference; between them the loss is interpolated.
const SIEVE_AT_NINE_TENTHS: f64 = 0.8;
const GRAD_AT_NINE_TENTHS: f64 = 0.95;
const ARGMAX_AT_NINE_TENTHS: f64 = 0.99;

impl Expected {
    /// As good as predicting the mean.
    pub const NOTHING: Self = Self {
        recovered_share: 0.0,
        test_r2: 0.0,
    };

    /// What `procedure` may be expected to find; nothing if it is not one that this module knows.
    ///
    /// # Errors
    /// When the setting makes no sense or its budget is too small.
    pub fn of(
        procedure: CertifiedProcedure,
        setting: &Setting,
        assumed: Assumed,
    ) -> Result<Self, PlanError> {
        setting.check()?;
        let noise = BudgetNoise::of(setting)?;
        let known: [(CertifiedProcedure, Follow, f64); 3] = [
            (CertifiedProcedure::ARGMAX, argmax, ARGMAX_AT_NINE_TENTHS),
            (CertifiedProcedure::SIEVE, sieve, SIEVE_AT_NINE_TENTHS),
            (CertifiedProcedure::GRAD, grad, GRAD_AT_NINE_TENTHS),
        ];
        let known = known.into_iter().find(|(one, ..)| *one == procedure);
        let Some((_, follow, kept)) = known else {
            return Ok(Self::NOTHING);
        };
        let facts = Facts::of(setting, noise);
        let mut found = Vec::new();
        for draw in 0..DRAWS {
            let mut stream = stream_of(SEED, draw);
            let truth = Truth::draw(setting.sparsity, assumed.population_r2, &mut stream);
            found.push(follow(&facts, &truth, &mut stream));
        }
        let share = mean(found.iter().map(|found| found.recovered_share));
        let r2 = mean(found.iter().map(|found| found.test_r2));
        let kept = correlated(kept, assumed.correlation);
        Ok(Self {
            recovered_share: share * kept,
            test_r2: if r2 > 0.0 { r2 * kept } else { r2 },
        })
    }
}

/// One procedure on one draw.
type Follow = fn(&Facts, &Truth, &mut Stream) -> Expected;

type Stream = rand_xoshiro::Xoshiro256PlusPlus;

/// The public numbers of a study.
#[derive(Clone, Copy, Debug)]
struct Facts {
    records: f64,
    features: f64,
    sparsity: usize,
    choice: Keep,
    noise: BudgetNoise,
}

impl Facts {
    fn of(setting: &Setting, noise: BudgetNoise) -> Self {
        Self {
            records: f64::from(setting.n_records),
            features: f64::from(setting.n_features),
            sparsity: setting.sparsity as usize,
            choice: setting.choice,
            noise,
        }
    }

    /// Whether the model is the mean because none of the found features is significant among `tests` tests.
    fn keeps_none(&self, is_found: &[bool], estimates: &[f64], own: f64, tests: f64) -> bool {
        let least = quantile(1.0 - FALSE_SHARE / (2.0 * tests)) * own.sqrt();
        let mut each = is_found.iter().zip(estimates);
        let is_significant =
            |(is_found, estimate): (&bool, &f64)| *is_found && estimate.abs() > least;
        self.choice == Keep::Significant && !each.any(is_significant)
    }

    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    const fn active(&self) -> f64 {
        self.sparsity as f64
    }
}

/// The true features of one draw, in units of the response's standard deviation.
struct Truth {
    /// Correlation with the response, and its sampling error in standard deviations.
    effects: Vec<(f64, f64)>,
}

impl Truth {
    fn draw(sparsity: u32, population_r2: f64, stream: &mut Stream) -> Self {
        let mut normal = || -> f64 { StandardNormal.sample(stream) };
        let drawn: Vec<(f64, f64)> = (0..sparsity).map(|_| (2.0 + normal(), normal())).collect();
        let squares: f64 = drawn
            .iter()
            .map(|(coefficient, _)| coefficient.powi(2))
            .sum();
        let unit = (population_r2 / squares.max(f64::MIN_POSITIVE)).sqrt();
        let effects = drawn.into_iter();
        Self {
            effects: effects
                .map(|(coefficient, error)| (coefficient * unit, error))
                .collect(),
        }
    }

    /// The variance of the response that the features `is_found` leave.
    fn left_by(&self, is_found: &[bool]) -> f64 {
        let found = self
            .effects
            .iter()
            .zip(is_found)
            .filter(|(_, found)| **found);
        (1.0 - found.map(|((effect, _), _)| effect * effect).sum::<f64>()).max(1e-6)
    }

    /// What the last question estimates of each effect, if each estimate has the variance `own`.
    fn estimates(&self, own: f64, stream: &mut Stream) -> Vec<f64> {
        let mut error = || -> f64 { StandardNormal.sample(stream) };
        let effects = self.effects.iter();
        effects
            .map(|(effect, _)| effect + own.sqrt() * error())
            .collect()
    }

    /// What the last solve gives: `own` and `false_error` are the variances of a true and of a false coefficient.
    fn scored(&self, is_found: &[bool], own: f64, false_error: f64) -> Expected {
        #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
        let active = self.effects.len().max(1) as f64;
        let prior = self.left_by(is_found) / active;
        let (mut recovered, mut test_r2) = (0.0, 0.0);
        for ((effect, _), found) in self.effects.iter().zip(is_found) {
            let (effect, error) = if *found {
                (*effect, own)
            } else {
                (0.0, false_error)
            };
            recovered += f64::from(u8::from(*found));
            // The solve shrinks by the variance that it expects of a coefficient.
            let weight = prior / (prior + error);
            let wrong = ((1.0 - weight) * effect).powi(2) + weight * weight * error;
            test_r2 += effect * effect - wrong;
        }
        Expected {
            recovered_share: recovered / active,
            test_r2,
        }
    }
}

/// Argmax OMP: s private choices, an update after each, one last question.
fn argmax(facts: &Facts, truth: &Truth, stream: &mut Stream) -> Expected {
    let (records, features, active) = (facts.records, facts.features, facts.active());
    let rho = facts.noise.rho * ARGMAX_GAIN;
    let rho_of_one = rho * CHOICES_SHARE / active;
    let choice = PrivateChoice::among(records, features, rho_of_one, facts.noise.moves);
    let update = (2.0 * rho * ARGMAX_UPDATES / active).sqrt() / facts.noise.moves;
    let last = (2.0 * rho * ARGMAX_FINAL).sqrt() / facts.noise.moves;
    let mut is_found = vec![false; facts.sparsity];
    let mut picked: f64 = 0.0;
    let mut misfit: f64 = 0.0;
    let gumbel = |stream: &mut Stream| Gumbel::new(0.0, 1.0).map_or(0.0, |law| law.sample(stream));
    for _ in 0..facts.sparsity {
        let scale = (truth.left_by(&is_found) + misfit).sqrt();
        let mut best = (choice.largest_null + gumbel(stream), None);
        for (index, (effect, error)) in truth.effects.iter().enumerate() {
            let score = score(&choice, records * effect / scale, *error) + gumbel(stream);
            if !is_found[index] && score > best.0 {
                best = (score, Some(index));
            }
        }
        if let Some(index) = best.1 {
            is_found[index] = true;
        }
        picked += 1.0;
        let noise = 0.8 * (2.0 * picked).sqrt() / update / records;
        let error = picked * (1.0 / records + noise * noise);
        misfit = error.min(1.0) * truth.left_by(&is_found);
    }
    let left = truth.left_by(&is_found);
    let noise = (active + 2.0) / last / core::f64::consts::SQRT_2 / records;
    let luck = (2.0 * features.ln() * choice.luck).max(1.0);
    let own = left * (1.0 / records + noise * noise);
    let estimates = truth.estimates(own, stream);
    // A p-value of a private choice allows for all candidates.
    if facts.keeps_none(&is_found, &estimates, own, active * features) {
        return Expected::NOTHING;
    }
    truth.scored(&is_found, own, left * (luck / records + noise * noise))
}

/// The score of a true feature with this sum of correlations and this sampling error.
fn score(choice: &PrivateChoice, sum: f64, error: f64) -> f64 {
    (choice.signal * sum + choice.spread * error).abs()
}

fn sieve(facts: &Facts, truth: &Truth, stream: &mut Stream) -> Expected {
    const FRACTIONS: [f64; 10] = [1.0, 1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02];
    let rounds = Rounds {
        fractions: &FRACTIONS,
        decay: 0.7,
        share: GRADIENTS_SHARE,
        working: None,
    };
    sums(facts, &rounds, truth, stream)
}

fn grad(facts: &Facts, truth: &Truth, stream: &mut Stream) -> Expected {
    const FRACTIONS: [f64; 7] = [1.0, 1.0, 0.6, 0.35, 0.2, 0.08, 0.03];
    let rounds = Rounds {
        fractions: &FRACTIONS,
        decay: 0.65,
        share: GRADIENTS_SHARE - WORKING_SHARE,
        working: Some(WORKING_SHARE / 6.0),
    };
    sums(facts, &rounds, truth, stream)
}

/// How a pooled procedure spends what it has for gradients.
struct Rounds {
    fractions: &'static [f64],
    decay: f64,
    share: f64,
    /// The share of one private least squares between rounds; none if the pooled estimates are the model.
    working: Option<f64>,
}

/// The sieve and GRAD: gradients of ever fewer candidates, pooled, and one last question about the finalists.
fn sums(facts: &Facts, rounds: &Rounds, truth: &Truth, stream: &mut Stream) -> Expected {
    let records = facts.records * SUMS_EFFICIENCY;
    let active = facts.active();
    let mu = facts.noise.mu / facts.noise.moves;
    let weights: Vec<f64> = (0..)
        .zip(rounds.fractions)
        .map(|(round, _)| rounds.decay.powi(round))
        .collect();
    let weight: f64 = weights.iter().sum();
    let mut precision = 0.0;
    let mut left = 1.0;
    for (fraction, share) in rounds.fractions.iter().zip(&weights) {
        let own = mu * (rounds.share * share / weight).sqrt();
        let candidates = (fraction * facts.features).max(4.0 * active);
        let noise = candidates / (own * own);
        let clip = best_clip(noise, records);
        precision += records * records / (noise * (clip / kept_signal(clip)).powi(2) * left);
        let error = 1.0 / precision + left / records;
        let is_found = above(truth, error.sqrt(), THRESHOLD);
        let count = is_found
            .iter()
            .map(|found| f64::from(u8::from(*found)))
            .sum::<f64>();
        let misfit = rounds.working.map_or(error, |share| {
            let noise = (1.5 * active + 2.0) / (mu * share.sqrt()) / core::f64::consts::SQRT_2;
            left * (1.0 / records + (noise / records).powi(2))
        });
        let fitted = truth.left_by(&is_found) + count * misfit;
        left = if fitted < 1.5 * left {
            fitted.min(1.0)
        } else {
            left
        };
    }
    let last = mu * SUMS_FINAL.sqrt();
    let finalists = (0.05 * facts.records * last - 1.0)
        .clamp(active, 3.0 * active)
        .floor();
    let spare = (finalists - active + 1.0).max(1.0);
    let error = (1.0 / precision + left / records).sqrt();
    let level = quantile(1.0 - spare / (2.0 * facts.features.max(spare))).max(0.0);
    let is_finalist = above(truth, error, level);
    let left = truth.left_by(&is_finalist);
    let noise = (finalists + 2.0) / last / core::f64::consts::SQRT_2 / records;
    let own = left * (1.0 / records + noise * noise);
    let estimates = truth.estimates(own, stream);
    let is_found: Vec<bool> = estimates
        .iter()
        .zip(&is_finalist)
        .map(|(estimate, finalist)| *finalist && estimate.abs() > FINAL_THRESHOLD * own.sqrt())
        .collect();
    // A p-value of the sums is conditional on which features were chosen.
    if facts.keeps_none(&is_found, &estimates, own, active) {
        return Expected::NOTHING;
    }
    truth.scored(&is_found, own, 2.0 * own)
}

/// Which effects are above `level` standard errors, each with the sampling error of its draw.
fn above(truth: &Truth, std_error: f64, level: f64) -> Vec<bool> {
    let is_above =
        |(effect, error): &(f64, f64)| (effect + error * std_error).abs() > level * std_error;
    truth.effects.iter().map(is_above).collect()
}

/// What correlation leaves of a recall, if AR(0.9) leaves `at_nine_tenths`.
fn correlated(at_nine_tenths: f64, correlation: Correlation) -> f64 {
    let neighbours = match correlation {
        Correlation::None | Correlation::Equal(_) => 0.0,
        Correlation::Autoregressive(neighbours) => neighbours,
    };
    1.0 - (1.0 - at_nine_tenths) * ((neighbours - 0.5) / 0.4).clamp(0.0, 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "a few draws")]
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}
