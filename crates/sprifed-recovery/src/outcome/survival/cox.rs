//! Cox's model of the features that the linear procedure kept: steps of Newton's method, each with a hazard of its own.
//!
//! # Notation
//! | symbol | is |
//! |---|---|
//! | z | (1, x): the constant, the features of every model and the kept ones, in units of the feature scale |
//! | θ | the coefficients at which is asked; the constant starts each step at zero |
//! | b, ē | the coefficients of the linear model of the martingale residual; the share of events |
//!
//! # Why
//! docs/proofs/event_times.md#5-the-refit-and-what-its-intervals-leave-out. Between the steps the hazard is asked again, by
//! the risks at θ: with the hazard of records without features the slopes come out 12 to 16 % too small.

use sprifed_query::{
    Answer, Constant, Expectation, FeatureList, Limit, LinearModel, MOST_EXPECTED, Question,
    ScoreStep,
};

use super::STEPS;
use super::baseline::{Baseline, Counted};
use crate::conclusion::two_sided;
use crate::fit::{Fit, FitStatus};
use crate::inference::{
    Inference, Inferred, Interval, NoInterval, ReportedTerm, Role, SurvivalNoise,
};
use crate::opening::Opening;
use crate::outcome::newton::{Most, Step, at_most_long, clip_norm};
use crate::portable::square;
use crate::selection::{Estimate, wald};

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// The longest step before the last, and of a model that predicts.
const LONGEST_STEP: f64 = 2.0;

/// By how much standard errors are enlarged for the noise of the hazard, which moves all coefficients together. It is
/// measured, not proved (docs/inference.md).
const BASELINE_FACTOR: f64 = 1.15;

/// A refit, waiting for an answer.
#[derive(Clone, Debug)]
pub(super) struct CoxRefit {
    n_records: u32,
    feature_scale: f64,
    features: Vec<u32>,
    /// θ, in units of scaled features.
    coefficients: Vec<f64>,
    /// What the linear procedure ended with.
    linear: Fit,
    /// How many steps are done.
    done: u32,
    /// The hazard of the step that is asked about, once it is known.
    baseline: Option<Baseline>,
}

/// What follows from an answer.
pub(super) enum Next {
    /// More questions.
    Ask(Vec<Question>, Box<CoxRefit>),
    /// The fit.
    Done(Box<Fit>),
}

impl CoxRefit {
    /// The refit of `linear`, a fit of martingale residuals, where `first` is the hazard they were made with.
    pub(super) fn of(linear: Fit, first: &Baseline, opening: &Opening, n_records: u32) -> Self {
        let features: Vec<u32> = match linear.inference.available() {
            Some(report) => report.terms.iter().map(|term| term.feature).collect(),
            None => linear.model.support(),
        };
        let unit = opening.feature_scale / first.event_share;
        let slope = |feature: &u32| {
            let mut terms = linear.model.terms.iter();
            let found = terms.find(|(known, _)| known == feature);
            found.map_or(0.0, |(_, value)| value * unit)
        };
        Self {
            n_records,
            feature_scale: opening.feature_scale,
            coefficients: features.iter().map(slope).collect(),
            features,
            linear,
            done: 0,
            baseline: None,
        }
    }

    /// The next questions.
    pub(super) fn questions(&self) -> Vec<Question> {
        let model = self.model(0.0, &self.coefficients).into();
        let Some(baseline) = &self.baseline else {
            return super::questions(Some(model));
        };
        let step = ScoreStep {
            expects: Expectation::Events(baseline.released()),
            support: FeatureList::of(&self.features),
            constant: Constant::One,
            model,
            feature: Limit::nearest(self.feature_scale),
            norm: Limit::nearest(clip_norm(self.features.len())),
        };
        vec![
            Question::ScoreGradient(step.clone()),
            Question::ScoreCurvature(step),
        ]
    }

    /// What follows from the answer to [`Self::questions`].
    pub(super) fn resume(mut self, answer: &Answer) -> Next {
        let Some(baseline) = self.baseline.take() else {
            let [events, left] = answer.blocks.as_slice() else {
                return Next::Done(Box::new(self.linear));
            };
            let found = Baseline::of(events, left, Counted::ByRisk, self.n_records);
            self.baseline = Some(found);
            return Next::Ask(self.questions(), Box::new(self));
        };
        let most = Most {
            residual: MOST_EXPECTED,
            weight: MOST_EXPECTED,
        };
        let Some(step) = Step::of(answer, self.features.len(), most) else {
            return Next::Done(Box::new(self.linear));
        };
        self.done += 1;
        if self.done >= STEPS {
            return Next::Done(Box::new(self.finish(&step, baseline, answer)));
        }
        let moved = at_most_long(step.shrunk, LONGEST_STEP);
        for (coefficient, change) in self.coefficients.iter_mut().zip(moved.iter().skip(1)) {
            *coefficient += change;
        }
        Next::Ask(self.questions(), Box::new(self))
    }

