//! Our samplers, each drawing in bulk first and then one by one.

use std::hint::black_box;

use num_rational::Ratio;
use sprifed_noise::{
    DiscreteGaussian, EulerShare, FloorGumbel, NoiseGenerator, NoiseParameterError, Skellam,
};

use crate::stopwatch::Contestant;

pub(super) fn gaussian(std_dev: u32) -> Result<Vec<Contestant>, NoiseParameterError> {
    let sampler = DiscreteGaussian::new(square(std_dev))?;
    let single = sampler.clone();
    Ok(vec![
        in_bulk(move |out, generator| sampler.fill(out, generator)),
        one_by_one(move |generator| single.sample(generator)),
    ])
}

pub(super) fn skellam(std_dev: u32) -> Result<Vec<Contestant>, NoiseParameterError> {
    let sampler = Skellam::new(square(std_dev))?;
    let single = sampler.clone();
    Ok(vec![
        in_bulk(move |out, generator| sampler.fill(out, generator)),
        one_by_one(move |generator| single.sample(generator)),
    ])
}

pub(super) fn floor_gumbel(rate: Ratio<u128>) -> Result<Vec<Contestant>, NoiseParameterError> {
    let sampler = FloorGumbel::new(rate)?;
    let single = sampler.clone();
    Ok(vec![
        in_bulk(move |out, generator| sampler.fill(out, generator)),
        one_by_one(move |generator| single.sample(generator)),
    ])
}

/// Half a share, as one of three trustees draws it.
pub(super) fn euler_half(rate: Ratio<u128>) -> Result<Vec<Contestant>, NoiseParameterError> {
    let sampler = EulerShare::new(rate, Ratio::new(1, 2))?;
    let single = sampler.clone();
    Ok(vec![
        in_bulk(move |out, generator| sampler.fill(out, generator)),
        one_by_one(move |generator| single.sample(generator)),
    ])
}

fn square(std_dev: u32) -> Ratio<u128> {
    Ratio::from_integer(u128::from(std_dev) * u128::from(std_dev))
}

fn in_bulk(fill: impl Fn(&mut [i64], &mut NoiseGenerator) + 'static) -> Contestant {
    let mut generator = NoiseGenerator::simulated(SEED);
    let mut buffer = vec![0; N_FEATURES];
    let draw = move |n_draws: u32| {
        let mut left = n_draws as usize;
        while left > 0 {
            let out = &mut buffer[..left.min(N_FEATURES)];
            fill(out, &mut generator);
            left -= black_box(out).len();
        }
    };
    Contestant {
        name: "sprifed, in bulk",
        draw: Box::new(draw),
    }
}

fn one_by_one(sample: impl Fn(&mut NoiseGenerator) -> i64 + 'static) -> Contestant {
    let mut generator = NoiseGenerator::simulated(SEED);
    let draw = move |n_draws: u32| {
        for _ in 0..n_draws {
            black_box(sample(&mut generator));
        }
    };
    Contestant {
        name: "sprifed, one by one",
        draw: Box::new(draw),
    }
}

/// One draw for each feature of a large study is what a release asks for.
const N_FEATURES: usize = 10_000;

/// The draws are timed and thrown away.
const SEED: u64 = 1;
