//! How often each outcome was drawn, and the moments with their standard errors.

use std::collections::BTreeMap;
use std::ops::Bound;

/// Counts of outcomes.
#[derive(Debug)]
pub(super) struct Tally {
    counts: BTreeMap<i64, u32>,
    n_draws: u32,
}

impl Tally {
    pub(super) fn of(n_draws: u32, mut draw: impl FnMut() -> i64) -> Self {
        let mut counts = BTreeMap::new();
        for _ in 0..n_draws {
            *counts.entry(draw()).or_insert(0) += 1;
        }
        Self { counts, n_draws }
    }

    /// Draws from `first` to `last`, both included, and both optional.
    pub(super) fn count_within(&self, first: Option<i64>, last: Option<i64>) -> u32 {
        let [from, to] = [first, last].map(|end| end.map_or(Bound::Unbounded, Bound::Included));
        self.counts.range((from, to)).map(|(_, count)| count).sum()
    }

    /// The mean, with its standard error.
    pub(super) fn mean(&self) -> (f64, f64) {
        self.average(|outcome| outcome)
    }

    /// The second moment, with its standard error.
    pub(super) fn variance_around_zero(&self) -> (f64, f64) {
        self.average(|outcome| outcome * outcome)
    }

    /// The fourth moment over the squared second, with its standard error.
    ///
    /// To first order the ratio `k` moves as the average of `z⁴ - 2k·z²`, `z` being the outcome in
    /// standard deviations; the spread of that average is the standard error.
    pub(super) fn kurtosis_around_zero(&self) -> (f64, f64) {
        let (variance, _) = self.variance_around_zero();
        let (kurtosis, _) = self.average(|outcome| (outcome * outcome / variance).powi(2));
        let influence = |outcome: f64| {
            let square = outcome * outcome / variance;
            square * square - 2.0 * kurtosis * square
        };
        (kurtosis, self.average(influence).1)
    }

    /// The average of a function of the outcome, with its standard error.
    fn average(&self, value: impl Fn(f64) -> f64) -> (f64, f64) {
        let n_draws = f64::from(self.n_draws);
        let values = || {
            self.counts.iter().map(|(outcome, count)| {
                #[expect(clippy::cast_precision_loss, reason = "a moment is not exact anyway")]
                let outcome = *outcome as f64;
                (value(outcome), f64::from(*count))
            })
        };
        let mean = values().map(|(value, count)| value * count).sum::<f64>() / n_draws;
        let squares = values().map(|(value, count)| (value - mean).powi(2) * count);
        (mean, squares.sum::<f64>().sqrt() / n_draws)
    }
}
