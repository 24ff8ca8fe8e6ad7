//! `samplers` and `euler`: do the integer samplers draw from the laws they name?
//!
//! The only statistical judge. Its seed is fixed, so a verdict can be repeated; its bounds are those
//! of the file, under which a true sampler fails one comparison in a million at most.

mod tally;

use num_rational::Ratio;
use num_traits::ToPrimitive;
use puruspe::gammq;
use serde_json::{Map, Value};
use sprifed_noise::{
    DiscreteGaussian, DiscreteLaplace, EulerShare, FloorGumbel, Geometric, NoiseGenerator,
    bernoulli_exp,
};

use crate::samplers::tally::Tally;
use crate::vector::{BadVector, Vector, number};
use crate::verdict::Verdict;

/// Frequencies, means and variances within 6 standard errors; chi-square p-value at least 1e-6.
pub(crate) fn judge(vector: &Vector, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let mut generator = NoiseGenerator::simulated(SEED);
    match vector.group.as_str() {
        "bernoulli_exp" => {
            let exponent = fraction(vector, "gamma")?;
            let tally = Tally::of(N_DRAWS, || {
                i64::from(bernoulli_exp(exponent, &mut generator))
            });
            let expected = verdict.expected("p")?;
            judge_count("p", tally.count_within(Some(1), Some(1)), expected, verdict);
        }
        "discrete_laplace" => {
            let sampler = DiscreteLaplace::new(fraction(vector, "scale")?)?;
            let tally = Tally::of(N_DRAWS, || sampler.sample(&mut generator));
            judge_probabilities("pmf", vector, &tally, verdict)?;
            judge_variance(&tally, verdict)?;
        }
        "geometric" => {
            let sampler = Geometric::new(fraction(vector, "scale")?)?;
            let tally = Tally::of(N_DRAWS, || sampler.sample(&mut generator));
            judge_probabilities("pmf", vector, &tally, verdict)?;
            let (mean, standard_error) = tally.mean();
            verdict.absolute("mean", mean, STANDARD_ERRORS * standard_error)?;
        }
        "floor_gumbel" => {
            let sampler = FloorGumbel::new(fraction(vector, "lam")?)?;
            let tally = Tally::of(N_DRAWS, || sampler.sample(&mut generator));
            judge_probabilities("cdf", vector, &tally, verdict)?;
            judge_probabilities("pmf", vector, &tally, verdict)?;
        }
        "euler" => {
            let half = EulerShare::new(fraction(vector, "lam")?, Ratio::new(1, 2))?;
            let tally = Tally::of(N_DRAWS, || {
                half.sample(&mut generator) + half.sample(&mut generator)
            });
            judge_probabilities("cdf", vector, &tally, verdict)?;
        }
        "half_share" => {
            let half = EulerShare::new(fraction(vector, "lam")?, Ratio::new(1, 2))?;
            let tally = Tally::of(N_DRAWS, || half.sample(&mut generator));
            judge_probabilities("cdf", vector, &tally, verdict)?;
        }
        "dgauss_bins" => {
            let sampler = DiscreteGaussian::new(fraction(vector, "sigma2")?)?;
            let tally = Tally::of(N_DRAWS, || sampler.sample(&mut generator));
            judge_bins(vector, &tally, verdict)?;
            judge_variance(&tally, verdict)?;
            let (kurtosis, standard_error) = tally.kurtosis_around_zero();
            verdict.absolute("kurtosis", kurtosis, STANDARD_ERRORS * standard_error)?;
        }
        other => return Err(BadVector::UnknownGroup(other.to_owned())),
    }
    Ok(())
}

fn fraction(vector: &Vector, key: &str) -> Result<Ratio<u128>, BadVector> {
    let exact = vector.exact(key)?;
    let parts = exact.numer().to_u128().zip(exact.denom().to_u128());
    let (numerator, denominator) = parts.ok_or_else(|| BadVector::Field(key.to_owned()))?;
    Ok(Ratio::new(numerator, denominator))
}

