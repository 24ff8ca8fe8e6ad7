//! Scores of predicted probabilities, beside those of the null model.

use schemars::JsonSchema;
use serde::Serialize;

#[cfg(test)]
mod tests;

/// How well probabilities fit, beside the share of events among the scored records for every record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BinaryFitness {
    /// The share of events among the scored records.
    pub events: f64,
    /// The mean of minus the logarithm of the probability of what happened.
    pub log_loss: f64,
    /// The same of the null model.
    pub null_log_loss: f64,
    /// How often an event has a larger probability than a record without one, equal ones counted as half; that of the null
    /// model is a half. `None` if all records are events, or none is.
    pub auc: Option<f64>,
    /// By what the log odds of the predictions would have to be multiplied to fit the scored records best: below one, they
    /// are too far from each other. `None` if they do not vary, or separate the events.
    pub calibration_slope: Option<f64>,
}

/// A probability is at least this far from zero and one.
const LEAST: f64 = 1e-15;

/// Newton's method ends after so many steps.
const MOST_STEPS: usize = 50;

/// A slope as large as this fits records that are separated.
const LARGEST_SLOPE: f64 = 1e4;

impl BinaryFitness {
    /// Of pairs of a probability and what happened, zero or one.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of records are far below 2^53"
    )]
    pub(super) fn of(pairs: &[(f64, f64)]) -> Self {
        let count = pairs.len() as f64;
        let events = pairs.iter().map(|(_, actual)| actual).sum::<f64>() / count;
        let loss = |predicted: f64, actual: f64| {
            let predicted = predicted.clamp(LEAST, 1.0 - LEAST);
            -actual * predicted.ln() - (1.0 - actual) * (1.0 - predicted).ln()
        };
        let mean = |of: &dyn Fn(f64) -> f64| {
            let losses = pairs.iter().map(|(one, actual)| loss(of(*one), *actual));
            losses.sum::<f64>() / count
        };
        Self {
            events,
            log_loss: mean(&|predicted| predicted),
            null_log_loss: mean(&|_| events),
            auc: auc(pairs),
            calibration_slope: calibration_slope(pairs),
        }
    }

    pub(super) fn text(&self) -> String {
        let shown = |number: Option<f64>| {
            number.map_or("undefined".to_owned(), |number| format!("{number:.4}"))
        };
        format!(
            "log loss {:.6} beside {:.6}, AUC {} beside 0.5, calibration slope {}",
            self.log_loss,
            self.null_log_loss,
            shown(self.auc),
            shown(self.calibration_slope)
        )
    }
}

/// By ranks: the sum of the ranks of events, equal predictions at the middle of theirs.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of records are far below 2^53"
)]
fn auc(pairs: &[(f64, f64)]) -> Option<f64> {
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (mut below, mut ranks, mut events) = (0.0, 0.0, 0.0);
    for equal in sorted.chunk_by(|left, right| left.0.total_cmp(&right.0).is_eq()) {
        let here = equal.iter().map(|(_, actual)| actual).sum::<f64>();
        ranks += here * (below + (equal.len() as f64 + 1.0) / 2.0);
        events += here;
        below += equal.len() as f64;
    }
    let others = below - events;
    (events > 0.0 && others > 0.0)
        .then(|| (ranks - events * (events + 1.0) / 2.0) / (events * others))
}

/// The slope of a logistic regression on the log odds of the predictions.
fn calibration_slope(pairs: &[(f64, f64)]) -> Option<f64> {
    let odds = |predicted: f64| {
        let predicted = predicted.clamp(LEAST, 1.0 - LEAST);
        (predicted / (1.0 - predicted)).ln()
    };
    let pairs: Vec<(f64, f64)> = pairs
        .iter()
        .map(|(predicted, actual)| (odds(*predicted), *actual))
        .collect();
    let (mut intercept, mut slope) = (0.0, 0.0);
    for _ in 0..MOST_STEPS {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for (x, actual) in &pairs {
            let share = 1.0 / (1.0 + (-(intercept + slope * x)).exp());
            let (left, weight) = (actual - share, share * (1.0 - share));
            g = [g[0] + left, g[1] + left * x];
            h = [h[0] + weight, h[1] + weight * x, h[2] + weight * x * x];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        if determinant <= 1e-12 * h[0] * h[2] {
            return None;
        }
        let change = [
            (h[2] * g[0] - h[1] * g[1]) / determinant,
            (h[0] * g[1] - h[1] * g[0]) / determinant,
        ];
        // Long steps overshoot where few records decide.
        let length = change[0].hypot(change[1]).max(1.0);
        intercept += change[0] / length;
        slope += change[1] / length;
        if change[0].hypot(change[1]) < 1e-10 {
            return (slope.abs() < LARGEST_SLOPE).then_some(slope);
        }
    }
    None
}
