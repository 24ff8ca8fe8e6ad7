//! A good few of several features, from their noisy second moments alone: post-processing.

use crate::least_squares::NoisyNormalEquations;
use crate::portable::{dot, larger, square};
use crate::square_matrix::{Cholesky, SquareMatrix};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// The positions of the `size` features that explain most, by orthogonal matching pursuit on the
/// repaired Gram matrix followed by swaps as long as one improves the fit. A local search: a better
/// subset that is two exchanges away may be missed.
#[must_use]
pub fn best_subset(equations: &NoisyNormalEquations, size: usize) -> Vec<usize> {
    let total = equations.cross.len();
    if size >= total {
        return (0..total).collect();
    }
    let repaired = Repaired::new(equations);
    let mut chosen = repaired.pursue(size);
    for _ in 0..2 * size {
        match repaired.best_swap(&chosen) {
            Some(better) => chosen = better,
            None => break,
        }
    }
    chosen
}

struct Repaired {
    gram: SquareMatrix,
    cross: Vec<f64>,
}

impl Repaired {
    fn new(equations: &NoisyNormalEquations) -> Self {
        let (gram, _) = equations.repaired_gram();
        Self {
            gram,
            cross: equations.cross.clone(),
        }
    }

    fn factor(&self, chosen: &[usize]) -> Option<Cholesky> {
        self.gram.restricted(chosen).cholesky()
    }

    fn solve(&self, chosen: &[usize], factor: Option<&Cholesky>) -> Vec<f64> {
        let cross: Vec<f64> = chosen.iter().map(|index| self.cross[*index]).collect();
        factor.map_or_else(|| vec![0.0; chosen.len()], |factor| factor.solve(&cross))
    }

    fn explained(&self, chosen: &[usize], solution: &[f64]) -> f64 {
        let cross: Vec<f64> = chosen.iter().map(|index| self.cross[*index]).collect();
        dot(&cross, solution)
    }

    /// What is left of the correlation with each feature.
    fn residual(&self, chosen: &[usize], solution: &[f64]) -> Vec<f64> {
        let mut left = self.cross.clone();
        for (index, value) in chosen.iter().zip(solution) {
            for (left, entry) in left.iter_mut().zip(self.gram.row(*index)) {
                *left -= entry * value;
            }
        }
        left
    }

    fn pursue(&self, size: usize) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(size);
        while chosen.len() < size {
            let factor = self.factor(&chosen);
            let left = self.residual(&chosen, &self.solve(&chosen, factor.as_ref()));
            let strength = |index: usize| left[index].abs() / self.gram[(index, index)].sqrt();
            let open = (0..self.cross.len()).filter(|index| !chosen.contains(index));
            let best = open.max_by(|a, b| strength(*a).total_cmp(&strength(*b)));
            let Some(best) = best else { break };
            chosen.push(best);
        }
        chosen
    }

    /// The support with one feature exchanged that explains most, if it explains more.
    fn best_swap(&self, chosen: &[usize]) -> Option<Vec<usize>> {
        let solution = self.solve(chosen, self.factor(chosen).as_ref());
        let mut best = self.explained(chosen, &solution) * (1.0 + 1e-9);
        let mut better = None;
        for leaving in 0..chosen.len() {
            let mut kept = chosen.to_vec();
            let left_out = kept.remove(leaving);
            let factor = self.factor(&kept);
            let solution = self.solve(&kept, factor.as_ref());
            let base = self.explained(&kept, &solution);
            let left = self.residual(&kept, &solution);
            for (entering, correlation) in left.iter().enumerate() {
                if entering == left_out || kept.contains(&entering) {
                    continue;
                }
                let remaining = self.remaining_variance(&kept, factor.as_ref(), entering);
                let gain = square(*correlation) / remaining;
                if base + gain > best {
                    best = base + gain;
                    let mut swapped = kept.clone();
                    swapped.push(entering);
                    better = Some(swapped);
                }
            }
        }
        better
    }

    /// The variance of a feature that the kept ones do not explain.
    fn remaining_variance(
        &self,
        kept: &[usize],
        factor: Option<&Cholesky>,
        entering: usize,
    ) -> f64 {
        let shared: Vec<f64> = kept.iter().map(|row| self.gram[(*row, entering)]).collect();
        let explained = factor.map_or(0.0, |factor| {
            let forward = factor.forward(&shared);
            dot(&forward, &forward)
        });
        larger(self.gram[(entering, entering)] - explained, 1e-9)
    }
}
