//! Sites of generated records: of unequal sizes, each with a mean of its own.

use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// The sites of a generated world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldSites {
    /// How many there are; none by default.
    pub count: usize,
    /// The share of the response's variance that lies between them.
    pub r2: f64,
    /// Whether the fit gives each an intercept of its own.
    pub are_fitted: bool,
}

/// The largest site has this many records for each of the smallest.
const LARGEST_TO_SMALLEST: f64 = 25.0 / 3.0;

impl WorldSites {
    /// No sites.
    pub const NONE: Self = Self {
        count: 0,
        r2: 0.0,
        are_fitted: false,
    };

    /// How many of `records` each site has: from one to the next they fall by the same factor.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "shares of a number of records"
    )]
    pub fn sizes(&self, records: usize) -> Vec<u32> {
        let steps = self.count.saturating_sub(1).max(1) as f64;
        let weight = |site: usize| LARGEST_TO_SMALLEST.powf(-(site as f64) / steps);
        let all: f64 = (0..self.count).map(weight).sum();
        let mut before = 0.0;
        let ends: Vec<u32> = (0..self.count)
            .map(|site| {
                before += weight(site);
                (before / all * records as f64).round() as u32
            })
            .collect();
        let starts = core::iter::once(0).chain(ends.iter().copied());
        ends.iter()
            .zip(starts)
            .map(|(end, start)| end - start)
            .collect()
    }

    /// The means of the sites: drawn, and then of mean zero over all records and of this standard deviation.
    pub(crate) fn means(
        &self,
        records: usize,
        std_dev: f64,
        stream: &mut Xoshiro256PlusPlus,
    ) -> Vec<f64> {
        let sizes: Vec<f64> = self.sizes(records).into_iter().map(f64::from).collect();
        let draws: Vec<f64> = sizes
            .iter()
            .map(|_| StandardNormal.sample(stream))
            .collect();
        let all: f64 = sizes.iter().sum();
        let mean = |of: &dyn Fn(f64) -> f64| {
            let sum: f64 = sizes
                .iter()
                .zip(&draws)
                .map(|(size, draw)| size * of(*draw))
                .sum();
            sum / all.max(1.0)
        };
        let middle = mean(&|draw| draw);
        let spread = mean(&|draw| (draw - middle).powi(2)).sqrt();
        let scale = if spread > 0.0 { std_dev / spread } else { 0.0 };
        draws.iter().map(|draw| (draw - middle) * scale).collect()
    }
}
