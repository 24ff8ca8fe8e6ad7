//! From the answer to the last question to a fit: which features are kept, their estimates with
//! intervals and p-values, and the model that predicts. Post-processing: it costs nothing.

use core::ops::Range;

use sprifed_noise::Provenance;
use sprifed_privacy::PrivacyUnit;
use sprifed_query::{LinearModel, Link};

use self::evidence::Judged;
pub(crate) use self::evidence::{Evidence, Picked, PoolEvidence, two_sided};
use crate::fit::{Fit, FitStatus};
use crate::inference::{
    Inference, Inferred, Interval, NoInference, NoInterval, ReportedIntercept, ReportedTerm, Role,
};
use crate::joint::{LastAnswer, Solved};
use crate::least_squares::Solution;
use crate::opening::Opening;
use crate::outcome::refit::{Ended, Refit, Start};
use crate::portable::{larger, square};
use crate::selection::{Estimate, false_coverage_level, kept_by_benjamini_hochberg, wald};
use crate::setting::{Intercept, Keep, Setting};

mod evidence;

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests decide nothing for a study"
)]
mod tests;

/// The version of the method, which a receipt names.
const METHOD: u32 = 1;

/// q: the expected share of false features among the kept ones that is allowed.
const FALSE_SHARE: f64 = 0.1;

/// One less than the level of intervals without a selection.
const NOMINAL: f64 = 0.05;

/// Intervals need so many records. With fewer, those of false features were measured to be too short after a choice by
/// significance, and those of the intercept and of features of every model were not measured.
const LEAST_RECORDS: u32 = 300;

/// So many, of records that selected nothing.
const LEAST_OTHER_RECORDS: u32 = 112;

/// The noise on the first mean is small if it is at most this share of the residual: it then adds at most a hundredth to
/// the squared error.
const SMALL_MEAN_NOISE: f64 = 0.1;

/// All that a fit follows from.
#[derive(Clone, Debug)]
pub(crate) struct Conclusion<'a> {
    pub(crate) setting: &'a Setting,
    /// How many records would do, if there are fewer than one feature needs.
    pub(crate) too_few: Option<u64>,
    /// What the opening found.
    pub(crate) opening: Opening,
    /// The features that the last question was about, those of every model first.
    pub(crate) asked: &'a [u32],
    /// Its answer.
    pub(crate) answer: LastAnswer,
    /// By how much its clip was loosened.
    pub(crate) clip_factor: f64,
    /// ŝ: the unit of the residual in it.
    pub(crate) scale: f64,
    /// The intercept of the model that the residual was measured against.
    pub(crate) intercept: f64,
    /// The places of the features that were chosen, those of every model left out.
    pub(crate) chosen: Vec<usize>,
    /// The places of those of them that can be told apart: only these can be kept. Those of a group are one entry: it is
    /// kept as a whole or not at all.
    pub(crate) judged: Vec<Range<usize>>,
    /// How they were selected.
    pub(crate) evidence: Evidence,
    pub(crate) provenance: Option<Provenance>,
}

