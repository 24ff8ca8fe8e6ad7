//! Exact selection probabilities, for lists short enough to be looked at.
//!
//! They are what the selecting samplers are tested against. Utilities are integers, as they are
//! on the grid where selections happen, and `rate` is λ = ε/(2 Δ∞).
//!
//! What this module does not do: it selects nothing, and charges nothing.

use crate::discrete_gaussian::integer_part;
use crate::quantity::quantity;

#[cfg(test)]
mod tests;

quantity!(
    /// λ = ε/(2 Δ∞): how strongly a selection prefers a utility that is larger by 1.
    SelectionRate,
    "the rate of a selection"
);

/// The integer noise of a report-noisy-max, with P(z) ∝ e^−λ|z|.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometricNoise {
    /// On z ≥ 0: permute-and-flip.
    OneSided,
    /// On all integers.
    TwoSided,
}

impl SelectionRate {
    /// The exponential mechanism: P(j) ∝ e^(λ u_j).
    #[must_use]
    pub fn exponential(self, utilities: &[i64]) -> Vec<f64> {
        let weights = self.weights(utilities);
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    /// The largest of u_j + ⌊G_j/λ⌋ with standard Gumbel G_j; a tie goes to the lowest index.
    ///
    /// # Why
    /// P(⌊G/λ⌋ ≤ k) = exp(−e^−λ(k+1)). The product of such terms over all rivals is one
    /// exponential, so that P(j) is a single sum over the winning value.
    #[must_use]
    pub fn floor_gumbel(self, utilities: &[i64]) -> Vec<f64> {
        let weights = self.weights(utilities);
        let step = (-self.get()).exp();
        // From where a winning value is impossible to where it no longer decides anything.
        let low = integer_part(-7.0 / self.get()) - 1;
        let high = integer_part((50.0 + (utilities.len() as f64).ln()) / self.get()) + 1;
        (0..weights.len())
            .map(|winner| {
                let (own, before, after) = split(&weights, winner);
                let rivals = before + step * (after + own);
                let term = |value: i64| {
                    let scale = (-self.get() * value as f64).exp();
                    let decided = scale * own * (1.0 - step);
                    (-scale * rivals).exp() * -(-decided).exp_m1()
                };
                (low..=high).rev().map(term).sum()
            })
            .collect()
    }

    /// The largest of u_j + Z_j with geometric Z_j; a tie goes to the lowest index.
    #[must_use]
    pub fn noisy_maximum(self, utilities: &[i64], noise: GeometricNoise) -> Vec<f64> {
        let Some(&largest) = utilities.iter().max() else {
            return Vec::new();
        };
        let smallest = utilities.iter().min().copied().unwrap_or(largest);
        let margin = integer_part(50.0 / self.get()) + 1;
        let low = match noise {
            GeometricNoise::OneSided => largest - 1,
            GeometricNoise::TwoSided => smallest - margin,
        };
        let mut probabilities = vec![0.0; utilities.len()];
        for value in (low..=largest + margin).rev() {
            for (winner, probability) in probabilities.iter_mut().enumerate() {
                let mut term = self.geometric_mass(value - utilities[winner], noise);
                for (rival, &utility) in utilities.iter().enumerate() {
                    // A rival with a lower index would win the tie, so it must stay below.
                    let most = value - utility - i64::from(rival < winner);
                    if rival != winner {
                        term *= self.geometric_cumulative(most, noise);
                    }
                }
                *probability += term;
            }
        }
        probabilities
    }

    /// e^(λ (u_j − max u)).
    fn weights(self, utilities: &[i64]) -> Vec<f64> {
        let largest = utilities.iter().max().copied().unwrap_or(0);
        utilities
            .iter()
            .map(|&utility| (self.get() * (utility - largest) as f64).exp())
            .collect()
    }

    fn geometric_mass(self, z: i64, noise: GeometricNoise) -> f64 {
        let decay = (-self.get() * z.unsigned_abs() as f64).exp();
        let gap = -(-self.get()).exp_m1();
        match noise {
            GeometricNoise::OneSided if z < 0 => 0.0,
            GeometricNoise::OneSided => decay * gap,
            GeometricNoise::TwoSided => decay * gap / (1.0 + (-self.get()).exp()),
        }
    }

    /// P(Z ≤ z).
    fn geometric_cumulative(self, z: i64, noise: GeometricNoise) -> f64 {
        let above = (-self.get() * (z as f64 + 1.0)).exp();
        let both_sides = 1.0 + (-self.get()).exp();
        match noise {
            GeometricNoise::OneSided if z < 0 => 0.0,
            GeometricNoise::OneSided => -(-self.get() * (z as f64 + 1.0)).exp_m1(),
            GeometricNoise::TwoSided if z < 0 => (self.get() * z as f64).exp() / both_sides,
            GeometricNoise::TwoSided => 1.0 - above / both_sides,
        }
    }
}

/// The weight of `winner`, and the sums of those before and after it.
fn split(weights: &[f64], winner: usize) -> (f64, f64, f64) {
    let before = weights[..winner].iter().sum();
    let after = weights[winner + 1..].iter().sum();
    (weights[winner], before, after)
}