/// An object of outcomes and their probabilities: of the outcome itself, or of all up to it.
fn judge_probabilities(
    key: &str,
    vector: &Vector,
    tally: &Tally,
    verdict: &mut Verdict<'_>,
) -> Result<(), BadVector> {
    let bad = || BadVector::Field(key.to_owned());
    verdict.looked_at(key);
    let expected: &Map<String, Value> = vector
        .expected
        .get(key)
        .and_then(Value::as_object)
        .ok_or_else(bad)?;
    for (outcome, probability) in expected {
        let last: i64 = outcome.parse().map_err(|_| bad())?;
        let first = (key == "pmf").then_some(last);
        let probability = number(Some(probability)).ok_or_else(bad)?;
        let what = format!("{key} at {outcome}");
        judge_count(
            &what,
            tally.count_within(first, Some(last)),
            probability,
            verdict,
        );
    }
    Ok(())
}

/// An event of probability `p` that happened `count` times in [`N_DRAWS`].
///
/// The normal bound of the file means nothing for an event (or its opposite) that is expected less
/// than a few times: none is fine, and so is one. There the count is refused if Chernoff's bound
/// for so many, `exp(-m)·(e·m/c)^c`, is below one in a million.
fn judge_count(what: &str, count: u32, probability: f64, verdict: &mut Verdict<'_>) {
    let n_draws = f64::from(N_DRAWS);
    let (rarer_count, rarer) = if probability <= 0.5 {
        (count, probability)
    } else {
        (N_DRAWS - count, 1.0 - probability)
    };
    let mean = n_draws * rarer;
    if mean >= FEWEST_EXPECTED {
        let standard_error = (probability * (1.0 - probability) / n_draws).sqrt();
        let frequency = f64::from(count) / n_draws;
        verdict.require(
            what,
            frequency,
            probability,
            STANDARD_ERRORS * standard_error,
        );
    } else if f64::from(rarer_count) > mean {
        let found = f64::from(rarer_count);
        let chance = (found - mean + found * (mean / found).ln()).exp();
        if chance < FALSE_ALARM {
            verdict.complain(format!(
                "{what}: found {found} of a rare event, expected {mean:e}"
            ));
        }
    }
}

/// The second moment is the variance: both laws judged by it are symmetric around zero.
fn judge_variance(tally: &Tally, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let (variance, standard_error) = tally.variance_around_zero();
    verdict.absolute("variance", variance, STANDARD_ERRORS * standard_error)
}

/// Pearson's chi-square over `[first, last, probability]` bins, the outer ones open.
fn judge_bins(vector: &Vector, tally: &Tally, verdict: &mut Verdict<'_>) -> Result<(), BadVector> {
    let bad = || BadVector::Field("bins".to_owned());
    verdict.looked_at("bins");
    let bins = vector
        .expected
        .get("bins")
        .and_then(Value::as_array)
        .ok_or_else(bad)?;
    let n_bins = u32::try_from(bins.len())
        .ok()
        .filter(|n_bins| *n_bins > 1)
        .ok_or_else(bad)?;
    let mut statistic = 0.0;
    let mut n_counted = 0;
    for bin in bins {
        let [first, last, probability] = bin
            .as_array()
            .and_then(|bin| bin.as_slice().as_array())
            .ok_or_else(bad)?;
        let mean = f64::from(N_DRAWS) * number(Some(probability)).ok_or_else(bad)?;
        let count = tally.count_within(first.as_i64(), last.as_i64());
        n_counted += count;
        statistic += (f64::from(count) - mean).powi(2) / mean;
    }
    if n_counted != N_DRAWS {
        verdict.complain(format!("bins: they hold {n_counted} of {N_DRAWS} draws"));
    }
    let chance = gammq(f64::from(n_bins - 1) / 2.0, statistic / 2.0);
    verdict.not_below("chi-square p-value of the bins", chance, FALSE_ALARM);
    Ok(())
}

/// Above the 200,000 that the file asks for.
const N_DRAWS: u32 = 1 << 18;

const SEED: u64 = 20_240_229;

const STANDARD_ERRORS: f64 = 6.0;

const FALSE_ALARM: f64 = 1e-6;

/// Below this expected count a frequency is far from normal.
const FEWEST_EXPECTED: f64 = 5.0;
