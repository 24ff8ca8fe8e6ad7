//! What is reported of the coefficients in the units of the table: estimates, intervals, p-values, and how to read them.
//!
//! A procedure reports in bounded units. Each coefficient changes by a public factor. The intercept of the table is a
//! combination of all estimates where features have centres, so its variance needs their whole covariance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_query::Link;
use sprifed_recovery::{
    Inference, InferenceMethod, Inferred, Interval, NoInference, NoInterval, Role, ScoreNoise,
    SurvivalNoise,
};
use sprifed_schema::Mapping;

#[cfg(test)]
mod tests;
mod words;

/// The level that intervals are meant to have, on average over the kept features.
pub const LEVEL: f64 = 0.95;

/// The reach of an ordinary interval of that level, in standard errors: Φ⁻¹(0.975).
const REACH: f64 = 1.959_963_984_540_054;

/// Below this clip factor the intervals assume symmetric errors.
const LOOSE_CLIP: f64 = 1.5;

/// What is reported of the coefficients, or why nothing is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum ModelInference {
    /// Estimates, intervals and p-values.
    Available(Box<CoefficientReport>),
    /// Nothing.
    NotAvailable {
        /// Why, for scripts.
        reason: NoInference,
        /// Why, in words.
        words: String,
    },
}

/// The reported coefficients, in the units of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoefficientReport {
    /// The version of the method.
    pub method: u32,
    /// The most features that were sought, those that are always in the model not counted.
    pub sought: u32,
    /// How many of them were kept; a category that was picked as one counts as one.
    pub kept: u32,
    /// The expected share of false features among the kept that was allowed; absent if exactly as many were kept as were
    /// asked for.
    pub false_share: Option<f64>,
    /// The level that the intervals are meant to have, on average over the kept features.
    pub level: f64,
    /// n: how many records.
    pub records: u32,
    /// By which records features were chosen, and by which their coefficients were estimated.
    #[serde(default)]
    pub inference: InferenceMethod,
    /// How many of the records the estimates are made from; absent if it is all of them.
    #[serde(default)]
    pub estimated_by: Option<u32>,
    /// By how much the clip of the last question was loosened: its squared norm over the number of its entries.
    pub clip_factor: f64,
    /// The standard deviation of the noise on a diagonal entry of the last question, in its units.
    pub moment_noise: f64,
    /// The standard deviation of the noise on a diagonal entry of the residual moments, in their units, if intervals and
    /// p-values allow for errors of unequal variance; absent if they assume errors of about equal variance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual_moment_noise: Option<f64>,
    /// What is known of the step that made the estimates, where the response is no number: they are then of a generalised
    /// linear model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreNoise>,
    /// The same where the response is a time: estimates are logarithms of hazard ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<SurvivalNoise>,
    /// Why there are no intervals, if there are none.
    pub no_intervals: Option<NoInterval>,
    /// The intercept, if the model has one.
    pub intercept: Option<InterceptEstimate>,
    /// The kept features, then those that are always in the model.
    pub terms: Vec<TermEstimate>,
    /// The covariance of the estimates: of the intercept if there is one, then of the terms in their order. Empty if the
    /// equations are ill-conditioned.
    pub covariance: Vec<Vec<f64>>,
    /// How to read the estimates, intervals and p-values, a sentence or two each.
    pub notes: Vec<String>,
}

/// What is reported of one feature, in the units of its column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TermEstimate {
    /// The name of the feature.
    pub name: String,
    /// Whether it was selected, or is always in the model.
    pub role: Role,
    /// The category that it is a level of, if all levels were picked and kept together: the p-value is that of the category
    /// as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Its coefficient in the model of the reported features, without shrinkage.
    pub estimate: f64,
    /// By what the odds of the event are multiplied where the feature is larger by one; absent where the response is a
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odds_ratio: Option<Ratio>,
    /// By what the hazard is multiplied where the feature is larger by one; absent where the response is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hazard_ratio: Option<Ratio>,
    /// The standard error of the estimate, selection not counted.
    pub std_error: Option<f64>,
    /// Its confidence interval.
    pub interval: Option<Interval>,
    /// The level of this interval, after the adjustment for the number of kept features.
    pub level: f64,
    /// Of a feature that the same records selected: a bound on the chance that a feature without effect was selected in its
    /// place and comes out this strong. Of another: the ordinary two-sided p-value.
    pub p_value: Option<f64>,
    /// The share of the estimate's variance that is due to the noise added for privacy.
    pub privacy_share: Option<f64>,
}

