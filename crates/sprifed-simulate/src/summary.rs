//! Many trials in a few numbers.

use schemars::JsonSchema;
use serde::Serialize;

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
    /// True features found.
    pub recovered: Mean,
    /// The same as a share of all true features.
    pub recovered_share: Mean,
    /// Mean squared error on new records.
    pub test_mse: Mean,
    /// One minus that, relative to predicting zero.
    pub test_r2: Mean,
    /// Mean squared error of predicting zero.
    pub null_mse: f64,
}

impl Mean {
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
    /// Of these trials, with `sparsity` true features each.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a sparsity is small")]
    pub fn of(outcomes: &[TrialOutcome], sparsity: usize) -> Self {
        let of = |value: fn(&TrialOutcome) -> f64| {
            Mean::of(&outcomes.iter().map(value).collect::<Vec<f64>>())
        };
        let recovered = of(|outcome| outcome.recovered as f64);
        let active = sparsity.max(1) as f64;
        Self {
            recovered,
            recovered_share: Mean {
                mean: recovered.mean / active,
                std_error: recovered.std_error / active,
                median: recovered.median / active,
            },
            test_mse: of(|outcome| outcome.test_mse),
            test_r2: of(|outcome| 1.0 - outcome.test_mse / outcome.null_mse),
            null_mse: of(|outcome| outcome.null_mse).mean,
        }
    }
}
