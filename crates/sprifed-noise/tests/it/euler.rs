//! Euler noise in shares: sums of shares against the law, and impostors that must be refused.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values that index a table of the test"
)]

use num_rational::Ratio;
use sprifed_noise::EulerShare;

use crate::goodness_of_fit::{Bin, N_DRAWS, bins_of, check_bins, check_rare, generator};

/// Rates from steep to shallow, a proper fraction among them.
const RATES: [(u128, u128); 5] = [(1, 1), (3, 10), (1, 16), (1, 128), (1, 1_000)];

fn to_float((numerator, denominator): (u128, u128)) -> f64 {
    numerator as f64 / denominator as f64
}

fn draws(rate: (u128, u128), share: (u128, u128), seed: u64) -> Vec<i64> {
    let sampler =
        EulerShare::new(Ratio::new(rate.0, rate.1), Ratio::new(share.0, share.1)).unwrap();
    let mut draws = vec![0; N_DRAWS];
    sampler.fill(&mut draws, &mut generator(seed));
    draws
}

fn sum_of(shares: &[Vec<i64>]) -> Vec<i64> {
    let mut total = vec![0; N_DRAWS];
    for share in shares {
        total
            .iter_mut()
            .zip(share)
            .for_each(|(sum, draw)| *sum += draw);
    }
    total
}

/// `P(Z ≤ z) = ∏_{k>z} (1 − q^k)`, which mentions neither jumps nor shares.
fn cumulative(rate: f64, z: i64) -> f64 {
    if z < 0 {
        return 0.0;
    }
    let mut log = 0.0;
    let mut k = z as f64 + 1.0;
    while rate * k < 45.0 {
        log += (-(-rate * k).exp()).ln_1p();
        k += 1.0;
    }
    log.exp()
}

/// Bins of a law by its cumulative probability, in one pass from below.
fn bins(rate: f64) -> Vec<Bin> {
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^63")]
    let reach = (45.0 / rate).ceil() as i64;
    let mut at = vec![1.0; reach as usize + 2];
    let mut log = 0.0;
    for z in (0..=reach).rev() {
        log += (-(-rate * (z as f64 + 1.0)).exp()).ln_1p();
        at[z as usize] = f64::exp(log);
    }
    let mass = |z: i64| at[z as usize] - if z > 0 { at[z as usize - 1] } else { 0.0 };
    bins_of(0..=reach, mass)
}

/// `P(X = x)` of an r-share by the recursion of its generating function, in floating point.
fn share_masses(rate: f64, share: f64, reach: usize) -> Vec<f64> {
    let odds = |m: f64| 1.0 / (rate * m).exp_m1();
    let mut log_none = 0.0;
    let mut m = 1.0;
    while rate * m < 45.0 {
        log_none -= share * odds(m) / m;
        m += 1.0;
    }
    let mut masses = vec![log_none.exp()];
    for x in 1..=reach {
        let sum: f64 = (1..=x).map(|m| odds(m as f64) * masses[x - m]).sum();
        masses.push(share * sum / x as f64);
    }
    masses
}

#[test]
fn the_cumulative_probability_and_the_bins_agree() {
    for rate in RATES.map(to_float) {
        for bin in bins(rate) {
            let below = |z: i64| {
                if z == i64::MAX {
                    1.0
                } else {
                    cumulative(rate, z)
                }
            };
            let from = if bin.from == i64::MIN {
                0.0
            } else {
                below(bin.from - 1)
            };
            assert!((below(bin.to) - from - bin.probability).abs() < 1e-9);
        }
    }
}

