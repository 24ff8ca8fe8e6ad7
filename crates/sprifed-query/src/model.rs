//! A sparse linear model: what has been released so far, and what a residual is measured against.

use serde::{Deserialize, Serialize};

use crate::records::Record;

/// An intercept and a few coefficients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

    /// The features of the model.
    #[must_use]
    pub fn support(&self) -> Vec<u32> {
        self.terms.iter().map(|(feature, _)| *feature).collect()
    }
}
