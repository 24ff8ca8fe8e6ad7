//! Each sampler against its exact law.

use num_rational::Ratio;
use sprifed_noise::{DiscreteGaussian, FloorGumbel, Poisson, ReferenceDiscreteGaussian, Skellam};

use crate::goodness_of_fit::{
    Bin, N_DRAWS, bins_of, check_agreement, check_bins, check_moments, check_rare, gaussian_bins,
    gaussian_mass, generator,
};

/// σ² from a nearly degenerate law to the coarse-and-fine path, with a proper fraction among them.
const VARIANCES: [(u128, u128); 8] = [
    (1, 4),
    (1, 2),
    (1, 1),
    (25, 1),
    (125, 4),
    (10_000, 1),
    (1_000_000, 1),
    (10_000_000_000, 1),
];

fn gaussian_draws(numerator: u128, denominator: u128, n_draws: usize, seed: u64) -> Vec<i64> {
    let sampler = DiscreteGaussian::new(Ratio::new(numerator, denominator)).unwrap();
    let mut draws = vec![0; n_draws];
    sampler.fill(&mut draws, &mut generator(seed));
    draws
}

fn to_float((numerator, denominator): (u128, u128)) -> f64 {
    numerator as f64 / denominator as f64
}

#[test]
fn the_discrete_gaussian_fits_its_law() {
    for (seed, variance) in (100..).zip(VARIANCES) {
        let draws = gaussian_draws(variance.0, variance.1, N_DRAWS, seed);
        check_bins(&draws, &gaussian_bins(to_float(variance))).unwrap();
    }
}

#[test]
fn the_discrete_gaussian_has_the_moments_of_its_law() {
    for (seed, variance) in (200..).zip(VARIANCES) {
        let draws = gaussian_draws(variance.0, variance.1, N_DRAWS, seed);
        let parameter = to_float(variance);
        let (second, kurtosis) = if parameter > 30.0 {
            (parameter, 3.0)
        } else {
            let mass = gaussian_mass(parameter);
            let moment = |order| {
                (-100..=100i64)
                    .map(|x| mass(x) * (x as f64).powi(order))
                    .sum::<f64>()
            };
            (moment(2), moment(4) / moment(2).powi(2))
        };
        check_moments(&draws, second, kurtosis).unwrap();
    }
}

#[test]
fn the_tails_of_the_discrete_gaussian_have_their_weight() {
    let n_draws = 4_000_000;
    for (seed, variance) in (300..).zip([(1, 1), (25, 1), (10_000, 1), (1_000_000, 1)]) {
        let draws = gaussian_draws(variance.0, variance.1, n_draws, seed);
        let parameter = to_float(variance);
        let mass = gaussian_mass(parameter);
        for deviations in [3.0, 4.0, 4.5] {
            #[expect(clippy::cast_possible_truncation, reason = "at most 4,500")]
            let reach = (deviations * parameter.sqrt()) as i64;
            let tail: f64 = (reach + 1..4 * reach + 10).map(&mass).sum();
            for sign in [1, -1] {
                let count = draws.iter().filter(|&&draw| sign * draw > reach).count();
                check_rare(count, tail * n_draws as f64).unwrap();
            }
        }
    }
}

/// The fine bits of the large-σ path: a wrong coin or a reused bit shows in the residues.
#[test]
fn residues_of_a_wide_discrete_gaussian_are_uniform() {
    let draws = gaussian_draws(10_000_000_000, 1, N_DRAWS, 400);
    for modulus in [2, 16, 1000] {
        let residues: Vec<i64> = draws.iter().map(|draw| draw.rem_euclid(modulus)).collect();
        let bins: Vec<Bin> = (0..modulus)
            .map(|residue| Bin {
                from: residue,
                to: residue,
                probability: 1.0 / modulus as f64,
            })
            .collect();
        check_bins(&residues, &bins).unwrap();
    }
}

/// σ² = 2⁷⁷ is the widest law served, where the fast coin's words are fullest.
#[test]
fn the_widest_discrete_gaussian_has_its_variance() {
    let draws = gaussian_draws(1 << 77, 1, N_DRAWS, 500);
    check_moments(&draws, 2f64.powi(77), 3.0).unwrap();
}