/// False alarm of one check: 1e-6; fifteen checks here, with fixed seeds.
#[test]
fn shares_add_up_to_euler_noise() {
    for (seed, rate) in (3_000..).step_by(10).zip(RATES) {
        for (offset, parts) in [(0, 2u64), (4, 3)] {
            let shares: Vec<_> = (0..parts)
                .map(|part| draws(rate, (1, parts.into()), seed + offset + part))
                .collect();
            check_bins(&sum_of(&shares), &bins(to_float(rate))).unwrap();
        }
        // Three halves less one: an adversary that knows its own faces the law itself.
        let known = draws(rate, (1, 2), seed + 8);
        let others = sum_of(&[draws(rate, (1, 2), seed + 9), draws(rate, (1, 2), seed + 7)]);
        let total = sum_of(&[known.clone(), others]);
        let left: Vec<i64> = total
            .iter()
            .zip(&known)
            .map(|(total, known)| total - known)
            .collect();
        check_bins(&left, &bins(to_float(rate))).unwrap();
    }
}

#[test]
fn one_half_share_has_its_own_law() {
    for (seed, rate) in (3_100..).zip([(1, 1), (3, 10), (1, 16), (1, 64)]) {
        let reach = 45.0 / to_float(rate);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small and positive"
        )]
        let masses = share_masses(to_float(rate), 0.5, reach as usize);
        let bins = bins_of(0..=masses.len() as i64 - 1, |x| masses[x as usize]);
        check_bins(&draws(rate, (1, 2), seed), &bins).unwrap();
    }
}

#[test]
fn the_tail_of_two_halves_has_its_weight() {
    let rate = (1, 128);
    let sum = sum_of(&[draws(rate, (1, 2), 3_200), draws(rate, (1, 2), 3_201)]);
    for z in [1_200, 1_500, 1_800] {
        let count = sum.iter().filter(|draw| **draw > z).count();
        let expected = (1.0 - cumulative(to_float(rate), z)) * N_DRAWS as f64;
        check_rare(count, expected).unwrap();
    }
}

/// Mistakes that have been made or are near at hand.
#[test]
fn impostors_are_refused() {
    let rate = (1, 64);
    let bins = bins(to_float(rate));
    let half = |seed| draws(rate, (1, 2), seed);
    let honest = sum_of(&[half(3_300), half(3_301)]);
    check_bins(&honest, &bins).unwrap();
    // A dealer left out, and one too many.
    assert!(check_bins(&half(3_302), &bins).is_err());
    assert!(check_bins(&sum_of(&[half(3_303), half(3_304), half(3_305)]), &bins).is_err());
    // A share two percent too small.
    let small = draws(rate, (48, 100), 3_306);
    assert!(check_bins(&sum_of(&[small, half(3_307)]), &bins).is_err());
    // Both dealers with one seed.
    assert!(check_bins(&sum_of(&[half(3_308), half(3_308)]), &bins).is_err());
    // A clamp within reach.
    let clamped: Vec<i64> = honest.iter().map(|draw| *draw.min(&350)).collect();
    assert!(check_bins(&clamped, &bins).is_err());
    // Even outcomes only.
    let even = |draw: &i64| draw - draw % 2;
    assert!(check_bins(&honest.iter().map(even).collect::<Vec<_>>(), &bins).is_err());
}

/// Means that are rounded up one by one to multiples of 2^-40, at 1/rate = 2048 and p = 100,000: the
/// jumps beyond 25/rate would appear in one choice in forty.
#[test]
fn jumps_rounded_up_one_by_one_would_decide_choices() {
    let rate = 1.0 / 2_048.0;
    let mean = |m: f64| 0.5 / (m * (rate * m).exp_m1());
    let (first, last) = (25.0 / rate, 75.0 / rate);
    let (mut exact, mut rounded, mut m) = (0.0, 0.0, first);
    while m <= last {
        exact += mean(m);
        rounded += (mean(m) * 2f64.powi(40)).ceil() / 2f64.powi(40);
        m += 1.0;
    }
    let draws = 3.0 * 1e5;
    assert!(rounded * draws > 0.02, "{}", rounded * draws);
    assert!(exact * draws < 1e-6, "{}", exact * draws);
}