/// An odds ratio or a hazard ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The exponential of the coefficient.
    pub estimate: f64,
    /// That of the ends of its interval.
    pub interval: Option<Interval>,
}

impl Ratio {
    /// None if a number is too large to be written down.
    fn of(coefficient: f64, interval: Option<Interval>) -> Option<Self> {
        let estimate = coefficient.exp();
        let interval = interval.map(|interval| Interval {
            low: interval.low.exp(),
            high: interval.high.exp(),
        });
        let is_finite = estimate.is_finite() && interval.is_none_or(|one| one.high.is_finite());
        is_finite.then_some(Self { estimate, interval })
    }
}

/// What is reported of the intercept: the response, after its transform, where all features are zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterceptEstimate {
    /// The estimate in the model of the reported features, without shrinkage.
    pub estimate: f64,
    /// Its standard error.
    pub std_error: Option<f64>,
    /// Its confidence interval.
    pub interval: Option<Interval>,
    /// The level of the interval.
    pub level: f64,
}

impl ModelInference {
    /// What `inferred` says in the units of the table; `names` are of all features.
    #[must_use]
    pub fn of(inferred: &Inferred, mapping: &Mapping, names: &[String]) -> Self {
        match inferred {
            Inferred::Available(inference) => {
                Self::Available(CoefficientReport::of(inference, mapping, names).into())
            }
            Inferred::NotAvailable { reason } => Self::NotAvailable {
                reason: *reason,
                words: words::not_available(*reason).to_owned(),
            },
        }
    }

    /// What is reported, if anything is.
    #[must_use]
    pub const fn available(&self) -> Option<&CoefficientReport> {
        match self {
            Self::Available(report) => Some(report),
            Self::NotAvailable { .. } => None,
        }
    }

    /// How many features were kept and what is expected of them, without a full stop; none if there is nothing to say.
    #[must_use]
    pub fn kept_words(&self) -> Option<String> {
        self.available().map(words::kept)
    }

    /// How to read the estimates, intervals and p-values, or why there are none.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Available(report) => report.notes.clone(),
            Self::NotAvailable { words, .. } => vec![words.clone()],
        }
    }
}

