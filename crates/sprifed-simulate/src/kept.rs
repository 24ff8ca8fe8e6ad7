//! What a fit of a generated world kept, and whether its intervals contain what they are about.

use sprifed_query::LinearModel;
use sprifed_recovery::{Fit, Role};

#[cfg(test)]
mod tests;

/// What a fit kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// The kept features; all of the model if the fit does not say which.
    pub features: Vec<u32>,
    /// How many of them are not true.
    pub false_ones: usize,
    /// The reported intervals of kept features; none where what they are about is not known.
    pub intervals: Vec<ReportedInterval>,
}

/// A reported interval beside what it is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportedInterval {
    /// Its width.
    pub width: f64,
    /// Whether it contains the coefficient of the best model of the reported features.
    pub covers: bool,
}

impl Kept {
    /// What `fit` kept in a world with this `truth`. `targets` says what the coefficients of some features are to be where
    /// those are all of a model; where it does not, intervals are not judged.
    #[must_use]
    pub fn of(
        fit: &Fit,
        truth: &LinearModel,
        targets: impl FnOnce(&[u32]) -> Option<Vec<f64>>,
    ) -> Self {
        let Some(inference) = fit.inference.available() else {
            return Self::without_intervals(fit.model.support(), truth);
        };
        let is_kept = |role| role == Role::Selected;
        let kept = inference.terms.iter().filter(|term| is_kept(term.role));
        let kept = Self::without_intervals(kept.map(|term| term.feature).collect(), truth);
        let reported: Vec<u32> = inference.terms.iter().map(|term| term.feature).collect();
        let targets = targets(&reported);
        let pairs = inference.terms.iter().zip(targets.into_iter().flatten());
        let pairs = pairs.filter(|(term, _)| is_kept(term.role));
        let intervals = pairs.filter_map(|(term, target)| {
            let interval = term.interval?;
            Some(ReportedInterval {
                width: interval.high - interval.low,
                covers: (interval.low..=interval.high).contains(&target),
            })
        });
        Self {
            intervals: intervals.collect(),
            ..kept
        }
    }

    fn without_intervals(features: Vec<u32>, truth: &LinearModel) -> Self {
        let true_ones = truth.support();
        let is_false = |feature: &&u32| !true_ones.contains(feature);
        Self {
            false_ones: features.iter().filter(is_false).count(),
            features,
            intervals: Vec::new(),
        }
    }

    /// How many of the true features were kept.
    #[must_use]
    pub const fn true_ones(&self) -> usize {
        self.features.len() - self.false_ones
    }

    /// The share of the kept features that is not true; zero if none was kept.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a few features are kept")]
    pub fn false_share(&self) -> f64 {
        self.false_ones as f64 / self.features.len().max(1) as f64
    }
}
