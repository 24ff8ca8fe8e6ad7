//! What a fit says of its coefficients beyond their values: intervals, p-values, and what of the
//! uncertainty the privacy causes. All numbers are in bounded units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sprifed_query::Link;

use crate::selection;
use crate::setting::InferenceMethod;

/// An interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// `found`, in units that are `unit` times as large; none if an end is not finite.
    pub(crate) fn in_units(found: selection::Interval, unit: f64) -> Option<Self> {
        let (low, high) = (found.low / unit, found.high / unit);
        (low.is_finite() && high.is_finite()).then_some(Self { low, high })
    }
}

/// Why a feature is in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It was selected among the candidates and kept.
    Selected,
    /// It is in every model: its interval and p-value need no correction for a selection.
    Always,
}

/// One feature of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportedTerm {
    /// Which feature.
    pub feature: u32,
    /// Why it is reported.
    pub role: Role,
    /// The first feature of its group, if it was picked with others: they were kept together, and the p-value is that of
    /// the group as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Its coefficient in the model of the reported features, without shrinkage.
    pub estimate: f64,
    /// Its interval; absent where [`Inference::no_intervals`] says why.
    pub interval: Option<Interval>,
    /// The level of the interval.
    pub level: f64,
    /// Of a feature that the same records selected: a bound on the chance that a feature without effect takes its place
    /// and comes out this strongly. Of another: the ordinary two-sided p-value.
    pub p_value: Option<f64>,
    /// The share of the estimate's variance that the added noise causes.
    pub privacy_share: Option<f64>,
}

/// The intercept of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportedIntercept {
    /// Its estimate in the model of the reported features, without shrinkage.
    pub estimate: f64,
    /// Its interval; absent where [`Inference::no_intervals`] says why.
    pub interval: Option<Interval>,
    /// The level of the interval.
    pub level: f64,
    /// The share of the estimate's variance that the added noise causes.
    pub privacy_share: Option<f64>,
}

/// Why estimates have no intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoInterval {
    /// The noise leaves too little of the second moments of the reported features.
    IllConditioned,
    /// There are fewer records than intervals need.
    FewRecords,
    /// The features almost separate the values of the response.
    AlmostSeparated,
    /// There are fewer records than one feature needs: p-values do not hold either.
    TooFewRecords,
}

/// What is known of the step that made the estimates of a generalised linear model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScoreNoise {
    /// How the expected response follows from the linear predictor.
    pub link: Link,
    /// The private mean of the response: of zeros and ones, the share of ones.
    pub mean: f64,
    /// The share of the response's variance that the start of the step was found to explain.
    pub explained: f64,
    /// The standard deviation of the noise on an entry of the score.
    pub score_noise: f64,
    /// The same of a diagonal entry of its curvature.
    pub curvature_noise: f64,
}

/// What is known of the last step of Cox's model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurvivalNoise {
    /// The standard deviation of the noise on an entry of the score.
    pub score_noise: f64,
    /// The same of a diagonal entry of its curvature.
    pub curvature_noise: f64,
    /// By how much standard errors are enlarged, in place of the noise of the baseline hazard, which moves all
    /// coefficients together.
    pub baseline_factor: f64,
}

/// What is known of the coefficients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inference {
    /// The version of the method.
    pub method: u32,
    /// The most features that were sought, those that are in every model not counted.
    pub sought: u32,
    /// How many of them were kept; a group counts as one.
    pub kept: u32,
    /// The expected share of false ones among the kept that was allowed; absent if features were
    /// kept by their number.
    pub false_share: Option<f64>,
    /// By how much the clip of the last question was loosened: its squared norm over its size.
    pub clip_factor: f64,
    /// The standard deviation of the noise on a diagonal entry of the last question, in its units.
    pub moment_noise: f64,
    /// The standard deviation of the noise on a diagonal entry of the residual moments, in their units, if intervals and
    /// p-values allow for errors of unequal variance; absent if they assume errors of equal variance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual_moment_noise: Option<f64>,
    /// n.
    pub records: u32,
    /// By which records features were chosen, and by which their coefficients were estimated.
    #[serde(default, skip_serializing_if = "InferenceMethod::is_selective")]
    pub inference: InferenceMethod,
    /// How many of the records the estimates are made from; absent if it is all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_by: Option<u32>,
    /// What is known of the step that made the estimates, where the outcome has a link: coefficients and intercept are
    /// then those of its linear predictor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreNoise>,
    /// What is known of the step that made the estimates, where the outcome is a time: coefficients are then logarithms of
    /// hazard ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<SurvivalNoise>,
    /// Why there are no intervals, if there are none.
    pub no_intervals: Option<NoInterval>,
    /// The intercept, if the model has one.
    pub intercept: Option<ReportedIntercept>,
    /// The features that are in every model, then those that were kept.
    pub terms: Vec<ReportedTerm>,
    /// The covariance of the estimates, of the intercept first if there is one and then of the terms
    /// in their order: the upper triangle, row by row. Empty if the moments are ill-conditioned.
    pub covariance: Vec<f64>,
}

/// What is known of the coefficients, or why nothing is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Inferred {
    /// Estimates, intervals and p-values.
    Available(Inference),
    /// Nothing.
    NotAvailable {
        /// Why.
        reason: NoInference,
    },
}

/// Why there is no inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoInference {
    /// The unit of privacy is a client: a mean over its records has another spread than a record.
    ClientUnit,
    /// The procedure has none: a reference or one of the published algorithms.
    Procedure,
    /// The last question has no answer.
    NoAnswer,
    /// There are so few records that only the mean was asked.
    TooFewRecords,
}

impl Inferred {
    /// What is known, if anything is.
    #[must_use]
    pub const fn available(&self) -> Option<&Inference> {
        match self {
            Self::Available(inference) => Some(inference),
            Self::NotAvailable { .. } => None,
        }
    }
}

impl Inference {
    /// The covariance of two estimates, counted as in [`Self::covariance`]; none if it is unknown.
    #[must_use]
    pub fn covariance_of(&self, one: usize, other: usize) -> Option<f64> {
        let size = self.terms.len() + usize::from(self.intercept.is_some());
        let (row, column) = (one.min(other), one.max(other));
        if column >= size {
            return None;
        }
        let before = row * size - row * row.saturating_sub(1) / 2;
        self.covariance.get(before + column - row).copied()
    }
}

#[cfg(test)]
mod tests;
