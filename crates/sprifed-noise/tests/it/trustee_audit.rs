//! An attack on choices by a party that knows one trustee's noise.
//!
//! The adversary knows the scores of both neighbours and one half share of every candidate, and sees
//! the index. Given what it knows, the two other halves are the noise of the choice. It looks for
//! pairs of indices whose losses are farther apart than the range that is charged. The halves are
//! drawn as trustees draw them, on a charge, so a share of another size is found as well.

use sprifed_noise::{DrawnShare, NoiseGenerator};
use sprifed_privacy::test_support::generous_ledger;
use sprifed_privacy::{PrivacyUnit, RecordPart, SelectionLaw, SelectionPurchase, Trustee};

const RATE: (u32, u32) = (1, 10);
const MOVES: u32 = 10;
/// What is known: scores and the adversary's own noise together.
const KNOWN: [i64; 8] = [7, 11, 57, 21, 3, 24, 47, 28];
/// The chance that the bound is above the true range; all pairs of indices are looked at.
const FALSE_ALARM: f64 = 1e-4;

fn neighbours() -> [[i64; 8]; 2] {
    let mut moved = KNOWN.map(|score| score - i64::from(MOVES));
    moved[6] = KNOWN[6] + i64::from(MOVES);
    [KNOWN, moved]
}

/// What a trustee deals in so many runs, one after the other.
fn dealt(trustee: Trustee, n_runs: usize, seed: u64) -> Vec<i64> {
    let purchase = SelectionPurchase {
        candidates: u32::try_from(8 * n_runs).unwrap(),
        score_bound: MOVES,
        noise_rate: RATE,
        law: SelectionLaw::Euler,
        unit: PrivacyUnit::Record,
        part: RecordPart::All,
    };
    let permit = generous_ledger().spend("an audit", purchase).unwrap();
    let mut generator = NoiseGenerator::simulated(seed);
    let share = DrawnShare::for_choice(permit, trustee, &mut generator).unwrap();
    share.into_dealt()
}

/// How often each index is chosen in `n_runs`, with the noise of unknown `dealers`.
fn counts(known: [i64; 8], dealers: &[Trustee], n_runs: usize, seed: u64) -> [u32; 8] {
    let dealers = (seed..).step_by(10).zip(dealers);
    let shares: Vec<Vec<i64>> = dealers
        .map(|(seed, trustee)| dealt(*trustee, n_runs, seed))
        .collect();
    let mut counts = [0; 8];
    for run in 0..n_runs {
        let noisy = |index: usize| {
            let shares = shares.iter().map(|share| share[8 * run + index]);
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
fn range_bound(dealers: &[Trustee], n_runs: usize) -> f64 {
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
    let claim = SelectionLaw::Euler.range(0.1, f64::from(MOVES));
    assert!((claim - 2.2).abs() < 1e-12);
    // The first trustee's noise is known.
    let honest = range_bound(&[Trustee::Second, Trustee::Third], n_runs);
    assert!(honest <= claim, "{honest} is above the claim {claim}");
    // The attack must be a real one, or the line above says nothing.
    assert!(honest > 0.8 * claim, "{honest} says nothing about {claim}");
    let one_dealer_left_out = range_bound(&[Trustee::Third], n_runs);
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
