//! A sparse linear model: what has been released so far, and what a residual is measured against.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::question::value;
use crate::records::Record;

/// An intercept and a few coefficients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearModel {
    /// The constant term.
    pub intercept: f64,
    /// Features and their coefficients, each feature once.
    pub terms: Vec<(u32, f64)>,
}

impl LinearModel {
    /// The prediction for a record.
    #[must_use]
    pub fn predict(&self, features: &[f32]) -> f64 {
        let terms = self.terms.iter().map(|(feature, coefficient)| {
            coefficient * f64::from(features.get(*feature as usize).copied().unwrap_or(0.0))
        });
        self.intercept + terms.sum::<f64>()
    }

    /// What the model leaves unexplained of a record; zero if it is not a number.
    #[must_use]
    pub fn residual(&self, record: Record<'_>) -> f64 {
        let residual = f64::from(record.response) - self.predict(record.features);
        if residual.is_finite() { residual } else { 0.0 }
    }

    /// The prediction for a record without the intercept. What of the record is not a number counts as zero.
    pub(crate) fn slopes(&self, record: Record<'_>) -> f64 {
        let terms = self.terms.iter();
        terms
            .map(|(feature, coefficient)| coefficient * value(record, *feature))
            .sum()
    }

    /// The features of the model.
    #[must_use]
    pub fn support(&self) -> Vec<u32> {
        self.terms.iter().map(|(feature, _)| *feature).collect()
    }
}

/// A model that a question may be about: every number in it is finite, and no feature has two
/// coefficients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StatedModel", into = "LinearModel")]
pub struct ReleasedModel(LinearModel);

/// A model that no question may be about.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IllegalModel {
    /// A number is not finite.
    #[error("a model has the coefficient {found}, but only finite ones are possible")]
    NotFinite {
        /// The number.
        found: f64,
    },
    /// A feature has two coefficients.
    #[error("a model has two coefficients for feature {feature}")]
    Repeated {
        /// The feature.
        feature: u32,
    },
}

/// A model as it was written down, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedModel {
    intercept: f64,
    terms: Vec<(u32, f64)>,
}

impl TryFrom<StatedModel> for ReleasedModel {
    type Error = IllegalModel;

    fn try_from(stated: StatedModel) -> Result<Self, IllegalModel> {
        let StatedModel { intercept, terms } = stated;
        let mut numbers = terms.iter().map(|(_, value)| *value).chain([intercept]);
        if let Some(found) = numbers.find(|value| !value.is_finite()) {
            return Err(IllegalModel::NotFinite { found });
        }
        let mut seen = BTreeSet::new();
        match terms.iter().find(|(feature, _)| !seen.insert(*feature)) {
            Some((feature, _)) => Err(IllegalModel::Repeated { feature: *feature }),
            None => Ok(Self(LinearModel { intercept, terms })),
        }
    }
}

impl From<LinearModel> for ReleasedModel {
    /// The same model, if it is legal. A number that is not finite becomes zero, and of two terms
    /// of one feature the first counts: whatever a procedure computed from earlier answers, there
    /// is a question to ask.
    fn from(mut model: LinearModel) -> Self {
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        let mut seen = BTreeSet::new();
        model.intercept = finite(model.intercept);
        model.terms.retain_mut(|(feature, value)| {
            *value = finite(*value);
            seen.insert(*feature)
        });
        Self(model)
    }
}

impl From<ReleasedModel> for LinearModel {
    fn from(model: ReleasedModel) -> Self {
        model.0
    }
}

impl ReleasedModel {
    /// The model inside.
    #[must_use]
    pub const fn as_model(&self) -> &LinearModel {
        &self.0
    }

    /// What the model leaves unexplained of a record; zero if it is not a number.
    #[must_use]
    pub fn residual(&self, record: Record<'_>) -> f64 {
        self.0.residual(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(intercept: f64, terms: &[(u32, f64)]) -> LinearModel {
        LinearModel {
            intercept,
            terms: terms.to_vec(),
        }
    }

    #[test]
    fn what_is_not_a_number_is_no_part_of_a_released_model() {
        let legal = model(-0.25, &[(7, 1e300), (2, -3.0)]);
        assert_eq!(*ReleasedModel::from(legal.clone()).as_model(), legal);
        let broken = model(
            f64::NAN,
            &[(7, f64::INFINITY), (2, 1.0), (7, 5.0), (3, f64::NAN)],
        );
        let expected = model(0.0, &[(7, 0.0), (2, 1.0), (3, 0.0)]);
        assert_eq!(*ReleasedModel::from(broken).as_model(), expected);
    }

    #[test]
    fn an_illegal_model_is_not_decoded() {
        let stated = |intercept, terms: &[(u32, f64)]| {
            let terms = terms.to_vec();
            ReleasedModel::try_from(StatedModel { intercept, terms })
        };
        assert!(stated(0.5, &[(1, 1.0), (0, 2.0)]).is_ok());
        let infinite = f64::INFINITY;
        let not_finite = Err(IllegalModel::NotFinite { found: infinite });
        assert_eq!(stated(infinite, &[]), not_finite);
        assert_eq!(stated(0.0, &[(1, infinite)]), not_finite);
        assert!(stated(0.0, &[(1, f64::NAN)]).is_err());
        let repeated = Err(IllegalModel::Repeated { feature: 1 });
        assert_eq!(stated(0.0, &[(1, 1.0), (0, 2.0), (1, 1.0)]), repeated);
    }
}
