//! Estimates of every coefficient, pooled over rounds with inverse-variance weights.

use crate::portable::larger;

#[cfg(test)]
mod tests;

/// One weighted sum for each feature.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    weighted: Vec<f64>,
    weights: Vec<f64>,
}

/// The candidates of a round, strongest first.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    /// Features with their pooled estimate and its ratio to the noise, by falling absolute ratio.
    pub(crate) ranked: Vec<Ranked>,
    /// What a ratio of pure noise is expected to be: one, or more if the design adds to it.
    pub(crate) background: f64,
}

/// A candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranked {
    pub(crate) feature: u32,
    pub(crate) estimate: f64,
    pub(crate) ratio: f64,
}

impl Pool {
    pub(crate) fn new(features: usize) -> Self {
        Self {
            weighted: vec![0.0; features],
            weights: vec![0.0; features],
        }
    }

    /// Adds one estimate of a coefficient.
    pub(crate) fn add(&mut self, feature: u32, estimate: f64, variance: f64) {
        let index = feature as usize;
        self.weighted[index] += estimate / variance;
        self.weights[index] += 1.0 / variance;
    }

    /// The pooled estimate of a feature and its variance: zero and infinity if there is none yet.
    pub(crate) fn estimate(&self, feature: u32) -> (f64, f64) {
        let index = feature as usize;
        let (weighted, weight) = (self.weighted[index], self.weights[index]);
        if weight > 0.0 {
            (weighted / weight, 1.0 / weight)
        } else {
            (0.0, f64::INFINITY)
        }
    }

    /// The largest absolute ratio of a pooled estimate to its standard deviation among `features`, each as
    /// it was when it was last estimated.
    pub(crate) fn largest_ratio(&self, features: impl Iterator<Item = u32>) -> f64 {
        let ratios = features.map(|feature| {
            let (estimate, variance) = self.estimate(feature);
            estimate.abs() / variance.sqrt()
        });
        ratios.fold(0.0, |most, ratio| larger(ratio, most))
    }

    /// Ranks `candidates`; `are_all` says whether they are all features, most of them inactive.
    pub(crate) fn rank(&self, candidates: &[u32], are_all: bool) -> Ranking {
        let mut ranked: Vec<Ranked> = candidates
            .iter()
            .map(|feature| {
                let index = *feature as usize;
                let estimate = self.weighted[index] / self.weights[index];
                let ratio = self.weighted[index] / self.weights[index].sqrt();
                Ranked {
                    feature: *feature,
                    estimate,
                    ratio,
                }
            })
            .collect();
        ranked.sort_by(|left, right| right.ratio.abs().total_cmp(&left.ratio.abs()));
        let middle = ranked
            .get(ranked.len() / 2)
            .map_or(0.0, |candidate| candidate.ratio.abs());
        // 1.4826 times the median absolute value is the standard deviation of a normal.
        let background = if are_all {
            larger(1.4826 * middle, 1.0)
        } else {
            1.0
        };
        Ranking { ranked, background }
    }
}

/// The middle value; zero if there is none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    let middle = sorted.len() / 2;
    if sorted.is_empty() {
        return 0.0;
    }
    *sorted.select_nth_unstable_by(middle, f64::total_cmp).1
}
