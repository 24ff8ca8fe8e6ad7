//! The published probabilities of `vectors/`, which none of our code computed.

use std::collections::BTreeMap;

use num_rational::Ratio;
use rand_chacha::ChaCha20Rng;
use serde_json::Value;
use sprifed_noise::{
    DiscreteGaussian, DiscreteLaplace, FloorGumbel, Geometric, Skellam, bernoulli_exp,
};

use crate::goodness_of_fit::{Bin, N_DRAWS, check_bins, check_frequency, check_moments, generator};

const SAMPLERS: &str = include_str!("../../../../vectors/samplers.json");
const SKELLAM: &str = include_str!("../../../../vectors/skellam.json");

/// The vectors of one group, each with a generator seeded by its place in the file.
fn group(file: &str, name: &str) -> Vec<(Value, ChaCha20Rng)> {
    let file: Value = serde_json::from_str(file).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    let found: Vec<_> = (2_000..)
        .zip(vectors)
        .filter(|(_, vector)| vector["group"] == name)
        .map(|(seed, vector)| (vector.clone(), generator(seed)))
        .collect();
    assert!(!found.is_empty(), "no vector of group {name}");
    found
}

/// A decimal or `a/b`, exactly.
fn exact(value: &Value) -> Ratio<u128> {
    let text = value.as_str().unwrap();
    if let Some((whole, decimals)) = text.split_once('.') {
        let scale = 10u128.pow(u32::try_from(decimals.len()).unwrap());
        return Ratio::new(format!("{whole}{decimals}").parse().unwrap(), scale);
    }
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    Ratio::new(numerator.parse().unwrap(), denominator.parse().unwrap())
}

fn float(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

fn float_map(value: &Value) -> BTreeMap<i64, f64> {
    let entries = value.as_object().unwrap().iter();
    entries
        .map(|(outcome, value)| (outcome.parse().unwrap(), float(value)))
        .collect()
}

fn check_masses(draws: &[i64], masses: &Value) {
    for (outcome, probability) in float_map(masses) {
        let count = draws.iter().filter(|&&draw| draw == outcome).count();
        check_frequency(count, draws.len(), probability).unwrap();
    }
}

#[test]
fn coins_of_probability_exp_minus_x() {
    for (vector, mut rng) in group(SAMPLERS, "bernoulli_exp") {
        let exponent = exact(&vector["inputs"]["gamma"]);
        let heads = (0..N_DRAWS)
            .filter(|_| bernoulli_exp(exponent, &mut rng))
            .count();
        check_frequency(heads, N_DRAWS, float(&vector["expected"]["p"])).unwrap();
    }
}

#[test]
fn geometric_masses_and_means() {
    for (vector, mut rng) in group(SAMPLERS, "geometric") {
        let sampler = Geometric::new(exact(&vector["inputs"]["scale"])).unwrap();
        let draws: Vec<i64> = (0..N_DRAWS).map(|_| sampler.sample(&mut rng)).collect();
        check_masses(&draws, &vector["expected"]["pmf"]);
        let expected = float(&vector["expected"]["mean"]);
        let mean = draws.iter().sum::<i64>() as f64 / N_DRAWS as f64;
        // The variance of a geometric law with mean m is m(1 + m).
        let deviation = (expected * (1.0 + expected) / N_DRAWS as f64).sqrt();
        assert!(
            (mean - expected).abs() < 6.0 * deviation,
            "{mean} for {expected}"
        );
    }
}

#[test]
fn discrete_laplace_masses_and_variances() {
    for (vector, mut rng) in group(SAMPLERS, "discrete_laplace") {
        let sampler = DiscreteLaplace::new(exact(&vector["inputs"]["scale"])).unwrap();
        let draws: Vec<i64> = (0..N_DRAWS).map(|_| sampler.sample(&mut rng)).collect();
        check_masses(&draws, &vector["expected"]["pmf"]);
        // It is a difference of two geometric laws, whose kurtosis is 6 + 1/variance.
        let variance = float(&vector["expected"]["variance"]);
        check_moments(&draws, variance, 6.0 + 1.0 / variance).unwrap();
    }
}

#[test]
fn floor_gumbel_masses_and_cumulative_probabilities() {
    for (vector, mut rng) in group(SAMPLERS, "floor_gumbel") {
        let sampler = FloorGumbel::new(exact(&vector["inputs"]["lam"])).unwrap();
        let mut draws = vec![0; N_DRAWS];
        sampler.fill(&mut draws, &mut rng);
        check_masses(&draws, &vector["expected"]["pmf"]);
        for (outcome, probability) in float_map(&vector["expected"]["cdf"]) {
            let count = draws.iter().filter(|&&draw| draw <= outcome).count();
            check_frequency(count, N_DRAWS, probability).unwrap();
        }
    }
}

#[test]
fn discrete_gaussian_bins_and_moments() {
    for (vector, mut rng) in group(SAMPLERS, "dgauss_bins") {
        let sampler = DiscreteGaussian::new(exact(&vector["inputs"]["sigma2"])).unwrap();
        let mut draws = vec![0; N_DRAWS];
        sampler.fill(&mut draws, &mut rng);
        let expected = &vector["expected"];
        let bins: Vec<Bin> = expected["bins"]
            .as_array()
            .unwrap()
            .iter()
            .map(|bin| Bin {
                from: bin[0].as_i64().unwrap_or(i64::MIN),
                to: bin[1].as_i64().unwrap_or(i64::MAX),
                probability: float(&bin[2]),
            })
            .collect();
        check_bins(&draws, &bins).unwrap();
        check_moments(
            &draws,
            float(&expected["variance"]),
            float(&expected["kurtosis"]),
        )
        .unwrap();
    }
}

#[test]
fn skellam_masses_and_tails() {
    for (vector, mut rng) in group(SKELLAM, "pmf") {
        let sampler = Skellam::new(exact(&vector["inputs"]["variance"])).unwrap();
        let mut draws = vec![0; N_DRAWS];
        sampler.fill(&mut draws, &mut rng);
        let expected = &vector["expected"];
        let shift = expected["shift"].as_i64().unwrap();
        let count = |event: &dyn Fn(i64) -> bool| draws.iter().filter(|&&draw| event(draw)).count();
        for (count, probability) in [
            (count(&|draw| draw == 0), "pmf0"),
            (count(&|draw| draw == shift), "pmf_at_shift"),
            (count(&|draw| draw > shift), "tail_gt_shift"),
        ] {
            check_frequency(count, N_DRAWS, float(&expected[probability])).unwrap();
        }
    }
}
