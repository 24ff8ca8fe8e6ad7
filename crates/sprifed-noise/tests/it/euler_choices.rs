//! Choices with Euler noise, by exact probabilities: they stay inside the bounds of the proof, and losses inside the range that is
//! charged (docs/proofs/trustees.md).

#![expect(
    clippy::cast_possible_truncation,
    reason = "values that index a table of the test"
)]

use sprifed_privacy::SelectionLaw;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % most
    }
}

/// `P(Z ≤ z)` for each z from 0 on, until it is 1 within rounding.
fn cumulative(rate: f64) -> Vec<f64> {
    let mut table = vec![1.0];
    let mut k = (45.0 / rate).floor();
    let mut log = 0.0;
    while k >= 1.0 {
        log += (-(-rate * k).exp()).ln_1p();
        table.push(f64::exp(log));
        k -= 1.0;
    }
    table.reverse();
    table
}

/// The probability of each index, if the largest of scores with noise is chosen and ties go to the lowest.
fn probabilities(scores: &[u64], cumulative: &[f64]) -> Vec<f64> {
    let up_to = |height: u64, score: u64| match height.checked_sub(score) {
        None => 0.0,
        Some(z) => cumulative.get(z as usize).copied().unwrap_or(1.0),
    };
    let top = scores.iter().max().unwrap() + cumulative.len() as u64;
    let wins = |own: usize| {
        let at = |height: u64| {
            let mass = up_to(height, scores[own])
                - height
                    .checked_sub(1)
                    .map_or(0.0, |below| up_to(below, scores[own]));
            // A lower index wins ties.
            let others = (0..scores.len())
                .filter(|other| *other != own)
                .map(|other| {
                    if other > own {
                        up_to(height, scores[other])
                    } else {
                        height
                            .checked_sub(1)
                            .map_or(0.0, |below| up_to(below, scores[other]))
                    }
                });
            mass * others.product::<f64>()
        };
        (0..=top).map(at).sum()
    };
    (0..scores.len()).map(wins).collect()
}

/// `S(v) = Σ_h q^h ∏_i P(Z ≤ h − v_i)`.
fn sum_of_heights(rate: f64, scores: &[u64], cumulative: &[f64]) -> f64 {
    let top = scores.iter().max().unwrap() + 2 * cumulative.len() as u64;
    let at = |height: u64| {
        let each = scores.iter().map(|score| match height.checked_sub(*score) {
            None => 0.0,
            Some(z) => cumulative.get(z as usize).copied().unwrap_or(1.0),
        });
        (-rate * height as f64).exp() * each.product::<f64>()
    };
    (0..=top).map(at).sum()
}

#[test]
fn exact_probabilities_of_choices_are_inside_the_bounds_of_the_proof() {
    let mut dice = Dice(5);
    // How far beyond 2λΔ losses lie apart, in units of λ.
    let mut excess = f64::NEG_INFINITY;
    for instance in 0..120 {
        let rate = [1.0, 0.5, 0.2, 0.1][instance % 4];
        let candidates = 2 + dice.below(4) as usize;
        let moves = 1 + dice.below(6);
        let table = cumulative(rate);
        let scores: Vec<u64> = (0..candidates).map(|_| 10 + dice.below(12)).collect();
        // Every score moves by at most so much; half of the instances move to the ends.
        let moved = scores.iter().map(|score| {
            let by = match instance % 2 {
                0 => 2 * moves * dice.below(2),
                _ => dice.below(2 * moves + 1),
            };
            score + by - moves
        });
        let moved: Vec<u64> = moved.collect();
        let both = [&scores, &moved].map(|scores| {
            let found = probabilities(scores, &table);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let sum = sum_of_heights(rate, scores, &table);
            for (score, found) in scores.iter().zip(&found) {
                let upper = (rate * *score as f64).exp() * sum;
                let lower = (-rate).exp() * upper;
                assert!(
                    (lower * (1.0 - 1e-9)..=upper * (1.0 + 1e-9)).contains(found),
                    "{found} not in {lower} to {upper}: {scores:?} at {rate}"
                );
            }
            found
        });
        let losses = both[0]
            .iter()
            .zip(&both[1])
            .map(|(one, other)| (one / other).ln());
        let (least, most) = losses
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), loss| {
                (least.min(loss), most.max(loss))
            });
        let charged = SelectionLaw::Euler.range(rate, moves as f64);
        assert!(
            most - least <= charged * (1.0 + 1e-9),
            "{most} to {least}, charged {charged}"
        );
        excess = excess.max((most - least) / rate - 2.0 * moves as f64);
    }
    // Two λ for the lattice are charged; without any of it the range would be too small.
    assert!((0.1..2.0).contains(&excess), "{excess}");
}
