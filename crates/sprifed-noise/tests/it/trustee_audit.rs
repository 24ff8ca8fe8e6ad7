//! An attack on choices by a party that knows one trustee's noise.
//!
//! The adversary knows the scores of both neighbours and one half share of every candidate, and sees
//! the index. Given what it knows, the two other halves are the noise of the choice. It looks for
//! pairs of indices whose losses are farther apart than the range that is charged.

use num_rational::Ratio;
use sprifed_noise::EulerShare;
use sprifed_privacy::SelectionLaw;

use crate::goodness_of_fit::generator;

const RATE: (u128, u128) = (1, 10);
const MOVES: i64 = 10;
/// What is known: scores and the adversary's own noise together.
const KNOWN: [i64; 8] = [7, 11, 57, 21, 3, 24, 47, 28];
/// The chance that the bound is above the true range; all pairs of indices are looked at.
const FALSE_ALARM: f64 = 1e-4;

fn neighbours() -> [[i64; 8]; 2] {
    let mut moved = KNOWN.map(|score| score - MOVES);
    moved[6] = KNOWN[6] + MOVES;
    [KNOWN, moved]
}

/// How often each index is chosen in `n_runs`, with the noise of `dealers` unknown halves.
fn counts(known: [i64; 8], dealers: usize, n_runs: usize, seed: u64) -> [u32; 8] {
    let half = EulerShare::new(Ratio::new(RATE.0, RATE.1), Ratio::new(1, 2)).unwrap();
    let mut rng = generator(seed);
    let mut noise = vec![0; 8 * dealers];
    let mut counts = [0; 8];
    for _ in 0..n_runs {
        half.fill(&mut noise, &mut rng);
        let noisy = |index: usize| {
            let shares = noise.iter().skip(index).step_by(8);
            known[index] + shares.sum::<i64>()
        };
        let chosen = (0..8)
            .max_by_key(|index| (noisy(*index), 8 - index))
            .unwrap();
        counts[chosen] += 1;
    }
    counts
}

/// Chernoff's limits for a probability, each wrong with chance `miss` at most: the `p` on either side
/// of the frequency `f` at which `n (f ln(f/p) + (1−f) ln((1−f)/(1−p)))` is `ln(1/miss)`.
fn limits(count: u32, n_runs: usize, miss: f64) -> (f64, f64) {
    let frequency = f64::from(count) / n_runs as f64;
    let term = |f: f64, p: f64| if f > 0.0 { f * (f / p).ln() } else { 0.0 };
    let is_excluded = |p: f64| {
        let divergence = term(frequency, p) + term(1.0 - frequency, 1.0 - p);
        n_runs as f64 * divergence > -miss.ln()
    };
    let limit = |mut excluded: f64| {
        let mut possible = frequency;
        for _ in 0..60 {
            let middle = f64::midpoint(possible, excluded);
            *(if is_excluded(middle) {
                &mut excluded
            } else {
                &mut possible
            }) = middle;
        }
        excluded
    };
    (limit(0.0), limit(1.0))
}

/// A lower bound on the range of losses, above the true one with chance [`FALSE_ALARM`] at most.
fn range_bound(dealers: usize, n_runs: usize) -> f64 {
    let [first, second] = neighbours();
    let [first, second] =
        [(first, 1), (second, 2)].map(|(known, seed)| counts(known, dealers, n_runs, seed));
    let limits = |count: u32| limits(count, n_runs, FALSE_ALARM / 32.0);
    let least: Vec<f64> = (0..8)
        .map(|j| (limits(first[j]).0 / limits(second[j]).1).ln())
        .collect();
    let most: Vec<f64> = (0..8)
        .map(|j| (limits(first[j]).1 / limits(second[j]).0).ln())
        .collect();
    let highest = least.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = most.iter().copied().fold(f64::INFINITY, f64::min);
    highest - lowest
}

fn audit(n_runs: usize) {
    let claim = SelectionLaw::Euler.range(0.1, 10.0);
    assert!((claim - 2.2).abs() < 1e-12);
    let honest = range_bound(2, n_runs);
    assert!(honest <= claim, "{honest} is above the claim {claim}");
    // The attack must be a real one, or the line above says nothing.
    assert!(honest > 0.8 * claim, "{honest} says nothing about {claim}");
    let one_dealer_left_out = range_bound(1, n_runs);
    assert!(
        one_dealer_left_out > claim,
        "{one_dealer_left_out} for {claim}"
    );
}

#[test]
fn one_trustees_noise_does_not_help_beyond_the_claim_and_two_trustees_noise_does() {
    audit(100_000);
}

/// The same with a million runs: `SPRIFED_SLOW=1`.
#[test]
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that did not run must not look like one that did"
)]
fn a_million_runs_say_the_same() {
    let is_slow = std::env::var_os("SPRIFED_SLOW").is_some_and(|value| value == "1");
    if !is_slow {
        eprintln!("SKIPPED: set SPRIFED_SLOW=1");
        return;
    }
    audit(1_000_000);
}
