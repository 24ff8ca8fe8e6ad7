//! Many trials in a few numbers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::kept::ReportedInterval;
use crate::trial::TrialOutcome;

#[cfg(test)]
mod tests;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mean {
    /// The mean; in JSON null, as the others, if a step of a baseline was so large that numbers overflowed.
    #[schemars(with = "Option<f64>")]
    pub mean: f64,
    /// Its standard error; zero for a single trial.
    #[schemars(with = "Option<f64>")]
    pub std_error: f64,
    /// The middle value.
    #[schemars(with = "Option<f64>")]
    pub median: f64,
}

/// What trials came out to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// True features that were kept.
    pub recovered: Mean,
    /// The same as a share of all true features.
    pub recovered_share: Mean,
    /// Kept features.
    pub kept: Mean,
    /// The share of the kept features that is not true; zero in a trial that kept none.
    pub false_share: Mean,
    /// The share of the reported intervals, over all kept features, that contain the coefficient of the best linear
    /// prediction by the kept features; absent if no interval was reported.
    pub coverage: Option<Mean>,
    /// The width of these intervals.
    pub width: Option<Mean>,
    /// Mean squared error on new records.
    pub test_mse: Mean,
    /// One minus that, relative to predicting zero.
    pub test_r2: Mean,
    /// Mean squared error of predicting zero.
    pub null_mse: f64,
    /// Of the deviance that the true model explains, the share that the model explains: of zeros and ones, or of which of
    /// two records has its event first.
    pub deviance_share: Option<Mean>,
    /// Of zeros and ones: how often a one has a larger predictor than a zero.
    pub auc: Option<Mean>,
    /// Of times: how often the record of the larger predictor has its event first.
    pub concordance: Option<Mean>,
}

impl Mean {
    /// Of all values of all `groups`; its standard error takes values of one group as dependent. None if there are no
    /// values.
    ///
    /// # Why
    /// The mean over all values is a ratio of two means over groups, of the sum and of the number of values. Its standard
    /// error is that of the sums minus the mean times the numbers, over the mean number.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 trials")]
    pub fn of_groups(groups: &[Vec<f64>]) -> Option<Self> {
        let all = Self::of(&groups.concat());
        if !all.median.is_finite() {
            return None;
        }
        let residuals = groups
            .iter()
            .map(|values| values.iter().sum::<f64>() - all.mean * values.len() as f64);
        let residuals = Self::of(&residuals.collect::<Vec<f64>>());
        let size = groups.iter().map(Vec::len).sum::<usize>() as f64 / groups.len() as f64;
        Some(Self {
            std_error: residuals.std_error / size,
            ..all
        })
    }

    /// Of these values; not a number if there are none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 trials")]
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let std_error = if values.len() > 1 {
            (squares / (count - 1.0) / count).sqrt()
        } else {
            0.0
        };
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let upper = sorted.get(values.len() / 2).copied().unwrap_or(f64::NAN);
        let lower = sorted
            .get(values.len().saturating_sub(1) / 2)
            .copied()
            .unwrap_or(f64::NAN);
        Self {
            mean,
            std_error,
            median: f64::midpoint(lower, upper),
        }
    }
}

impl Summary {
    /// Of these trials, with `support` true features each.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    pub fn of(outcomes: &[TrialOutcome], support: usize) -> Self {
        let of = |value: fn(&TrialOutcome) -> f64| {
            Mean::of(&outcomes.iter().map(value).collect::<Vec<f64>>())
        };
        let recovered = of(|outcome| outcome.recovered as f64);
        let active = support.max(1) as f64;
        let of_intervals = |value: fn(&ReportedInterval) -> f64| {
            let intervals = outcomes.iter().map(|outcome| &outcome.kept.intervals);
            let groups = intervals.map(|intervals| intervals.iter().map(value).collect());
            Mean::of_groups(&groups.collect::<Vec<Vec<f64>>>())
        };
        let of_some = |value: fn(&TrialOutcome) -> Option<f64>| {
            let values: Vec<f64> = outcomes.iter().filter_map(value).collect();
            (!values.is_empty()).then(|| Mean::of(&values))
        };
        Self {
            recovered,
            recovered_share: Mean {
                mean: recovered.mean / active,
                std_error: recovered.std_error / active,
                median: recovered.median / active,
            },
            kept: of(|outcome| outcome.kept.features.len() as f64),
            false_share: of(|outcome| outcome.kept.false_share()),
            coverage: of_intervals(|interval| f64::from(u8::from(interval.covers))),
            width: of_intervals(|interval| interval.width),
            test_mse: of(|outcome| outcome.test_mse),
            test_r2: of(|outcome| 1.0 - outcome.test_mse / outcome.null_mse),
            null_mse: of(|outcome| outcome.null_mse).mean,
            deviance_share: of_some(|one| match (&one.odds, &one.times) {
                (Some(odds), _) => odds.deviance_share,
                (None, Some(times)) => times.deviance_share,
                (None, None) => None,
            }),
            auc: of_some(|one| one.odds.map(|odds| odds.auc)),
            concordance: of_some(|one| one.times.map(|times| times.concordance)),
        }
    }
}