    /// What is refitted.
    pub(super) fn unfinished(self) -> Fit {
        self.linear
    }

    /// A model of these coefficients of scaled features, in bounded units.
    fn model(&self, intercept: f64, coefficients: &[f64]) -> LinearModel {
        let terms = self.features.iter().zip(coefficients);
        LinearModel {
            intercept,
            terms: terms
                .map(|(feature, value)| (*feature, value / self.feature_scale))
                .collect(),
        }
    }

    fn finish(self, step: &Step, baseline: Baseline, answer: &Answer) -> Fit {
        let moved = at_most_long(step.shrunk.clone(), LONGEST_STEP);
        let moves = moved.iter().skip(1);
        let coefficients: Vec<f64> = self
            .coefficients
            .iter()
            .zip(moves)
            .map(|(value, change)| value + change)
            .collect();
        let intercept = moved.first().copied().unwrap_or(0.0);
        let report = match &self.linear.inference {
            Inferred::Available(linear) => Inferred::Available(self.report(linear, step)),
            none @ Inferred::NotAvailable { .. } => none.clone(),
        };
        Fit {
            model: self.model(intercept, &coefficients),
            status: status(self.linear.status, step, self.features.len()),
            inference: report,
            residual_scale: None,
            baseline: Some(baseline),
            provenance: Some(answer.provenance),
            ..self.linear
        }
    }

    /// The report of the linear procedure with the estimates and intervals of the last step.
    fn report(&self, linear: &Inference, step: &Step) -> Inference {
        let is_known = linear
            .no_intervals
            .is_none_or(|reason| reason == NoInterval::FewRecords);
        let has_intervals = linear.no_intervals.is_none();
        let factor = square(BASELINE_FACTOR);
        let terms = linear.terms.iter().enumerate().map(|(index, term)| {
            let found = step.estimate(index + 1, self.coefficients[index]);
            let found = Estimate {
                variance: factor * found.variance,
                ..found
            };
            let p_value = match term.role {
                Role::Selected => term.p_value,
                Role::Always => is_known.then(|| two_sided(&found)),
            };
            let interval = has_intervals.then(|| wald(&found, 1.0 - term.level));
            ReportedTerm {
                estimate: found.value / self.feature_scale,
                interval: interval.and_then(|found| Interval::in_units(found, self.feature_scale)),
                p_value: p_value.filter(|p_value| (0.0..=1.0).contains(p_value)),
                privacy_share: found.privacy_share(),
                ..*term
            }
        });
        Inference {
            intercept: None,
            terms: terms.collect(),
            covariance: self.covariance(step, is_known),
            survival: Some(SurvivalNoise {
                score_noise: step.noise.0,
                curvature_noise: step.noise.1,
                baseline_factor: BASELINE_FACTOR,
            }),
            ..linear.clone()
        }
    }

    /// The covariance of the coefficients in bounded units; empty if it does not hold or is not finite.
    fn covariance(&self, step: &Step, is_known: bool) -> Vec<f64> {
        let size = self.features.len();
        let unit = square(BASELINE_FACTOR / self.feature_scale);
        let mut entries = Vec::with_capacity(size * (size + 1) / 2);
        for row in 1..=size {
            for column in row..=size {
                let sum = step.sampling[(row, column)] + step.privacy[(row, column)];
                entries.push(unit * sum);
            }
        }
        if is_known && entries.iter().all(|entry| entry.is_finite()) {
            entries
        } else {
            Vec::new()
        }
    }
}

/// How well the second moments tell features apart decides about the start only; what the last step says counts.
const fn status(linear: FitStatus, step: &Step, n_features: usize) -> FitStatus {
    match linear {
        FitStatus::Complete | FitStatus::IllConditioned { .. } if n_features > 0 => {
            if step.repaired > 0 {
                FitStatus::IllConditioned {
                    condition: step.condition,
                    repaired: step.repaired,
                }
            } else {
                FitStatus::Complete
            }
        }
        status => status,
    }
}