impl Conclusion<'_> {
    /// The fit, or what is asked next for it.
    pub(crate) fn ended(self) -> Ended {
        let (linear, kept) = self.fit();
        match self.setting.outcome.link() {
            None => Ended::Fit(Box::new(linear)),
            Some(link) => Ended::Refit(Box::new(self.refit(link, linear, &kept))),
        }
    }

    /// The refit of the features at `kept`.
    fn refit(&self, link: Link, linear: Fit, kept: &[usize]) -> Refit {
        let places = self.answer.places(kept);
        let (slopes, _, _) = self.answer.shrunk(kept);
        let slopes: Vec<f64> = slopes.iter().map(|slope| self.scale * slope).collect();
        let (means, covariance) = self.answer.spread(&places);
        // How well the second moments tell the kept features apart decides about the start only.
        let status = match linear.status {
            FitStatus::IllConditioned { .. } if !kept.is_empty() => FitStatus::Complete,
            status => status,
        };
        Refit {
            link,
            mean: self.opening.intercept,
            features: places.iter().map(|place| self.asked[*place]).collect(),
            start: Start::of(link, self.opening.intercept, &slopes, &means, &covariance),
            feature_scale: self.opening.feature_scale,
            has_records: self.has_records(),
            linear: Fit { status, ..linear },
        }
    }

    /// The linear fit, and the places of the features that it keeps.
    fn fit(&self) -> (Fit, Vec<usize>) {
        if let (Keep::Significant, Some(needed)) = (self.setting.choice, self.too_few) {
            let fit = self.mean_fit(FitStatus::TooFewRecords { needed });
            return (fit, Vec::new());
        }
        let (coefficients, change, solution) = self.answer.shrunk(&self.chosen);
        let intercept = self.intercept + self.scale * change;
        let chosen_model = self.model(&self.chosen, &coefficients, intercept);
        let selected = coefficients.get(self.answer.always()..).unwrap_or(&[]);
        let status = self.status_of_all(&solution, selected);
        if self.setting.unit == PrivacyUnit::Client {
            let reason = NoInference::ClientUnit;
            let fit = self.fit_of(chosen_model, Inferred::NotAvailable { reason }, status);
            return (fit, self.chosen.clone());
        }
        let all = self.answer.solve(&places_of(&self.judged));
        let mut judged = Judged::new(self, &all);
        let kept = self.kept(&mut judged, &all);
        let kept_solve = self.answer.solve(&places_of(&kept));
        let report = self.report(&judged, &kept, &kept_solve);
        let is_unsound = kept_solve.repaired > 0;
        let (model, status) = match self.setting.choice {
            Keep::Exactly if status == FitStatus::Complete && is_unsound => {
                (chosen_model, ill_conditioned(&kept_solve))
            }
            Keep::Exactly => (chosen_model, status),
            Keep::Significant if kept.is_empty() => {
                let status = if judged.is_refused {
                    ill_conditioned(&all)
                } else {
                    let largest_ratio = self.largest_ratio(&all);
                    FitStatus::NoFeatureAboveNoise { largest_ratio }
                };
                (self.mean_model(&kept_solve), status)
            }
            Keep::Significant if is_unsound => (chosen_model, ill_conditioned(&kept_solve)),
            Keep::Significant => (chosen_model, FitStatus::Complete),
        };
        let fit = self.fit_of(model, Inferred::Available(report), status);
        (fit, places_of(&kept))
    }

    /// What is reported of all judged features, which other records chose, and the status if the equations are unsound.
    pub(crate) fn estimates(self) -> (Inference, Option<FitStatus>) {
        let solved = self.answer.solve(&places_of(&self.judged));
        let judged = Judged::new(&self, &solved);
        let report = self.report(&judged, &self.judged, &solved);
        (
            report,
            (solved.repaired > 0).then(|| ill_conditioned(&solved)),
        )
    }

    /// The fit of the mean and the features of every model.
    fn mean_fit(&self, status: FitStatus) -> Fit {
        let solved = self.answer.solve(&[]);
        let model = self.mean_model(&solved);
        let inferred = match self.setting.unit {
            PrivacyUnit::Client => Inferred::NotAvailable {
                reason: NoInference::ClientUnit,
            },
            PrivacyUnit::Record => {
                let judged = Judged::new(self, &solved);
                Inferred::Available(self.report(&judged, &[], &solved))
            }
        };
        self.fit_of(model, inferred, status)
    }

    fn fit_of(&self, model: LinearModel, inference: Inferred, status: FitStatus) -> Fit {
        Fit {
            sites: Vec::new(),
            model,
            inference,
            status,
            residual_scale: Some(self.scale),
            baseline: None,
            cuts: Vec::new(),
            provenance: self.provenance,
        }
    }

    /// The status of a fit that keeps all chosen features: `selected` are their coefficients.
    fn status_of_all(&self, solution: &Solution, selected: &[f64]) -> FitStatus {
        let candidates = self.setting.n_candidates();
        solution
            .without_first(self.answer.always())
            .status_among(selected, candidates)
    }

    /// The model of the features of every model and of those at `kept`, with these coefficients in
    /// units of the equations.
    fn model(&self, kept: &[usize], coefficients: &[f64], intercept: f64) -> LinearModel {
        let unit = self.scale / self.opening.feature_scale;
        let places = (0..self.answer.always()).chain(kept.iter().copied());
        let terms = places.zip(coefficients);
        LinearModel {
            intercept,
            terms: terms
                .map(|(place, value)| (self.asked[place], value * unit))
                .collect(),
        }
    }

    /// The model without a selected feature. The opening and the last question both say what the
    /// mean is, with independent noise: each counts by the inverse of its noise's variance.
    ///
    /// # Why
    /// The last question weighs records with large features down. Where the response depends on them, its mean is that of
    /// the other records. The first mean has no such weights, and is taken alone where its noise is small.
    fn mean_model(&self, solved: &Solved) -> LinearModel {
        let (coefficients, change, _) = self.answer.shrunk(&[]);
        let mut intercept = self.intercept + self.scale * change;
        if let (Some(noise), true) = (self.opening.mean_noise, coefficients.is_empty()) {
            let last = square(self.scale) * solved.privacy[(0, 0)];
            let (first_weight, last_weight) = (1.0 / square(noise), 1.0 / last);
            let weight = if noise <= SMALL_MEAN_NOISE * self.scale {
                1.0
            } else {
                first_weight / (first_weight + last_weight)
            };
            if (0.0..=1.0).contains(&weight) {
                intercept += weight * (self.opening.intercept - intercept);
            }
        }
        self.model(&[], &coefficients, intercept)
    }

    /// The places of the features and groups that are kept. The p-values that decide about them are in `judged` afterwards,
    /// also where all are kept.
    fn kept(&self, judged: &mut Judged, all: &Solved) -> Vec<Range<usize>> {
        let passing = self.passing(judged.p_values.clone());
        let significant = match self.evidence {
            Evidence::Picks(_) => self.kept_by_variance(passing, judged, all),
            Evidence::Pool(_) | Evidence::OtherRecords => passing,
        };
        match self.setting.choice {
            Keep::Exactly => self.judged.clone(),
            Keep::Significant if judged.is_refused => Vec::new(),
            Keep::Significant => {
                let places = significant.iter().map(|index| self.judged[*index].clone());
                places.collect()
            }
        }
    }

    /// The places of the p-values that pass, among as many as features were sought.
    fn passing(&self, mut p_values: Vec<f64>) -> Vec<usize> {
        p_values.resize(p_values.len().max(self.setting.sparsity as usize), 1.0);
        kept_by_benjamini_hochberg(&p_values, FALSE_SHARE)
    }

    /// Repeats the choice with the residual variance that each feature would be judged by if only
    /// the other kept ones were in the model, and leaves the p-values of the last one in `judged`.
    ///
    /// # Why
    /// Each false pick is the best of p chances, so what all picks leave over is too small a
    /// variance: under the global null at 154 records, features were kept in a quarter of the runs.
    fn kept_by_variance(&self, first: Vec<usize>, judged: &mut Judged, all: &Solved) -> Vec<usize> {
        let mut kept = first;
        loop {
            let p_values: Vec<f64> = (0..self.judged.len())
                .map(|index| {
                    let others = kept.iter().filter(|other| **other != index);
                    let others: Vec<_> = others.map(|other| self.judged[*other].clone()).collect();
                    let others = self.answer.solve(&places_of(&others));
                    let variance = others.residual_variance_bound;
                    let inflation = larger(variance / all.residual_variance, 1.0);
                    judged.p_value_with(self, all, index, inflation)
                })
                .collect();
            judged.p_values.clone_from(&p_values);
            let passing = self.passing(p_values);
            let before = kept.len();
            kept.retain(|index| passing.contains(index));
            // It only shrinks, so this ends.
            if kept.len() == before {
                return kept;
            }
        }
    }

    /// The largest estimate of a chosen feature, in its standard errors.
    fn largest_ratio(&self, all: &Solved) -> f64 {
        let first = self.answer.always();
        let ratios = (0..places_of(&self.judged).len())
            .map(|index| all.estimate(first + index, self.scale, 1.0).ratio())
            .filter(|ratio| ratio.is_finite());
        ratios.fold(0.0, larger)
    }

    /// What is reported of the kept features and groups.
    fn report(&self, judged: &Judged, kept: &[Range<usize>], solved: &Solved) -> Inference {
        let setting = self.setting;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let miss = match self.evidence {
            Evidence::OtherRecords => NOMINAL,
            Evidence::Picks(_) | Evidence::Pool(_) => {
                false_coverage_level(count(kept.len()), setting.sparsity)
            }
        };
        let no_intervals = self.no_intervals(kept, solved);
        // The refit makes other estimates, with intervals of their own.
        let has_intervals = no_intervals.is_none() && self.setting.outcome.is_linear();
        let has_records = self.has_records();
        let is_known = no_intervals.is_none_or(|reason| reason == NoInterval::FewRecords);
        let always = self.answer.always();
        let mut terms = Vec::with_capacity(solved.places.len());
        for (index, place) in solved.places.iter().enumerate() {
            let estimate = solved.estimate(index, self.scale, 1.0);
            let (role, interval, miss, p_value) = if index < always {
                let interval = (has_intervals && has_records).then(|| wald(&estimate, NOMINAL));
                let p_value = has_records.then(|| two_sided(&estimate));
                (Role::Always, interval, NOMINAL, p_value)
            } else {
                let interval =
                    has_intervals.then(|| judged.interval(self, solved, index, &estimate, miss));
                let mut units = self.judged.iter();
                let judging = units.position(|judging| judging.contains(place));
                let p_value = judging.and_then(|index| judged.p_values.get(index).copied());
                (Role::Selected, interval, miss, Some(p_value.unwrap_or(1.0)))
            };
            let p_value = p_value.filter(|p_value| is_known && (0.0..=1.0).contains(p_value));
            terms.push(ReportedTerm {
                feature: self.asked[*place],
                role,
                group: self.group_of(*place),
                estimate: estimate.value / self.opening.feature_scale,
                interval: interval
                    .and_then(|found| Interval::in_units(found, self.opening.feature_scale)),
                level: 1.0 - miss,
                p_value,
                privacy_share: solved.privacy_share(solved.first + index),
            });
        }
        Inference {
            method: METHOD,
            sought: setting.sparsity,
            kept: count(kept.len()),
            false_share: (setting.choice == Keep::Significant).then_some(FALSE_SHARE),
            clip_factor: self.clip_factor,
            moment_noise: self.answer.noise(),
            residual_moment_noise: self.answer.residual_noise(),
            records: setting.n_records,
            inference: setting.inference,
            estimated_by: None,
            score: None,
            survival: None,
            no_intervals,
            intercept: self.reported_intercept(solved, has_intervals && has_records),
            terms,
            covariance: self.covariance(solved, is_known),
        }
    }

    /// The first feature of the group that was judged as one and has this place.
    fn group_of(&self, place: usize) -> Option<u32> {
        let mut groups = self.judged.iter().filter(|unit| unit.len() > 1);
        let group = groups.find(|unit| unit.contains(&place))?;
        self.asked.get(group.start).copied()
    }

    /// Whether there are enough records for ordinary intervals.
    const fn has_records(&self) -> bool {
        let least = match self.evidence {
            Evidence::OtherRecords => LEAST_OTHER_RECORDS,
            Evidence::Picks(_) | Evidence::Pool(_) => LEAST_RECORDS,
        };
        self.setting.n_records >= least
    }

    /// Why the fit that keeps `kept` has no intervals, if it has none.
    fn no_intervals(&self, kept: &[Range<usize>], solved: &Solved) -> Option<NoInterval> {
        let is_by_number = self.setting.choice == Keep::Exactly
            && !kept.is_empty()
            && !matches!(self.evidence, Evidence::OtherRecords);
        if solved.repaired > 0 && self.setting.outcome.is_linear() {
            Some(NoInterval::IllConditioned)
        } else if self.too_few.is_some() && !kept.is_empty() {
            Some(NoInterval::TooFewRecords)
        } else if !self.has_records() && !is_by_number {
            Some(NoInterval::FewRecords)
        } else {
            None
        }
    }

    fn reported_intercept(&self, solved: &Solved, has_interval: bool) -> Option<ReportedIntercept> {
        if self.setting.intercept == Intercept::Absent {
            return None;
        }
        let unit = square(self.scale);
        let sampling_variance = unit * solved.sampling[(0, 0)];
        let estimate = Estimate {
            value: self.intercept + self.scale * solved.intercept_change,
            sampling_variance,
            variance: sampling_variance + unit * solved.privacy[(0, 0)],
        };
        let interval = has_interval.then(|| wald(&estimate, NOMINAL));
        Some(ReportedIntercept {
            estimate: estimate.value,
            interval: interval.and_then(|interval| Interval::in_units(interval, 1.0)),
            level: 1.0 - NOMINAL,
            privacy_share: solved.privacy_share(0),
        })
    }

    /// The covariance of intercept and coefficients in bounded units; empty if it does not hold or a number of it is not
    /// finite.
    fn covariance(&self, solved: &Solved, is_known: bool) -> Vec<f64> {
        if !is_known {
            return Vec::new();
        }
        let size = solved.sampling.size();
        let unit = |index: usize| {
            if index < solved.first {
                self.scale
            } else {
                self.scale / self.opening.feature_scale
            }
        };
        let mut entries = Vec::with_capacity(size * (size + 1) / 2);
        for row in 0..size {
            for column in row..size {
                let sum = solved.sampling[(row, column)] + solved.privacy[(row, column)];
                entries.push(unit(row) * unit(column) * sum);
            }
        }
        if entries.iter().all(|entry| entry.is_finite()) {
            entries
        } else {
            Vec::new()
        }
    }
}

/// All places of these features and groups, in order.
fn places_of(units: &[Range<usize>]) -> Vec<usize> {
    units.iter().cloned().flatten().collect()
}

const fn ill_conditioned(solved: &Solved) -> FitStatus {
    FitStatus::IllConditioned {
        condition: solved.condition,
        repaired: solved.repaired,
    }
}
