//! The best few of several features, from their noisy second moments alone: post-processing.

use nalgebra::{DMatrix, DVector};

use crate::least_squares::NoisyNormalEquations;

#[cfg(test)]
mod tests;

/// The positions of the `size` features that explain most, by orthogonal matching pursuit on the
/// repaired Gram matrix followed by swaps as long as one improves the fit.
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
    gram: DMatrix<f64>,
    cross: DVector<f64>,
}

impl Repaired {
    fn new(equations: &NoisyNormalEquations) -> Self {
        let (gram, _) = equations.repaired_gram();
        Self {
            gram,
            cross: equations.cross.clone(),
        }
    }

    fn solve(&self, chosen: &[usize]) -> DVector<f64> {
        let gram = DMatrix::from_fn(chosen.len(), chosen.len(), |row, column| {
            self.gram[(chosen[row], chosen[column])]
        });
        let cross = DVector::from_fn(chosen.len(), |row, _| self.cross[chosen[row]]);
        gram.cholesky().map_or_else(
            || DVector::zeros(chosen.len()),
            |factor| factor.solve(&cross),
        )
    }

    fn explained(&self, chosen: &[usize], solution: &DVector<f64>) -> f64 {
        chosen
            .iter()
            .zip(solution.iter())
            .map(|(index, value)| self.cross[*index] * value)
            .sum()
    }

    /// What is left of the correlation with each feature.
    fn residual(&self, chosen: &[usize], solution: &DVector<f64>) -> DVector<f64> {
        let mut left = self.cross.clone();
        for (index, value) in chosen.iter().zip(solution.iter()) {
            left -= self.gram.column(*index) * *value;
        }
        left
    }

    fn pursue(&self, size: usize) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(size);
        while chosen.len() < size {
            let left = self.residual(&chosen, &self.solve(&chosen));
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
        let mut best = self.explained(chosen, &self.solve(chosen)) * (1.0 + 1e-9);
        let mut better = None;
        for leaving in 0..chosen.len() {
            let mut kept = chosen.to_vec();
            let left_out = kept.remove(leaving);
            let solution = self.solve(&kept);
            let base = self.explained(&kept, &solution);
            let left = self.residual(&kept, &solution);
            for entering in 0..self.cross.len() {
                if entering == left_out || kept.contains(&entering) {
                    continue;
                }
                let gain = left[entering].powi(2) / self.remaining_variance(&kept, entering);
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
    fn remaining_variance(&self, kept: &[usize], entering: usize) -> f64 {
        let partners = DVector::from_fn(kept.len(), |row, _| self.gram[(kept[row], entering)]);
        let gram = DMatrix::from_fn(kept.len(), kept.len(), |row, column| {
            self.gram[(kept[row], kept[column])]
        });
        let explained = gram
            .cholesky()
            .map_or(0.0, |factor| partners.dot(&factor.solve(&partners)));
        (self.gram[(entering, entering)] - explained).max(1e-9)
    }
}
