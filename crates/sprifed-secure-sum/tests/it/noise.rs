//! The noise of a released sum has the planned distribution, whichever clients dropped out, and
//! when.
//!
//! The limit of χ² has a false alarm of 1e-7 for each sum. With these many coordinates a variance
//! that is wrong by 5 % is found with a probability above 0.999, which is shown twice: by shares of
//! noise with a wrong variance that go through the whole protocol, and by 4,000 simulated counts
//! for each of them.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::statistics::{chi_square, limit};
use crate::world::{World, participation};

/// Every vector of the tests is (3, 0, 0, …) with a share of variance 9 on each coordinate.
const SHARE_VARIANCE: f64 = 9.0;
const COORDINATES: u32 = 160_000;
const CELLS: usize = 22;

/// The released coordinates without the first, which is not all noise.
fn released(share_variance: &'static str, gone: [&[u32]; 3]) -> Vec<i64> {
    let mut world = World::new(participation(10, 7, 1), COORDINATES, 16, 1);
    world.share_variance = share_variance;
    world.exchange_keys(&[], &[]);
    let [before_upload, before_confirm, before_unmask] = gone;
    let expected = world.sum(0, before_upload, before_confirm, before_unmask);
    let values = world.last_values();
    assert_eq!(values, expected);
    values[1..].to_vec()
}

/// The cell of a value: a quarter of a standard deviation wide, and both tails.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the cells"
)]
fn cell(value: i64, variance: f64) -> usize {
    let place = value as f64 / variance.sqrt() * 4.0 + CELLS as f64 / 2.0;
    place.floor().clamp(0.0, CELLS as f64 - 1.0) as usize
}

/// Probabilities of the cells of `variance` under the discrete Gaussian of `truth`, from which a sum
/// of shares of variance 9 differs by less than 1e-30.
fn probabilities(variance: f64, truth: f64) -> Vec<f64> {
    let weight = |value: i64| (-((value * value) as f64) / (2.0 * truth)).exp();
    let total: f64 = (-400..=400).map(weight).sum();
    let mut cells = vec![0.0; CELLS];
    for value in -400..=400 {
        cells[cell(value, variance)] += weight(value) / total;
    }
    cells
}

fn fits(values: &[i64], variance: f64) -> bool {
    let mut counts = vec![0.0; CELLS];
    for value in values {
        counts[cell(*value, variance)] += 1.0;
    }
    let expected: Vec<f64> = probabilities(variance, variance)
        .iter()
        .map(|cell| cell * values.len() as f64)
        .collect();
    chi_square(&counts, &expected) < limit(CELLS)
}

#[test]
fn the_noise_of_a_sum_is_that_of_all_clients_that_uploaded() {
    let stories: [([&[u32]; 3], u32); 6] = [
        ([&[], &[], &[]], 10),
        ([&[4], &[], &[]], 9),
        ([&[0, 5, 9], &[], &[]], 7),
        // A client that leaves after its upload is in the sum, and so is its noise.
        ([&[], &[4], &[]], 10),
        ([&[], &[], &[0, 5, 9]], 10),
        ([&[2], &[7], &[8]], 9),
    ];
    for (gone, n_uploads) in stories {
        let values = released("9", gone);
        assert!(
            fits(&values, f64::from(n_uploads) * SHARE_VARIANCE),
            "{gone:?}"
        );
        // It does not fit one client more or less.
        for wrong in [n_uploads - 1, n_uploads + 1] {
            assert!(
                !fits(&values, f64::from(wrong) * SHARE_VARIANCE),
                "{gone:?}"
            );
        }
    }
}

#[test]
fn shares_of_noise_that_are_off_by_a_twentieth_are_found() {
    for impostor in ["8.55", "9.45"] {
        for (gone, n_uploads) in [(&[][..], 10), (&[4], 9), (&[0, 5, 9], 7)] {
            let values = released(impostor, [gone, &[], &[]]);
            assert!(
                !fits(&values, f64::from(n_uploads) * SHARE_VARIANCE),
                "{impostor}, {gone:?}"
            );
        }
    }
}

/// How many of `n_trials` released sums of variance `truth` are distinguished from the planned one.
fn found(n_trials: usize, variance: f64, truth: f64) -> usize {
    let (expected, cells) = (
        probabilities(variance, variance),
        probabilities(variance, truth),
    );
    let n_values = f64::from(COORDINATES - 1);
    let expected: Vec<f64> = expected.iter().map(|cell| cell * n_values).collect();
    let mut rng = ChaCha20Rng::seed_from_u64(truth.to_bits());
    let mut normal = || {
        #[expect(
            clippy::disallowed_methods,
            reason = "counts of a simulation, not noise"
        )]
        let [one, other] = [rng.next_u64(), rng.next_u64()].map(|bits| (bits >> 11) as f64 + 0.5);
        let scale = 0.5f64.powi(53);
        (-2.0 * (one * scale).ln()).sqrt() * (core::f64::consts::TAU * other * scale).cos()
    };
    let mut n_found = 0;
    for _ in 0..n_trials {
        // Multinomial counts: normal ones with the same covariance, as no cell has less than 800.
        let deviates: Vec<f64> = cells.iter().map(|cell| cell.sqrt() * normal()).collect();
        let all: f64 = deviates.iter().sum();
        let count = |(cell, deviate): (&f64, &f64)| {
            n_values * cell + n_values.sqrt() * (deviate - cell * all)
        };
        let counts: Vec<f64> = cells.iter().zip(&deviates).map(count).collect();
        n_found += usize::from(chi_square(&counts, &expected) >= limit(CELLS));
    }
    n_found
}

#[test]
fn a_variance_that_is_off_by_a_twentieth_is_found_999_times_in_1000() {
    for n_uploads in [10.0, 9.0, 7.0] {
        let variance = n_uploads * SHARE_VARIANCE;
        let least = probabilities(variance, variance)
            .into_iter()
            .fold(1.0, f64::min);
        assert!(least * f64::from(COORDINATES) > 800.0, "{least}");
        // None missed of 4,000 excludes a power below 0.999 at a confidence of 98 %.
        for wrong in [0.95, 1.05] {
            assert_eq!(
                found(4000, variance, wrong * variance),
                4000,
                "{n_uploads} {wrong}"
            );
        }
        // The simulation alarms neither always nor without cause.
        assert_eq!(found(4000, variance, variance), 0);
        assert!(found(1000, variance, 1.005 * variance) < 100);
    }
}