#[test]
fn the_fast_discrete_gaussian_agrees_with_the_reference() {
    for (seed, variance) in (600..).zip([(1, 4), (1, 1), (125, 4), (40_000, 3)]) {
        let reference = ReferenceDiscreteGaussian::new(Ratio::new(variance.0, variance.1)).unwrap();
        let mut rng = generator(1_000 + seed);
        let slow: Vec<i64> = (0..N_DRAWS).map(|_| reference.sample(&mut rng)).collect();
        let fast = gaussian_draws(variance.0, variance.1, N_DRAWS, seed);
        let bins = gaussian_bins(to_float(variance));
        check_agreement(&fast, &slow, &bins).unwrap();
        check_bins(&slow, &bins).unwrap();
    }
}

fn poisson_mass(mean: f64) -> impl Fn(i64) -> f64 {
    move |k| (k as f64 * mean.ln() - mean - puruspe::ln_gamma(k as f64 + 1.0)).exp()
}

#[test]
fn poisson_fits_its_law() {
    for (seed, (numerator, denominator)) in (700..).zip([(1, 2), (4, 1), (71, 3), (500, 1)]) {
        let mut draws = vec![0; N_DRAWS];
        let sampler = Poisson::new(Ratio::new(numerator, denominator)).unwrap();
        sampler.fill(&mut draws, &mut generator(seed));
        let mass = poisson_mass(to_float((numerator, denominator)));
        check_bins(&draws, &bins_of(0..=1_000, mass)).unwrap();
    }
}

#[test]
fn skellam_fits_the_convolution_of_two_poisson_laws() {
    for (seed, variance) in (800..).zip([1u32, 8, 50, 200]) {
        let mut draws = vec![0; N_DRAWS];
        let sampler = Skellam::new(Ratio::from_integer(variance.into())).unwrap();
        sampler.fill(&mut draws, &mut generator(seed));
        let half = poisson_mass(f64::from(variance) / 2.0);
        let mass = |x: i64| (0..400).map(|k| half(k) * half(k + x.abs())).sum();
        let bins = bins_of(-200..=200, mass);
        check_bins(&draws, &bins).unwrap();
        let excess = 1.0 / f64::from(variance);
        check_moments(&draws, f64::from(variance), 3.0 + excess).unwrap();
    }
}

/// Two and a half million is split into five pieces on either side.
#[test]
fn a_skellam_of_several_pieces_has_its_moments() {
    let mut draws = vec![0; N_DRAWS];
    let variance = 2_500_000;
    let sampler = Skellam::new(Ratio::from_integer(variance)).unwrap();
    sampler.fill(&mut draws, &mut generator(900));
    check_moments(&draws, variance as f64, 3.0).unwrap();
    check_bins(&draws, &gaussian_bins(variance as f64)).unwrap();
}

#[test]
fn floor_gumbel_fits_its_law_with_and_without_a_search() {
    for (seed, denominator) in [(1_100, 5u32), (1_101, 300), (1_102, 1_000), (1_103, 10_000)] {
        let sampler = FloorGumbel::new(Ratio::new(1, denominator.into())).unwrap();
        let mut draws = vec![0; N_DRAWS];
        sampler.fill(&mut draws, &mut generator(seed));
        let before = |k: i64| (-(-(k as f64) / f64::from(denominator)).exp()).exp();
        let reach = 40 * i64::from(denominator);
        let bins = bins_of(-reach / 8..=reach, |k| before(k + 1) - before(k));
        check_bins(&draws, &bins).unwrap();
    }
}

/// Within a bin, machine words distinguish the places; each must get its share.
#[test]
fn floor_gumbel_fits_its_law_within_the_bins_of_its_table() {
    for (seed, denominator) in [(1_110, 200u32), (1_111, 1_000), (1_112, 10_000)] {
        let sampler = FloorGumbel::new(Ratio::new(1, denominator.into())).unwrap();
        let mut draws = vec![0; N_DRAWS];
        sampler.fill(&mut draws, &mut generator(seed));
        // Outcomes in a bin: the largest power of two that keeps the bin's rate at most 1/64.
        let bin = 1 << (denominator.ilog2() - 6);
        let before = |k: i64| (-(-(k as f64) / f64::from(denominator)).exp()).exp();
        let n_bins = 48 * i64::from(denominator) / bin;
        let mass = |place: i64| {
            let outcomes = (-n_bins / 8..n_bins).map(|index| index * bin + place);
            outcomes.map(|k| before(k + 1) - before(k)).sum::<f64>()
        };
        let bins = bins_of(0..=bin - 1, mass);
        let places: Vec<i64> = draws.iter().map(|draw| draw.rem_euclid(bin)).collect();
        check_bins(&places, &bins).unwrap();
    }
}