impl CoefficientReport {
    fn of(inference: &Inference, mapping: &Mapping, names: &[String]) -> Self {
        let original = Original::of(inference, mapping);
        let std_error = |place: usize| {
            let variance = original.covariance.get(place)?.get(place)?;
            Some(variance.sqrt()).filter(|error| error.is_finite())
        };
        let first_term = usize::from(inference.intercept.is_some());
        let term = |(place, term): (usize, &sprifed_recovery::ReportedTerm)| {
            let factor = original.factors[place];
            let estimate = factor * term.estimate;
            let interval = term.interval.map(|interval| Interval {
                low: factor * interval.low,
                high: factor * interval.high,
            });
            let has_odds = inference
                .score
                .is_some_and(|score| score.link == Link::Logit);
            TermEstimate {
                name: names[term.feature as usize].clone(),
                role: term.role,
                category: term
                    .group
                    .map(|first| mapping.column_of(first as usize).to_owned()),
                estimate,
                odds_ratio: has_odds.then(|| Ratio::of(estimate, interval)).flatten(),
                hazard_ratio: inference
                    .survival
                    .and_then(|_| Ratio::of(estimate, interval)),
                std_error: std_error(first_term + place),
                interval,
                level: term.level,
                p_value: term.p_value,
                privacy_share: term.privacy_share,
            }
        };
        let mut terms: Vec<TermEstimate> = inference.terms.iter().enumerate().map(term).collect();
        // Readers look for what was found first; the covariance follows the same order.
        let mut order: Vec<usize> = (0..terms.len()).collect();
        order.sort_by_key(|place| terms[*place].role == Role::Always);
        let places: Vec<usize> = (0..first_term)
            .chain(order.iter().map(|place| first_term + place))
            .collect();
        let covariance = match original.covariance.is_empty() {
            true => Vec::new(),
            false => reordered(&original.covariance, &places),
        };
        terms.sort_by_key(|term| term.role == Role::Always);
        let intercept = inference.intercept.as_ref().map(|reported| {
            let (estimate, std_error) = (original.intercept, std_error(0));
            let reach = std_error.filter(|_| reported.interval.is_some());
            InterceptEstimate {
                estimate,
                std_error,
                interval: reach.map(|error| Interval {
                    low: estimate - REACH * error,
                    high: estimate + REACH * error,
                }),
                level: LEVEL,
            }
        });
        let mut report = Self {
            method: inference.method,
            sought: inference.sought,
            kept: inference.kept,
            false_share: inference.false_share,
            level: LEVEL,
            records: inference.records,
            inference: inference.inference,
            estimated_by: inference.estimated_by,
            clip_factor: inference.clip_factor,
            moment_noise: inference.moment_noise,
            residual_moment_noise: inference.residual_moment_noise,
            score: inference.score,
            survival: inference.survival,
            no_intervals: inference.no_intervals,
            intercept,
            terms,
            covariance,
            notes: Vec::new(),
        };
        report.notes = words::notes(&report);
        report
    }
}

/// The estimates of an inference as combinations in the units of the table.
struct Original {
    /// From bounded units to those of the column, for each term.
    factors: Vec<f64>,
    intercept: f64,
    covariance: Vec<Vec<f64>>,
}

impl Original {
    fn of(inference: &Inference, mapping: &Mapping) -> Self {
        let response = mapping.response();
        let units = inference
            .terms
            .iter()
            .map(|term| &mapping.features()[term.feature as usize]);
        let factors: Vec<f64> = units
            .clone()
            .map(|units| response.scale() / units.scale())
            .collect();
        // Each feature moves the place where all features are zero by its centre.
        let from_centres: Vec<f64> = units
            .zip(&factors)
            .map(|(units, factor)| -factor * units.center())
            .collect();
        let bounded = inference.intercept.as_ref();
        let own = bounded.map_or(0.0, |intercept| intercept.estimate);
        let moved = inference.terms.iter().zip(&from_centres);
        let intercept = response.from_unit(own)
            + moved
                .map(|(term, weight)| weight * term.estimate)
                .sum::<f64>();
        let has_intercept = bounded.is_some();
        let size = factors.len() + usize::from(has_intercept);
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(size);
        if has_intercept {
            rows.push([&[response.scale()], from_centres.as_slice()].concat());
        }
        for (place, factor) in factors.iter().enumerate() {
            let mut row = vec![0.0; size];
            row[place + usize::from(has_intercept)] = *factor;
            rows.push(row);
        }
        Self {
            covariance: changed(inference, &rows),
            factors,
            intercept,
        }
    }
}

/// The covariance of the combinations `rows` of the estimates; empty if it is not known.
fn changed(inference: &Inference, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    if inference.covariance.is_empty() {
        return Vec::new();
    }
    let entry = |left: &[f64], right: &[f64]| {
        let mut total = 0.0;
        for (one, weight) in left.iter().enumerate() {
            for (other, second) in right.iter().enumerate() {
                let known = inference.covariance_of(one, other).unwrap_or(f64::NAN);
                total += weight * second * known;
            }
        }
        total
    };
    rows.iter()
        .map(|left| rows.iter().map(|right| entry(left, right)).collect())
        .collect()
}

fn reordered(matrix: &[Vec<f64>], places: &[usize]) -> Vec<Vec<f64>> {
    let row = |place: &usize| places.iter().map(|other| matrix[*place][*other]).collect();
    places.iter().map(row).collect()
}
