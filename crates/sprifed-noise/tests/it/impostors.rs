//! Samplers that are nearly right, which the checks must refuse.
//!
//! A check that cannot fail proves nothing. Each impostor here is a mistake that has been made.

use std::f64::consts::TAU;

use num_rational::Ratio;
use rand_core::Rng;
use sprifed_noise::DiscreteGaussian;

use crate::goodness_of_fit::{
    N_DRAWS, check_agreement, check_bins, check_frequency, check_moments, check_rare,
    gaussian_bins, gaussian_mass, generator,
};

fn honest(numerator: u128, denominator: u128, n_draws: usize, seed: u64) -> Vec<i64> {
    let sampler = DiscreteGaussian::new(Ratio::new(numerator, denominator)).unwrap();
    let mut draws = vec![0; n_draws];
    sampler.fill(&mut draws, &mut generator(seed));
    draws
}

/// A continuous Gaussian by Box and Muller's method, rounded to the nearest integer.
fn rounded_continuous(variance: f64, seed: u64) -> Vec<i64> {
    let mut rng = generator(seed);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / 2f64.powi(53);
    (0..N_DRAWS)
        .map(|_| {
            let radius = (-2.0 * variance * (1.0 - uniform()).ln()).sqrt();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the impostor's own mistake"
            )]
            let rounded = (radius * (TAU * uniform()).cos()).round() as i64;
            rounded
        })
        .collect()
}

#[test]
fn a_rounded_continuous_gaussian_is_refused() {
    for (variance, seed) in [(0.25, 1), (0.5, 2), (1.0, 3)] {
        assert!(
            check_bins(
                &rounded_continuous(variance, seed),
                &gaussian_bins(variance)
            )
            .is_err()
        );
    }
    let honest = honest(1, 2, N_DRAWS, 4);
    let impostor = rounded_continuous(0.5, 5);
    assert!(check_agreement(&honest, &impostor, &gaussian_bins(0.5)).is_err());
}

#[test]
fn a_cut_tail_is_refused() {
    let n_draws = 4_000_000;
    let cut: Vec<i64> = honest(25, 1, n_draws, 6)
        .iter()
        .map(|draw| draw % 21)
        .collect();
    let tail: f64 = (21..100).map(gaussian_mass(25.0)).sum();
    let count = cut.iter().filter(|&&draw| draw > 20).count();
    assert!(check_rare(count, tail * n_draws as f64).is_err());
}

#[test]
fn a_variance_two_percent_off_is_refused() {
    for (claimed, percent) in [
        (1u32, 98),
        (1, 102),
        (25, 98),
        (10_000, 102),
        (1_000_000, 98),
    ] {
        let draws = honest(u128::from(claimed) * percent, 100, N_DRAWS, 7);
        let verdict = check_moments(&draws, f64::from(claimed), 3.0);
        assert!(
            verdict.is_err(),
            "{percent} % of {claimed} passed for all of it"
        );
    }
}

#[test]
fn a_bias_towards_one_sign_is_refused() {
    let mut draws = honest(100, 1, N_DRAWS, 8);
    draws
        .iter_mut()
        .step_by(40)
        .for_each(|draw| *draw = draw.abs());
    assert!(check_bins(&draws, &gaussian_bins(100.0)).is_err());
}

#[test]
fn zero_counted_twice_is_refused() {
    // The rejected negative zero of the discrete Laplace law, forgotten: σ² = 25 keeps 8 % of zeros.
    let mut draws = honest(25, 1, N_DRAWS, 9);
    let zeros = draws.iter().filter(|&&draw| draw == 0).count();
    draws
        .iter_mut()
        .filter(|draw| **draw != 0)
        .take(zeros)
        .for_each(|draw| *draw = 0);
    assert!(check_bins(&draws, &gaussian_bins(25.0)).is_err());
    let zeros = draws.iter().filter(|&&draw| draw == 0).count();
    assert!(check_frequency(zeros, N_DRAWS, gaussian_mass(25.0)(0)).is_err());
}
