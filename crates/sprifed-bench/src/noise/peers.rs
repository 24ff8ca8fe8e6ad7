//! Samplers of the same law in other crates, measured only with the feature `peers`.
//!
//! OpenDP draws from its own thread-local generator, which without OpenSSL is ChaCha20 as well.

use std::hint::black_box;

use opendp::traits::samplers::sample_discrete_gaussian;
use prio::dp::Rational;
use prio::dp::distributions::DiscreteGaussian;
use rand::distr::Distribution;
use sprifed_noise::NoiseGenerator;

use crate::stopwatch::Contestant;

pub(super) fn gaussian(std_dev: u32) -> Vec<Contestant> {
    prio(std_dev).into_iter().chain([opendp(std_dev)]).collect()
}

/// Prio takes a generator, so it is given the same as ours.
fn prio(std_dev: u32) -> Option<Contestant> {
    let std_dev = Rational::from_unsigned(u128::from(std_dev), 1).ok()?;
    let sampler = DiscreteGaussian::new(std_dev).ok()?;
    let mut generator = NoiseGenerator::simulated(1);
    let draw = move |n_draws: u32| {
        for _ in 0..n_draws {
            black_box(sampler.sample(&mut generator));
        }
    };
    Some(Contestant {
        name: "prio 0.18",
        draw: Box::new(draw),
    })
}

fn opendp(std_dev: u32) -> Contestant {
    let draw = move |n_draws: u32| {
        for _ in 0..n_draws {
            // A failed draw counts as a draw: it can only flatter the peer.
            let _ = black_box(sample_discrete_gaussian(std_dev.into()));
        }
    };
    Contestant {
        name: "opendp 0.16",
        draw: Box::new(draw),
    }
}
